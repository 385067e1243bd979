# SPDX-License-Identifier: Apache-2.0
"""The modes of `thimble compile --optimize`, on parts without an NPU.

usage: optimize_test.py THIMBLE SOURCE_DIR [unittest options]

In each mode and on each kind of core, the evaluator, the host and one board give the same bytes, and all modes give the same
bytes. With `flash`, neither constants nor file are larger than with `speed`; with `size`, the arena is not larger.
docs/memory.md states how much slower each may be. `speed` gives the same file as no option, byte for byte.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from npy import write_npy

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
NETWORKS = {"digits_cnn": (1, 1, 8, 8), "mobilenet_v2_tiny": (1, 3, 96, 96), "resnet8": (1, 3, 32, 32)}
CORES = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55")
MODES = ("speed", "flash", "size")
# Upper bounds of docs/memory.md for the estimated instructions, relative to `speed`.
SLOWEST = {"speed": 1, "flash": 2, "size": 1.1}


class Optimize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def thimble(self, *arguments, code=0):
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=600)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def compile(self, name, core, *more, output="x.pte", io="int8"):
        folder = SOURCE / "models" / name
        return json.loads(self.thimble("compile", folder / f"{name}.pt2", "--target", core, "--calibrate",
                                       folder / "calibrate.npz", "--io", io, "-o", output, "--json", *more))

    def outputs(self, pte, x, place):
        ran = json.loads(self.thimble("run", pte, "--input", x, "--on", place, "--json"))
        return [out["sha256"] for out in ran["outputs"]]

    def codes(self, shape):
        count = shape[0] * shape[1] * shape[2] * shape[3]
        values = [(7 * i + i // 31) % 255 - 127 for i in range(count)]
        write_npy(self.path / "x.npy", "|i1", shape, struct.pack(f"{count}b", *values))
        return self.path / "x.npy"

    def check(self, name, core):
        x = self.codes(NETWORKS[name])
        reports, answers = {}, set()
        for mode in MODES:
            reports[mode] = self.compile(name, core, "--optimize", mode, output=f"{mode}.pte")
            self.assertEqual(reports[mode]["optimize"], mode)
            for place in ("eval", "host"):
                answers.add(tuple(self.outputs(f"{mode}.pte", x, place)))
        self.assertEqual(len(answers), 1, answers)
        self.compile(name, core, output="usual.pte")
        self.assertEqual((self.path / "usual.pte").read_bytes(), (self.path / "speed.pte").read_bytes())
        speed, flash, size = (reports[mode] for mode in MODES)
        for what in ("weights_bytes", "pte_bytes"):
            self.assertLessEqual(flash[what], speed[what], what)
        self.assertLessEqual(size["arena_bytes"] + size["state_bytes"],
                             speed["arena_bytes"] + speed["state_bytes"])
        self.assertEqual(sum(op["macs"] for op in size["ops"]), sum(op["macs"] for op in speed["ops"]))
        estimates = {mode: sum(op["instructions"] or 0 for op in reports[mode]["ops"]) for mode in MODES}
        for mode, times in SLOWEST.items():
            self.assertLessEqual(estimates[mode], times * estimates["speed"], mode)
        return reports, answers.pop(), x

    def test_modes_keep_their_promises(self):
        for name in NETWORKS:
            for core in CORES:
                with self.subTest(network=name, core=core):
                    self.check(name, core)

    def test_depthwise_weights_of_dsp_cores_take_a_byte_for_flash(self):
        reports, answer, x = self.check("mobilenet_v2_tiny", "cortex-m4")
        calls = {mode: [op["op"] for op in reports[mode]["ops"]] for mode in MODES}
        self.assertIn("thimble::depthwise_conv2d.dsp", calls["speed"])
        self.assertNotIn("thimble::depthwise_conv2d.dsp", calls["flash"])
        self.assertIn("thimble::depthwise_conv2d.scalar", calls["flash"])
        self.assertEqual(self.outputs("flash.pte", x, "qemu"), list(answer))

    def test_flash_removes_tables_and_size_tiles_rows(self):
        reports, answer, x = self.check("resnet8", "cortex-m4")
        speed, flash, size = (reports[mode] for mode in MODES)
        self.assertLess(flash["pte_bytes"], speed["pte_bytes"] - 3 * 2000)
        self.assertLess(size["arena_bytes"], 0.7 * speed["arena_bytes"])
        self.assertTrue([note for note in size["notes"] if note.startswith("row tiling: ")], size["notes"])
        self.assertTrue([note for note in size["notes"] if note.startswith("size: ")], size["notes"])
        self.assertEqual(speed["notes"], [])
        for mode in ("flash", "size"):
            self.assertEqual(self.outputs(f"{mode}.pte", x, "qemu"), list(answer), mode)

    def test_an_npu_takes_less_sram_for_size_and_the_same_file_for_flash(self):
        reports = {mode: self.compile("resnet8", "corstone-300", "--optimize", mode, output=f"{mode}.pte")
                   for mode in MODES}
        used = {mode: {memory["name"]: memory["bytes_used"] for memory in report["memories"]}
                for mode, report in reports.items()}
        self.assertLess(used["size"]["sram"], used["speed"]["sram"])
        self.assertLessEqual(used["flash"]["flash"], used["speed"]["flash"])
        self.assertEqual(reports["flash"]["npu_cycles"], reports["speed"]["npu_cycles"])
        self.assertGreater(reports["size"]["npu_cycles"], reports["speed"]["npu_cycles"])

    def test_the_summary_names_the_mode(self):
        folder = SOURCE / "models/digits_cnn"
        for mode in MODES:
            said = self.thimble("compile", folder / "digits_cnn.pt2", "--target", "cortex-m4", "--calibrate",
                                folder / "calibrate.npz", "-o", "x.pte", "--optimize", mode, "--report", "x.html")
            page = (self.path / "x.html").read_text()
            for text in (said, page):
                self.assertEqual(f"optimized      for {mode}" in text, mode != "speed", text)

    def test_other_words_are_refused(self):
        folder = SOURCE / "models/digits_cnn"
        said = self.thimble("compile", folder / "digits_cnn.pt2", "--target", "cortex-m4", "--calibrate",
                            folder / "calibrate.npz", "-o", "x.pte", "--optimize", "power", code=2)
        for mode in MODES:
            self.assertIn(mode, said)
        self.assertFalse((self.path / "x.pte").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
