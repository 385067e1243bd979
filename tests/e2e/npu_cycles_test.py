# SPDX-License-Identifier: Apache-2.0
"""`compile`, `run --profile` and `diff` state the same cycles of an NPU for one program, on a part of each NPU.

usage: npu_cycles_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
MODELS = pathlib.Path(sys.argv[2]).resolve() / "models"
# The Ethos-U parts have different generations, systems and memory modes.
PARTS = ("alif-e7", "alif-e7-he", "alif-e8", "corstone-300", "corstone-320", "ethos-u65-256", "imxrt700", "nrf54lm20b")
OWN_SYSTEM = """cpu = "cortex-m55"
summary = "NPU with a slow flash"
[[engine]]
name = "ethos-u55-128"
memory_mode = "Shared_Sram"
settings = { external.read_latency = 900, external.bytes_per_cycle = 0.25 }
"""


class NpuCycles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def thimble(self, *arguments):
        done = subprocess.run([str(THIMBLE), *map(str, arguments), "--json"], capture_output=True, text=True, cwd=self.path,
                              timeout=300)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stderr}")
        return json.loads(done.stdout)

    def compile_it(self, network, part):
        folder = MODELS / network
        return self.thimble("compile", folder / f"{network}.pt2", "--target", part, "--calibrate", folder / "calibrate.npz",
                            "-o", "m.pte")

    def profiled(self, *options):
        npus = self.thimble("run", "m.pte", "--profile", *options)["npu"]
        return sum(round(npu["cycles"]) for npu in npus), [npu["system"] for npu in npus]

    def test_compile_and_profile_agree(self):
        for part in PARTS:
            for network in ("digits_cnn", "resnet8"):
                with self.subTest(part=part, network=network):
                    report = self.compile_it(network, part)
                    self.assertGreater(report["npu_cycles"], 1000)
                    self.assertEqual(report["npu_cycles"], self.profiled()[0])
                    self.assertEqual(report["npu_cycles"], self.profiled("--target", part)[0])
                    npu, = report["npus"]
                    self.assertEqual(npu["cycles"], report["npu_cycles"])
                    rows = [op["cycles"] or 0 for op in report["ops"] if op["engine"] == npu["engine"]]
                    self.assertEqual(sum(rows), report["npu_cycles"])
                    self.assertTrue(all(cycles >= 0 for cycles in rows), rows)
                    compared = self.thimble("diff", "m.pte", "m.pte", "--target", part)
                    totals = {total["name"]: total["after"] for total in compared["totals"]}
                    self.assertEqual(totals["npu_cycles"], report["npu_cycles"])
                    self.assertEqual(totals["cycles"], report["cycles"])

    def test_figures_of_the_part_need_the_part(self):
        (self.path / "own.toml").write_text(OWN_SYSTEM)
        report = self.compile_it("resnet8", "./own.toml")
        cycles, systems = self.profiled("--target", "./own.toml")
        self.assertEqual(report["npu_cycles"], cycles)
        self.assertEqual(systems, ["Ethos_U55_High_End_Embedded with the part's figures"])
        cycles, systems = self.profiled()
        self.assertLess(cycles, report["npu_cycles"])
        self.assertEqual(systems, ["Ethos_U55_High_End_Embedded, not that of the part, whose figures need --target"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
