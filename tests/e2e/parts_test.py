# SPDX-License-Identifier: Apache-2.0
"""Every part compiles a small model; `thimble targets` lists, filters and prints parts.

usage: parts_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
MODEL = SOURCE / "models" / "digits_cnn"


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_it(self, *arguments):
        return subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=300)

    def thimble(self, *arguments, code=0):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def compile_it(self, target):
        return self.run_it("compile", MODEL / "digits_cnn.pt2", "--target", target, "--calibrate",
                           MODEL / "calibrate.npz", "--json", "-o", f"{target}.pte")

    def test_every_part_compiles_a_small_model(self):
        parts = {part["name"]: part for part in json.loads(self.thimble("targets", "--json"))["targets"]}
        with ThreadPoolExecutor(2) as pool:
            done = dict(zip(parts, pool.map(self.compile_it, parts)))
        for name, result in done.items():
            with self.subTest(part=name):
                self.assertEqual(result.returncode, 0, result.stderr)
                report = json.loads(result.stdout)
                self.assertEqual(report["target"], name)
                sizes = {m["name"]: m["bytes"] for m in parts[name]["memories"] if m["bytes"]}
                used = {m["name"]: m for m in report["memories"]}
                for memory, size in sizes.items():
                    self.assertEqual(used[memory]["bytes_size"], size)
                    self.assertLessEqual(used[memory]["bytes_used"], size)

    def test_a_filter_lists_parts_and_a_name_prints_one(self):
        listed = self.thimble("targets", "nrf5").splitlines()
        self.assertEqual(listed[0].split()[:4], ["target", "cpu", "clock", "engines"])
        self.assertEqual([line.split()[0] for line in listed[1:]],
                         ["nrf52832", "nrf52840", "nrf5340", "nrf54h20", "nrf54l15", "nrf54lm20b"])
        names = [part["name"] for part in
                 json.loads(self.thimble("targets", "stm32*7*", "--json"))["targets"]]
        self.assertIn("stm32h743", names)
        self.assertNotIn("stm32f401", names)
        one = json.loads(self.thimble("targets", "nrf52840", "--json"))
        self.assertEqual((one["name"], one["cpu"], one["clock_mhz"]), ("nrf52840", "cortex-m4", 64))
        text = self.thimble("targets", "stm32u585")
        self.assertIn("  cpu     cortex-m33       160 MHz, kernels: dsp", text)
        self.assertIn("  memory  flash            2097152 B, 4 wait states, 16 B per access, "
                      "cache of 8192 B, cache of 8192 B for instructions, prefetch", text)
        self.assertIn("  supply  19.5 uA/MHz at 3.3 V: ", text)

    def test_messages_for_other_names(self):
        self.assertEqual(
            self.thimble("targets", "esp32", code=1),
            "target esp32: its core is Xtensa or RISC-V; only parts with an Arm Cortex-M "
            "are supported\n")
        self.assertEqual(
            self.thimble("targets", "stm32h734", code=2),
            "target stm32h734: not known; similar names: stm32h743, stm32h747, stm32h750; "
            "`thimble targets` lists the targets, a .toml file describes another\n")
        compiled = self.compile_it("esp32s3")
        self.assertEqual(compiled.returncode, 1)
        self.assertIn("only parts with an Arm Cortex-M are supported", compiled.stderr)

    def test_a_board_of_ones_own_from_another_folder(self):
        board = self.path / "boards" / "my-board.toml"
        board.parent.mkdir()
        board.write_text('base = "stm32h743"\nclock_mhz = 400\n[[memory]]\nname = "sram"\n'
                         'bytes = "128K"\n')
        work = self.path / "work"
        work.mkdir()
        for target in ("../boards/my-board.toml", board):
            done = subprocess.run(
                [str(THIMBLE), "compile", str(MODEL / "digits_cnn.pt2"), "--target", str(target),
                 "--calibrate", str(MODEL / "calibrate.npz"), "--json", "-o", "out.pte"],
                capture_output=True, text=True, cwd=work, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["target"], "my-board")
            self.assertEqual({m["name"]: m["bytes_size"] for m in report["memories"]},
                             {"sram": 131072, "flash": 2097152})
        self.assertEqual(json.loads(self.thimble("targets", board, "--json"))["clock_mhz"], 400)
        board.write_text('base = "stm32h743"\nclok_mhz = 400\n')
        self.assertIn(f"{board}:2: clok_mhz is not a known key; similar names: clock_mhz; known "
                      "keys are ", self.thimble("targets", board, code=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
