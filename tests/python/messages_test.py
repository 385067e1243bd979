# SPDX-License-Identifier: Apache-2.0
"""Messages in Python name keyword arguments, not options of the command line.

usage: messages_test.py SOURCE_FOLDER [-v] [TEST]
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
import thimble_ml as thimble
from thimble_ml import _thimble

SOURCE = pathlib.Path(sys.argv[1])
MODELS = SOURCE / "models"
EXPORT, SAMPLES = MODELS / "digits_cnn" / "digits_cnn.pt2", MODELS / "digits_cnn" / "calibrate.npz"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

#: A message, and what Python shows.
CASES = [
    ("a.pt2: a float model needs calibration data: --calibrate DATA.npz",
     "a.pt2: a float model needs calibration data: calibration=..."),
    ("with --optimize size: sram 34,000 B", 'with optimize="size": sram 34,000 B'),
    ("  would fit      with --optimize size     sram 34,000 B of 36,864 B",
     '  would fit      with optimize="size"     sram 34,000 B of 36,864 B'),
    ("with --emit c --optimize flash", 'with emit="c", optimize="flash"'),
    ("--memory sram=384K: target x", 'memory={"sram": "384K"}: target x'),
    ("--memory dtcm: target x has the memories sram, flash", 'memory="dtcm": target x has the memories sram, flash'),
    ("the size s0 is not fixed: give --shape batch=N", 'the size s0 is not fixed: give shape={"batch": ...}'),
    ("--shape: all sizes are fixed", "shape: all sizes are fixed"),
    ("--shape gives batch the sizes 1 and 2", "shape gives batch the sizes 1 and 2"),
    ("--accuracy needs calibration data", "accuracy needs calibration data"),
    ("--accuracy top1>=0.9: int8 reaches 0.8", 'accuracy="top1>=0.9": int8 reaches 0.8'),
    ("--fail-if 'sqnr<5dB': SQNR 3.0 dB", 'fail_if="sqnr<5dB": SQNR 3.0 dB'),
    ("--engine-off '*'", 'engine_off="*"'),
    ("--engine-off=features.0", 'engine_off="features.0"'),
    ("--tune and --equalize are not supported", "tune=True and equalize=True are not supported"),
    ("use --no-tune", "use tune=False"),
    ("compile with --names", "compile with names=True"),
    ("use `thimble compare --per-layer`", "use `compare(per_layer=True)`"),
    ("compile --io int8 --names gives it", 'compile(io="int8", names=True) gives it'),
    ("--data and --model: both are needed", "data and model: both are needed"),
    ("2 --input given, expected 1: x", "2 inputs given, expected 1: x"),
    ("--profile: not supported by the evaluator: use --on qemu, or --on host for an NPU",
     'profile(): not supported by the evaluator: use on="qemu", or on="host" for an NPU'),
    ("--axon-sdk needs --axon program or --axon header",
     'axon_sdk needs axon="program" or axon="header"'),
    ("(or --neutron-sdk DIR)", "(or neutron_sdk=...)"),
    ("use --target cortex-m4, or the .pte", 'use target="cortex-m4", or the .pte'),
    ("--target PART adds them", "target=... adds them"),
    ("--time-limit 60: reached", "time_limit=60: reached"),
    ("--io: found int4, expected one of int8, float", "io: found int4, expected one of int8, float"),
    ("`thimble targets` lists the targets", "`thimble.targets()` lists the targets"),
    ("`thimble targets --ops` lists them", "`thimble targets --ops` lists them"),
    ("a--io int8 b -- c --nothing d", "a--io int8 b -- c --nothing d"),
    ("--calibrate", "calibration"),
    ("", ""),
]

#: Options in texts of the sources that are no options of compile, fit, compare, run and diff.
OTHERS = {
    "--gc-sections",  # of a linker
    "--dump-kernel-selection-code", "--fetch-constants-to-sram",  # of NXP's converter
    # of other verbs
    "--arithmetic", "--baud", "--commands", "--core", "--core-aten", "--help", "--layout", "--list", "--ops", "--pass", "--probe", "--skip", "--version",
}


class Rendering(unittest.TestCase):
    def test_cases(self):
        for text, expected in CASES:
            with self.subTest(text):
                self.assertEqual(_thimble.with_keywords(text), expected)

    def test_every_option_in_a_text_of_the_sources_exists(self):
        """An option that is misspelt or removed would reach Python, and users of the program, as it is."""
        known = set(OTHERS)
        for verb in ("compile", "fit", "compare", "run", "diff"):
            for name, _, negative, _, _ in _thimble.options(verb, True):
                known |= {f"--{each.replace('_', '-')}" for each in (name, negative) if each}
        found = set()
        for folder in ("src", "engines", "tools"):
            for path in sorted((SOURCE / folder).rglob("*.cpp")):
                for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()):
                    found |= {(option, path.name) for option in OPTION.findall(literal)}
        self.assertGreater(len({option for option, _ in found}), 40)
        self.assertEqual({each for each in found if each[0] not in known}, set())


class Messages(unittest.TestCase):
    def check(self, kind, call, *expected):
        """The call raises `kind`; its texts have `expected` and no option of the command line."""
        with self.assertRaises(kind) as caught:
            call()
        error = caught.exception
        texts = [str(error), *getattr(error, "suggestions", []), *(op.reason for op in getattr(error, "ops", []))]
        for text in texts:
            self.assertIsNone(OPTION.search(text), text)
        for each in expected:
            self.assertIn(each, str(error))
        return error

    def compile(self, model=EXPORT, target="cortex-m4", **options):
        return lambda: thimble.compile(model, target=target, **{"calibration": SAMPLES, **options})

    def test_bad_input(self):
        self.check(thimble.BadInput, self.compile(calibration=None), "calibration=...")
        self.check(thimble.BadInput, self.compile(accuracy="best"), 'accuracy="best"')
        self.check(thimble.BadInput, self.compile(accuracy="sqnr>=1", activations="int16"), 'activations="int16"')
        self.check(thimble.BadInput, self.compile(memory={"tcm": "1K"}), "tcm")
        self.check(thimble.BadInput, self.compile(quant="conv2d"), "quant")
        self.check(thimble.BadInput, self.compile(shape={"batch": 2}), 'shape={"batch": 2}')
        self.check(thimble.BadInput, self.compile(c_layout="arduino"), 'emit="c"')
        self.check(thimble.BadInput, self.compile(io="int4"), "io: ")
        self.check(thimble.BadInput, self.compile(fail_if="sqnr"), "fail_if")
        compiled = self.compile()()
        self.check(thimble.BadInput, lambda: compiled.compare(SAMPLES, per_layer=True), "names=True")
        self.check(thimble.BadInput, lambda: compiled.profile(on="eval"), 'on="qemu"')
        self.check(thimble.BadInput, lambda: thimble.diff(compiled, compiled, data=str(SAMPLES)), "model")
        self.check(thimble.BadInput, lambda: thimble.fit([EXPORT], calibration=[SAMPLES, SAMPLES]), "calibration")

    def test_refusals(self):
        folder = MODELS / "resnet8"
        texts = []
        for size in ("16K", "32K", "40K"):
            options = {"calibration": folder / "calibrate.npz", "memory": {"sram": size}, "tune": False}
            try:
                thimble.compile(folder / "resnet8.pt2", target="cortex-m4", **options)
            except thimble.DoesNotFit:
                texts += self.check(thimble.DoesNotFit, self.compile(folder / "resnet8.pt2", **options)).suggestions
        self.assertTrue(texts)
        self.check(thimble.Unsupported, self.compile(target="corstone-300")().to_c, 'emit="c"')

    def test_the_program_names_options(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(thimble.__file__).parent / "bin" / "thimble"
            if not program.exists():
                program = SOURCE / "build" / "thimble"
            if not program.exists():
                self.skipTest("no program")
            done = subprocess.run([program, "compile", EXPORT, "--target", "cortex-m4", "-o", f"{folder}/a.pte"],
                                  capture_output=True, text=True)
        self.assertIn("--calibrate DATA.npz", done.stderr)

    def test_texts_of_results(self):
        x = numpy.load(SAMPLES)["x"]
        compiled = thimble.compile(EXPORT, target="corstone-300", calibration=x, engine_off=["aten.conv2d.default"])
        reasons = {op.reason for op in compiled.ops if op.reason}
        self.assertTrue(any("engine_off" in reason for reason in reasons), reasons)
        rows = thimble.fit(EXPORT, calibration=SAMPLES, part="*", require="latency<1us")
        comparison = compiled.compare(SAMPLES, fail_if="sqnr<1000dB")
        self.assertTrue(comparison.violations)
        for text in (*reasons, *compiled.warnings, *comparison.violations, *comparison.warnings, *rows.warnings,
                     *(row.reason for row in rows)):
            self.assertIsNone(OPTION.search(text), text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
