# SPDX-License-Identifier: Apache-2.0
"""Memory options: a budget that needs row tiling, the cost of several budgets, and an arena for
several models.

usage: memory_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from npy import write_npy

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
M4 = ["--target", "cortex-m4"]


def model(name):
    return SOURCE / "models" / name / f"{name}.pt2"


def data(name):
    return SOURCE / "models" / name / "calibrate.npz"


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def thimble(self, *arguments, code=0):
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=300)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def outputs(self, pte, x):
        folder = self.path / f"out_{pathlib.Path(pte).stem}"
        self.thimble("run", pte, "--input", x, "--output", folder)
        return (folder / "output_0.npy").read_bytes()

    def test_a_budget_tiles_rows_and_changes_no_bit(self):
        name = "mobilenet_v1_vww"
        values = [(7 * i) % 255 - 127 for i in range(3 * 96 * 96)]
        x = self.path / "x.npy"
        write_npy(x, "|i1", (1, 3, 96, 96), struct.pack(f"{len(values)}b", *values))
        compile_it = ["compile", model(name), *M4, "--calibrate", data(name), "--io", "int8",
                      "--json"]
        whole = json.loads(self.thimble(*compile_it, "-o", "whole.pte"))
        self.assertEqual([n for n in whole["notes"] if n.startswith("row tiling")], [])
        budget = 30 * 1024
        self.assertGreater(whole["arena_bytes"], budget)
        small = json.loads(self.thimble(*compile_it, "-o", "small.pte", "--memory", "sram=30K"))
        self.assertLessEqual({memory["name"]: memory["bytes_used"] for memory in small["memories"]}["sram"], budget)
        tiling = [n for n in small["notes"] if n.startswith("row tiling")]
        self.assertTrue(tiling)
        self.assertIn("+0 MACs in total", tiling[-1])
        self.assertEqual(self.outputs("small.pte", x), self.outputs("whole.pte", x))
        self.assertIn("does not fit", self.thimble(
            *compile_it[:-1], "-o", "none.pte", "--memory", "sram=2K", code=1))

    def test_pareto_goes_down_in_bytes(self):
        name = "mobilenet_v2_tiny"
        out = self.thimble("compile", model(name), *M4, "--calibrate", data(name), "--pareto",
                           "-o", "x.pte")
        sizes = [int(n) for n in re.findall(r"note: (\d+) B of SRAM: .* instructions", out)]
        self.assertGreater(len(sizes), 1, out)
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_npu_report_names_the_rule_and_other_schedules(self):
        name = "digits_cnn"
        compile_it = ["compile", model(name), "--target", "ethos-u55-128", "--calibrate",
                      data(name), "--io", "int8", "-o", "x.pte"]
        choice = json.loads(self.thimble(*compile_it, "--json"))["sram_choice"]
        chosen, smallest, fastest = (choice[key] for key in ("chosen", "smallest", "fastest"))
        self.assertLess(smallest["sram_bytes"], chosen["sram_bytes"])
        self.assertLess(chosen["sram_bytes"], fastest["sram_bytes"])
        self.assertGreater(smallest["cycles"], chosen["cycles"])
        self.assertGreater(chosen["cycles"], fastest["cycles"])
        text = " ".join(self.thimble(*compile_it).split())
        ratio = fastest["cycles"] / chosen["cycles"]
        self.assertIn(f"sram of the NPU: {chosen['sram_bytes']:,} B, {choice['rule']}; smallest "
                      f"{smallest['sram_bytes']:,} B with", text)
        self.assertIn(f"fastest {fastest['sram_bytes']:,} B with {ratio:.2f} times", text)
        # A budget replaces the rule.
        limited = json.loads(self.thimble(*compile_it, "--json", "--memory", "sram=64K"))
        self.assertIsNone(limited["sram_choice"])

    def test_sram_of_a_part_is_a_limit_and_memory_a_budget(self):
        name = "unet_small"

        def report(target, *options):
            return json.loads(self.thimble("compile", model(name), "--target", target, "--calibrate", data(name),
                                           "--io", "int8", "-o", "x.pte", "--json", "--pareto", *options))

        def npu_cycles(compiled):
            return sum(use["cycles"] for use in compiled["npus"])

        part = report("corstone-300")
        whole = report("corstone-300", "--memory", "sram=2M")
        limited = report("corstone-300", "--memory", "sram=82K")
        self.assertLess(part["arena_bytes"], 82 * 1024)
        self.assertLessEqual(npu_cycles(part), 1.02 * npu_cycles(whole))
        self.assertLessEqual(npu_cycles(part), 1.02 * npu_cycles(limited))
        self.assertEqual(part["sram_choice"]["rule"],
                         "at most 2 % slower than the fastest schedule in the SRAM of the part")
        self.assertIsNone(whole["sram_choice"])
        self.assertEqual(part["pareto"], report("ethos-u55-128")["pareto"])

    def test_default_of_a_part_is_close_to_the_fastest_schedule(self):
        def choice(target):
            return json.loads(self.thimble("compile", model("resnet8"), "--target", target, "--calibrate", data("resnet8"),
                                           "--io", "int8", "-o", "x.pte", "--json"))["sram_choice"]

        # The file of this part states no SRAM, so no size limits the schedule.
        unlimited = choice("corstone-310")
        self.assertEqual(unlimited["rule"], "at most 2 % slower than the fastest schedule")
        self.assertLessEqual(unlimited["chosen"]["cycles"], 1.02 * unlimited["fastest"]["cycles"])
        self.assertLess(unlimited["chosen"]["cycles"], 0.9 * choice("ethos-u55-256")["chosen"]["cycles"])
        dedicated = choice("corstone-320")
        self.assertIn("in the SRAM of the part, or 5 % slower if that saves", dedicated["rule"])
        self.assertLessEqual(dedicated["chosen"]["cycles"], 1.02 * dedicated["fastest"]["cycles"])
        self.assertLess(dedicated["smallest"]["sram_bytes"], 64)

    def test_u85_reads_no_scalar_from_memory(self):
        name = "dscnn_kws"
        counts = {}
        for target in ("ethos-u65-256", "ethos-u85-256"):
            self.thimble("compile", model(name), "--target", target, "--calibrate", data(name), "--io", "int8", "-o", "x.pte")
            stream = self.thimble("inspect", "--commands", "x.pte")
            counts[target] = len(re.findall(r"OP_SCALAR (?:1515870810|536870912)\b", stream))
        # The softmax adds one constant, and subtracts from another in each of three steps.
        self.assertEqual(counts, {"ethos-u65-256": 0, "ethos-u85-256": 4})

    def test_models_share_an_arena(self):
        names = ["digits_cnn", "gru_classifier"]
        models = [model(name) for name in names]
        both = ["compile", *models, *M4, "--calibrate", *[data(name) for name in names]]
        out = self.thimble(*both, "--share-arena", "--out-dir", "shared")
        line = re.search(r"one arena of (\d+) B, used by one model at a time \(separate arenas: (\d+) B in total\)", out)
        self.assertTrue(line, out)
        self.assertLess(int(line[1]), int(line[2]))
        x = self.path / "x.npy"
        write_npy(x, "<f4", (1, 1, 8, 8), struct.pack("<64f", *[i / 32 - 1 for i in range(64)]))
        self.thimble("compile", models[0], *M4, "--calibrate", data(names[0]), "-o", "alone.pte")
        self.assertEqual(self.outputs("shared/digits_cnn.pte", x), self.outputs("alone.pte", x))
        apart = self.thimble(*both, "--share-arena", "--concurrent", "--out-dir", "apart")
        for option in ("--report", "--kernels", "--kernels-dir"):
            self.assertIn("which are of one model", self.thimble(*both, "--share-arena", option, "both", code=2))
        # All files or none: a folder is in the way of the second one.
        (self.path / "blocked" / f"{names[1]}.pte").mkdir(parents=True)
        self.assertIn("is a folder", self.thimble(*both, "--share-arena", "--out-dir", "blocked", code=2))
        self.assertEqual([path.name for path in (self.path / "blocked").iterdir()], [f"{names[1]}.pte"])
        self.assertIn(f"concurrent: {line[2]} B in total", apart)
        self.assertIn("require --share-arena", self.thimble(*both, code=2))
        total = int(re.search(r"with variables and stack (\d+) B", out)[1])
        self.assertGreater(total, int(line[1]))
        less = str(total - 1)
        self.assertRegex(self.thimble(
            *both, "--share-arena", "--memory", f"sram={less}", "--out-dir", "less", code=1),
            rf"sram needs {total:,} B for all models, .*, {total - 1:,} B allowed: 1 B too large")
        # The flash holds both programs and their code, of which the shared part counts once.
        alone = [int(n.replace(",", "")) for n in re.findall(r"flash +([\d,]+) B", out)]
        self.assertEqual(len(alone), 2, out)
        needed = re.search(r"flash needs ([\d,]+) B for all models, ([\d,]+) B of them for code", self.thimble(
            *both, "--share-arena", "--memory", "flash=45K", "--out-dir", "less", code=1))
        flash, code = (int(word.replace(",", "")) for word in needed.groups())
        files = sum((self.path / "shared" / f"{name}.pte").stat().st_size for name in names)
        self.assertEqual(flash, files + code)
        self.assertLess(flash, sum(alone))
        self.thimble(*both, "--share-arena", "--memory", f"flash={flash}", "--out-dir", "exact")
        self.thimble(*both, "--share-arena", "--memory", f"flash={flash - 1}", "--out-dir", "less", code=1)
        self.assertFalse(list((self.path / "less").glob("*")))
        again = self.path / "other" / f"{names[0]}.pt2"
        again.parent.mkdir()
        shutil.copy(models[1], again)
        self.assertIn("two models have the same output file", self.thimble(
            "compile", models[0], again, *both[3:], "--share-arena", code=2))
        self.assertIn("several models expected", self.thimble(
            "compile", models[0], *M4, "--calibrate", data(names[0]), "--share-arena", code=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
