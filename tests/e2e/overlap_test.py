# SPDX-License-Identifier: Apache-2.0
"""Calls of the core that run while an Ethos-U works: results, plan, report and profile.

usage: overlap_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
DATA = SOURCE / "tests" / "data" / "overlap"
# The second branch and both means run on the core.
CORE = ("--engine-off", "side", "--engine-off", "mean")


class Overlap(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def thimble(self, *arguments):
        done = subprocess.run([str(THIMBLE), *map(str, arguments), "--json"], capture_output=True, text=True, cwd=self.path,
                              timeout=300)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stderr}")
        return json.loads(done.stdout)

    def compile_it(self, *options, target="corstone-300", output="m.pte"):
        return self.thimble("compile", DATA / "two_inputs.pt2", "--target", target, "--calibrate",
                            DATA / "two_inputs.npz", "--names", "-o", output, *options)

    def outputs(self, file, place):
        ran = self.thimble("run", file, "--input", DATA / "two_inputs.npz", "--on", place)
        return [output["sha256"] for output in ran["outputs"]]

    def test_results_are_those_of_the_evaluator(self):
        for target, places in (("corstone-300", ("host", "qemu")), ("ethos-u65-256", ("host",)), ("ethos-u85-256", ("host",))):
            with self.subTest(target=target):
                report = self.compile_it(*CORE, "--emit", "pte,ir", target=target)
                self.assertEqual(len(report["overlaps"]), 1)
                expected = self.outputs("m.ir", "eval")
                for place in places:
                    self.assertEqual(self.outputs("m.pte", place), expected, place)

    def test_report_and_profile_state_the_time_saved(self):
        report = self.compile_it(*CORE, "--kernels", "kernels.cpp", target="alif-e7")
        overlap, = report["overlaps"]
        self.assertEqual(overlap["engine"], "ethos-u55-256")
        self.assertEqual(overlap["npu_cycles"], report["npu_cycles"])
        npu, = report["npus"]
        core_us = overlap["core_cycles"] / report["clock_mhz"]
        self.assertAlmostEqual(overlap["saved_us"], min(core_us, npu["time_us"]))
        self.assertAlmostEqual(report["time_us"], report["cycles"] / report["clock_mhz"] + npu["time_us"] - overlap["saved_us"])
        self.assertIn("runtime::ethos_u::background", (self.path / "kernels.cpp").read_text())
        profile = self.thimble("run", "m.pte", "--input", DATA / "two_inputs.npz", "--on", "qemu", "--profile", "--target", "alif-e7")
        ran, = profile["overlaps"]
        self.assertEqual((ran["npu_cycles"], ran["ops"]), (overlap["npu_cycles"], overlap["calls"]))
        ops = profile["ops"]
        self.assertEqual(ops[ran["op"]]["npu"], "ethos-u55-256")
        inside = ops[ran["op"] + 1:ran["op"] + 1 + ran["ops"]]
        calls = profile["calls"]
        self.assertEqual(ran["core_cycles"], sum(op["cycles"] // calls for op in inside))
        self.assertAlmostEqual(ran["saved_us"], min(sum(op["time_us"] for op in inside), ops[ran["op"]]["time_us"]))
        # Each count belongs to its own operator: the largest one is that of the convolution.
        most = max((op for op in ops if "instructions" in op), key=lambda op: op["instructions"])
        self.assertIn("depthwise", most["name"])
        # Core and NPU one after the other would take longer by exactly the time saved.
        alone = profile["cycles"] / calls / report["clock_mhz"] + ops[ran["op"]]["time_us"]
        self.assertAlmostEqual(profile["time_us"], alone - ran["saved_us"], delta=0.01)

    def test_smallest_arena_does_not_grow(self):
        report = self.compile_it(*CORE, "--optimize", "size")
        self.assertLessEqual(report["overlap_arena_bytes"], 0)
        report = self.compile_it(*CORE)
        self.assertGreaterEqual(report["overlaps"][0]["saved_cycles"], 1000)

    def test_network_in_one_piece_has_no_overlap(self):
        report = self.compile_it("--kernels", "kernels.cpp")
        self.assertEqual((report["overlaps"], report["overlap_arena_bytes"]), ([], 0))
        self.assertNotIn("background", (self.path / "kernels.cpp").read_text())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
