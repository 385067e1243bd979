# SPDX-License-Identifier: Apache-2.0
"""A part is one file: compiling, running and listing for an invented part, the decisions of its
recipe, and command-line options that override it.

usage: recipe_test.py THIMBLE SOURCE_DIR [unittest options]
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
DIGITS = SOURCE / "models/digits_cnn"

BOARD = """
summary = "a board that nobody makes"
source = "made up"
base = "corstone-300"

[[memory]]
name = "sram"
bytes = 300000
"""


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        values = [(7 * i) % 17 / 8 - 1 for i in range(64)]
        write_npy(self.path / "x.npy", "<f4", (1, 1, 8, 8), struct.pack("<64f", *values))

    def thimble(self, *arguments, code=0):
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def board(self, more="", name="made_up.toml"):
        (self.path / name).write_text(BOARD + more)
        return name

    def compile(self, target, *more):
        return json.loads(self.thimble("compile", DIGITS / "digits_cnn.pt2", "--target", target,
                                       "--calibrate", DIGITS / "calibrate.npz", "-o", "y.pte",
                                       "--emit", "pte,ir", "--json", *more))

    @staticmethod
    def engines(report):
        """Returns, by node, the engine of its calls, without conversions between float and integer."""
        engines = {}
        for row in report["source_ops"]:
            calls = [report["ops"][call] for call in row["calls"]]
            own = [op["engine"] for op in calls if "quantize" not in op["op"]]
            engines[row["node"]] = own[0] if own else ""
        return engines

    @staticmethod
    def reasons(report):
        return {row["op"]: row["reason"] for row in report["fallbacks"]}

    def outputs(self, *where, model="y.pte"):
        ran = self.thimble("run", model, "--input", "x.npy", "--json", *where)
        return [out["sha256"] for out in json.loads(ran)["outputs"]]


class Recipe(Cli):
    def test_one_file_is_a_part(self):
        board = self.board()
        report = self.compile(board)
        self.assertEqual(report["target"], "made_up")
        self.assertGreater(report["engines"]["ethos-u55-128"], 5)
        self.assertEqual({m["name"]: m["bytes_size"] for m in report["memories"]}["sram"], 300000)
        self.assertEqual(self.outputs(), self.outputs(model="y.ir"))
        self.assertEqual(self.outputs(), self.outputs("--on", "qemu"))
        listing = self.thimble("targets", board)
        for word in ("made_up", "nobody makes", "ethos-u55-128", "cortex-m55", "300000"):
            self.assertIn(word, listing)
        listed = json.loads(self.thimble("targets", board, "--json"))
        self.assertEqual(listed["memories"], [{"name": "sram", "bytes": 300000}])
        (self.path / "small.toml").write_text('base = "made_up.toml"\n[[memory]]\nname = "sram"\nbytes = 1000\n')
        self.assertIn("1,000 B allowed", self.thimble(
            "compile", DIGITS / "digits_cnn.pt2", "--target", "small.toml", "--calibrate",
            DIGITS / "calibrate.npz", code=1))

    def test_the_recipe_decides_where_nobody_says_otherwise(self):
        plain = self.compile(self.board())
        wide = self.board('[quantization]\nactivations = "int16"\nobserver = "min-max"\n', "wide.toml")
        self.assertEqual(self.compile(wide)["ops"][0]["op"], "thimble::quantize.i16")
        again = self.compile(wide, "--activations", "int8", "--observer", "extrapolate")
        self.assertEqual(again["ops"], plain["ops"])
        self.assertEqual(again["sqnr_db"], plain["sqnr_db"])
        stock = self.board('', "stock.toml")
        (self.path / stock).write_text('kernels = "executorch"\nengines = []\n' + BOARD)
        self.assertIn("cortex_m::quantized_conv2d.out", [row["op"] for row in self.compile(stock)["ops"]])
        own = [row["op"] for row in self.compile(stock, "--compat", "none")["ops"]]
        self.assertTrue(any(op.startswith("thimble::conv2d") for op in own), own)

    def test_the_recipe_keeps_operators_off(self):
        off = self.board('[partition]\nengine_off = ["conv2d_1", "softmax"]\n', "off.toml")
        report = self.compile(off)
        self.assertEqual(self.engines(report)["conv2d_1"], "cortex-m55")
        self.assertEqual(self.reasons(report)["conv2d_1"], "engine_off conv2d_1 of off")
        self.assertEqual(self.engines(report)["conv2d_2"], "ethos-u55-128")
        other = self.engines(self.compile(off, "--engine-off", "linear"))
        self.assertEqual((other["conv2d_1"], other["linear"]), ("ethos-u55-128", "cortex-m55"))

    def test_the_recipe_says_what_is_too_small(self):
        off = '[partition]\nengine_off = ["conv2d_2"]\nminimum_steps = 100000\n'
        report = self.compile(self.board(off, "least.toml"))
        self.assertEqual(self.engines(report)["conv2d_1"], "ethos-u55-128")
        self.assertIn("the part's recipe requires 100000", self.reasons(report)["linear"])
        kept = self.engines(self.compile("least.toml", "--npu-small"))
        self.assertEqual(kept["linear"], "ethos-u55-128")
        small = self.board(off + "keep_small = true\n", "kept.toml")
        self.assertEqual(self.engines(self.compile(small))["linear"], "ethos-u55-128")
        none = self.engines(self.compile(small, "--no-npu-small"))
        self.assertEqual(none["linear"], "cortex-m55")

    def test_mistakes_are_located(self):
        wrong = self.board('[quantization]\nobserver = "mes"\n', "wrong.toml")
        said = self.thimble("targets", wrong, code=2)
        self.assertIn("wrong.toml:10: quantization: observer mes: not known; similar names: mse", said)
        (self.path / "lost.toml").write_text('base = "corstone300"\n')
        said = self.thimble("targets", "lost.toml", code=2)
        self.assertIn("lost.toml:1: target corstone300: not known; similar names: corstone-300", said)


class EngineOff(Cli):
    def rows(self, *patterns):
        report = self.compile("corstone-300", "--engine-off", *patterns)
        return report, self.engines(report)

    def test_by_everything_that_names_an_operator(self):
        convs = {"conv2d", "conv2d_1", "conv2d_2"}
        for pattern, off in (("aten.conv2d.default", convs), ("conv2d", convs), ("conv2d_1", {"conv2d_1"}),
                             ("conv3", {"conv2d_2"}), ("export.py:30", {"conv2d_2", "max_pool2d_1"}),
                             ("max_*", {"max_pool2d", "max_pool2d_1"})):
            report, engines = self.rows(pattern)
            on_cpu = {name for name, engine in engines.items() if engine == "cortex-m55"}
            self.assertLessEqual(off, on_cpu, pattern)
            for name in off:
                self.assertEqual(self.reasons(report)[name], f"--engine-off {pattern}")
            self.assertEqual(on_cpu & convs, off & convs, pattern)
        _, engines = self.rows("*")
        self.assertEqual(set(engines.values()) - {""}, {"cortex-m55"})
        _, engines = self.rows("linear", "conv1")
        self.assertEqual((engines["linear"], engines["conv2d"]), ("cortex-m55", "cortex-m55"))
        self.assertEqual(engines["conv2d_1"], "ethos-u55-128")
        self.assertEqual(self.outputs(), self.outputs(model="y.ir"))

    def test_what_matches_nothing_is_an_error(self):
        compile_ = ["compile", DIGITS / "digits_cnn.pt2", "--target", "corstone-300", "--calibrate",
                    DIGITS / "calibrate.npz"]
        said = self.thimble(*compile_, "--engine-off", "linear", "conv2x", code=2)
        self.assertIn("--engine-off conv2x: ", said)
        self.assertIn("similar names: conv2", said)
        self.assertIn("similar names: export.py:29, export.py:30, export.py:31",
                      self.thimble(*compile_, "--engine-off", "export.py:99", code=2))

    def test_what_is_within_another_goes_with_it(self):
        report, engines = self.rows("relu_1")
        self.assertEqual(engines["conv2d_1"], "ethos-u55-128")
        self.assertIn("--engine-off relu_1: no effect: relu_1 has no kernel call: "
                      "in the bounds of conv2d_1", report["notes"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
