# SPDX-License-Identifier: Apache-2.0
"""A program for which `thimble compile` says that it fits is linked and runs in exactly this memory, and in that of the smallest
part of each core for which `thimble fit` says so. The refusal of a program that does not fit names a part and options that hold it.

usage: fits_test.py THIMBLE BUILD SOURCE_DIR
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

THIMBLE, BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import linked


# Emulated boards have less memory than large parts: bytes of each memory, without those of the application.
BOARD_BYTES = {core: (384 << 10) if core == "cortex-m55" else (3 << 20) for core in linked.CORES}


def number(text):
    return int(text.replace(",", ""))


class Fits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def compile(self, network, target, *options):
        model = SOURCE / "models" / network
        return subprocess.run([THIMBLE, "compile", model / f"{network}.pt2", "--target", target, "--calibrate",
                               model / "calibrate.npz", "--out-dir", self.path, *options], capture_output=True, text=True)

    def test_the_printed_memory_is_enough_and_one_byte_less_is_refused(self):
        networks = itertools.cycle(("digits_cnn", "decoder_step", "dscnn_kws"))
        for core, form in itertools.product(linked.CORES, linked.FORMS):
            network = next(networks)
            with self.subTest(f"{network} {core} {form}"):
                report, _ = linked.measured(THIMBLE, BUILD, network, core, form, self.path)
                used = {memory["name"]: memory["bytes_used"] for memory in report["memories"]}
                limits = [f"{name}={bytes_}" for name, bytes_ in used.items()]
                words = ("--emit", form)
                done = self.compile(network, core, *words, "--memory", limits[0], "--memory", limits[1])
                self.assertEqual(done.returncode, 0, done.stderr)
                linked.measured(THIMBLE, BUILD, network, core, form, self.path, exact=used)
                for name, bytes_ in used.items():
                    refused = self.compile(network, core, *words, "--memory", f"{name}={bytes_ - 1}")
                    if name == "sram" and network == "digits_cnn":  # fits with row tiling
                        self.assertEqual(refused.returncode, 0, refused.stderr)
                        self.assertIn("row tiling", refused.stdout)
                        less = number(re.search(r"sram +([\d,]+) B", refused.stdout)[1])
                        self.assertLess(less, bytes_)
                        continue
                    self.assertEqual(refused.returncode, 1, refused.stdout)
                    self.assertIn(f"{name} needs {bytes_:,} B, {bytes_ - 1:,} B allowed: 1 B too large", refused.stderr)

    def test_the_named_part_holds_the_program(self):
        refused = self.compile("resnet8", "cortex-m4", "--memory", "sram=16K")
        self.assertEqual(refused.returncode, 1)
        part, sram, flash = re.search(r"would fit +on (\S+) +sram ([\d,]+) B of [\d,]+ B, flash ([\d,]+) B of",
                                      refused.stderr).groups()
        report = linked.compiled(THIMBLE, "resnet8", part, "pte", self.path)
        memories = {memory["name"]: memory for memory in report["memories"]}
        self.assertEqual(memories["sram"]["bytes_used"], number(sram))
        self.assertEqual(memories["flash"]["bytes_used"], number(flash))
        exact = {name: memory["bytes_size"] for name, memory in memories.items()}
        core = re.search(r"(cortex-m\w+)$", report["code_built_with"])[1]
        linked.measured(THIMBLE, BUILD, "resnet8", core, "pte", self.path, exact=exact, target=part)

    def test_the_smallest_part_of_each_core_holds_the_program(self):
        """The compiler links for a core; the memory of the part becomes the memory of the emulated board."""
        words = [THIMBLE, "fit", SOURCE / "models/resnet8/resnet8.pt2", "--json"]
        fitted = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["models"][0]["parts"]
        listed = json.loads(subprocess.run([THIMBLE, "targets", "--json"], check=True, capture_output=True, text=True).stdout)
        engines = {part["name"]: part["engines"] for part in listed["targets"]}
        for core in linked.CORES:
            sizes = {each["part"]: {memory["name"]: memory["bytes_size"] for memory in each["memories"]}
                     for each in fitted if each["fits"] and engines[each["part"]] == [core]}
            sizes = {part: memories for part, memories in sizes.items() if set(memories) == {"sram", "flash"}}
            part = min(sizes, key=lambda each: (sum(sizes[each].values()), each))
            exact = {name: min(bytes_, BOARD_BYTES[core]) for name, bytes_ in sizes[part].items()}
            for form in linked.FORMS:
                with self.subTest(f"{part} {core} {form}"):
                    report, _ = linked.measured(THIMBLE, BUILD, "resnet8", core, form, self.path, exact=exact, target=part)
                    used = {memory["name"]: (memory["bytes_used"], memory["bytes_size"]) for memory in report["memories"]}
                    print(f"{part} {core} {form}: {used}", flush=True)
                    for name, (bytes_, size) in used.items():
                        self.assertLessEqual(bytes_, exact[name], name)
                        self.assertEqual(size, sizes[part][name], name)

    def test_suggested_options_hold_the_program(self):
        tried = 0
        for memory in ("flash=90K", "flash=100K"):
            refused = self.compile("resnet8", "cortex-m4", "--memory", memory)
            self.assertEqual(refused.returncode, 1)
            name = memory.split("=")[0]
            for options, bytes_ in re.findall(rf"would fit +with (--.*?) +{name} ([\d,]+) B of", refused.stderr):
                done = self.compile("resnet8", "cortex-m4", "--memory", memory, *options.split())
                self.assertEqual(done.returncode, 0, f"{options}: {done.stderr}")
                self.assertRegex(done.stdout, rf"{name} +{bytes_} B")
                tried += 1
        self.assertGreater(tried, 1)

    def test_a_refusal_has_one_total(self):
        refused = self.compile("dscnn_kws", "cortex-m4", "--memory", "sram=10K")
        self.assertEqual(refused.returncode, 1)
        total, = re.findall(r"sram needs ([\d,]+) B", refused.stderr)
        parts = re.search(r"sum of +arena ([\d,]+), state ([\d,]+), variables ([\d,]+), stack ([\d,]+)", refused.stderr)
        self.assertEqual(sum(map(number, parts.groups())), number(total))
        self.assertNotIn("live", refused.stderr)
        refused = self.compile("dscnn_kws", "cortex-m4", "--memory", "flash=40K")
        self.assertEqual(refused.returncode, 1)
        total, = re.findall(r"flash needs ([\d,]+) B", refused.stderr)
        parts = re.search(r"sum of +program ([\d,]+), code ([\d,]+)", refused.stderr)
        self.assertEqual(sum(map(number, parts.groups())), number(total))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
