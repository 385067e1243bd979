# SPDX-License-Identifier: Apache-2.0
"""An engine in a folder outside the tree: it is compiled for, run on the host and on an emulated
board, and listed. Also CMake's messages about such folders.

usage: extra_target_test.py THIMBLE_WITH_ABACUS THIMBLE SOURCE_DIR CMAKE [--build]

--build also builds Thimble with -DTHIMBLE_EXTRA_TARGETS in a separate folder, and runs that.
"""

import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

EXTRA, PLAIN, SOURCE, CMAKE = [pathlib.Path(word).resolve() for word in sys.argv[1:5]]
BUILD = "--build" in sys.argv
ABACUS = SOURCE / "tests/extra_target/abacus"
MODELS = SOURCE / "models"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_it(self, *command, code=0):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              cwd=self.path)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr


sys.path.insert(0, str(SOURCE / "tests/e2e"))
from npy import write_npy  # noqa: E402


def write_input(test, report):
    """Writes x.npy, a wave for the network's only input."""
    shape = report["inputs"][0]["shape"]
    count = math.prod(shape)
    write_npy(test.path / "x.npy", "<f4", tuple(shape),
              struct.pack(f"<{count}f", *(math.sin(0.37 * i) for i in range(count))))


def compile_and_run(test, program, model, target):
    folder = MODELS / model
    report = json.loads(test.run_it(
        program, "compile", folder / f"{model}.pt2", "--target", target, "--calibrate",
        folder / "calibrate.npz", "-o", "y.pte", "--emit", "pte,ir", "--kernels", "kernels.cpp",
        "--json"))
    write_input(test, report)
    outputs = []
    for where in (["y.ir"], ["y.pte"], ["y.pte", "--on", "qemu", "--time-limit", "600"]):
        ran = json.loads(test.run_it(program, "run", *where, "--input", "x.npy", "--json"))
        outputs.append([output["sha256"] for output in ran["outputs"]])
    test.assertEqual(outputs[0], outputs[1], "evaluator and host")
    test.assertEqual(outputs[0], outputs[2], "evaluator and the emulated board")
    return report


class Abacus(Folder):
    def test_it_is_no_engine_of_the_tree(self):
        said = self.run_it(PLAIN, "targets", "abacus-board", code=2)
        self.assertIn("target abacus-board: not known", said)

    def test_it_is_listed(self):
        listing = self.run_it(EXTRA, "targets")
        for part in ("abacus ", "abacus-board ", "corstone-300 ", "nrf54lm20b "):
            self.assertIn(part, listing)
        one = json.loads(self.run_it(EXTRA, "targets", "abacus-board", "--json"))
        self.assertEqual(one["engines"], ["abacus", "cortex-m33"])
        self.assertIn("similar names: abacus", self.run_it(EXTRA, "targets", "abacos", code=2))

    def test_networks_give_the_evaluators_bytes(self):
        report = compile_and_run(self, EXTRA, "resnet8", "abacus-board")
        self.assertGreaterEqual(report["engines"]["abacus"], 3)
        self.assertTrue(any("abacus: a window of 3 x 3" in row["reason"] for row in report["fallbacks"]))
        kernels = (self.path / "kernels.cpp").read_text()
        self.assertIn('#include "engines/abacus/delegate/backend.h"', kernels)
        self.assertIn('{"AbacusModel", &abacus_npu, runtime::abacus::open', kernels)
        shown = self.run_it(EXTRA, "inspect", "y.pte", "--commands")
        self.assertIn("abacus program: ", shown)
        self.assertRegex(shown, r"  (add|conv|maximum|mul) +\S+")
        report = compile_and_run(self, EXTRA, "mobilenet_v3_tiny", "abacus")
        self.assertGreater(report["engines"]["abacus"], 5)

    def test_its_option_and_inspector(self):
        self.assertIn("--abacus-listing", self.run_it(EXTRA, "compile", "--help"))
        self.assertNotIn("abacus", self.run_it(PLAIN, "compile", "--help"))
        folder = MODELS / "resnet8"
        said = self.run_it(EXTRA, "compile", folder / "resnet8.pt2", "--target", "abacus-board", "--calibrate",
                           folder / "calibrate.npz", "-o", "y.pte", "--abacus-listing", "commands.txt")
        self.assertIn("commands of the Abacus: commands.txt", said)
        listing = (self.path / "commands.txt").read_text()
        self.assertEqual(self.run_it(EXTRA, "inspect", "y.pte", "--commands").split("\n\nabacus program")[0].count("abacus program"), 0)
        for line in listing.splitlines():
            self.assertIn(line, self.run_it(EXTRA, "inspect", "y.pte", "--commands"))
        # A program in a file of its own: 1 command of 4 elements, scratch to output 0.
        header = [0x63616241, 1, 0, 1, 1, 1, 0, 4] + [4] + [0] * 31 + [4] + [0] * 31
        command = [2, 1, 0, 1, 0, 2, 0, 4, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0xFFFFFF80, 127] + [0] * 6
        size = 4 * (len(header) + 25)
        header[2] = header[6] = size
        (self.path / "program.bin").write_bytes(struct.pack(f"<{len(header)}I25I", *header, *command[:25]))
        self.assertIn("maximum  input 0 -> output 0, 4 elements", self.run_it(EXTRA, "inspect", "program.bin"))
        self.assertIn("or Abacus program expected", self.run_it(EXTRA, "inspect", "commands.txt", code=2))

    def test_a_recipe_has_it_beside_another_engine(self):
        (self.path / "both.toml").write_text(
            'base = "nrf54lm20b"\nengines = ["abacus", "axon"]\n[[engine]]\nname = "abacus"\n')
        report = json.loads(self.run_it(
            EXTRA, "compile", MODELS / "resnet8/resnet8.pt2", "--target", "both.toml", "--calibrate",
            MODELS / "resnet8/calibrate.npz", "-o", "y.pte", "--emit", "pte,ir", "--json"))
        self.assertGreater(report["engines"]["abacus"], 0)
        self.assertGreater(report["engines"]["axon"], 0)
        write_input(self, report)
        sums = [json.loads(self.run_it(EXTRA, "run", name, "--input", "x.npy", "--json"))["outputs"][0]["sha256"]
                for name in ("y.ir", "y.pte")]
        self.assertEqual(sums[0], sums[1], "two NPUs in one file")


class Configure(Folder):
    """CMake's handling of THIMBLE_EXTRA_TARGETS, and its errors for invalid folders."""

    def configure(self, *folders, code=0, tests="OFF"):
        # CMake may break the lines of its messages anywhere.
        said = self.run_it(CMAKE, "-S", SOURCE, "-B", self.path / "build", "-G", "Ninja",
                           f"-DTHIMBLE_TESTS={tests}",
                           "-DTHIMBLE_EXTRA_TARGETS=" + ";".join(map(str, folders)), code=code)
        return " ".join(said.split())

    def folder(self, name="mine"):
        shutil.copytree(ABACUS, self.path / name)
        return self.path / name

    def test_the_lists_have_its_rows(self):
        folder = self.folder()
        self.configure(folder, tests="ON")
        tests = (self.path / "build/tests/CTestTestfile.cmake").read_text()
        self.assertIn(f'tidy.py" "{folder}"', tests)
        target = self.path / "build/src/engine/thimble_engines_registry"
        rows = (target / "npu_rows.cpp").read_text()
        for engine in ("axon", "ethos_u", "abacus"):
            self.assertIn(f"&{engine}::npus", rows)
        hostrun = self.path / "build/src/hostrun/thimble_hostrun_registry"
        self.assertIn("&abacus_devices", (hostrun / "device_rows.cpp").read_text())
        ninja = (self.path / "build/build.ninja").read_text()
        self.assertIn(str(folder / "engines/abacus/compiler/engine.cpp"), ninja)
        self.assertIn(str(folder / "engines/abacus/model/model.cpp"), ninja)

    def test_wrong_folders(self):
        self.assertIn("no engines/<name>/engine.cmake", self.configure(self.path, code=1))
        for folder in ("mine", self.path / "nowhere"):
            self.assertIn("the absolute path of a folder expected", self.configure(folder, code=1))
        folder = self.folder()
        row = folder / "engines/abacus/engine.cmake"
        row.write_text("thimble_engine(abacus NPUS compiler/nothing.h)\n")
        self.assertIn("nothing.h", self.configure(folder, code=1))
        row.write_text("thimble_engine(abacus)\n")
        self.assertIn("expected", self.configure(folder, code=1))
        row.write_text("thimble_engine(axon NPUS compiler/engine.h)\n")
        self.assertIn("an engine axon exists already", self.configure(folder, code=1))
        row.write_text("thimble_engine(abacus NPUS compiler/engine.h)\n")
        (folder / "targets/corstone-300.toml").write_text('cpu = "cortex-m4"\n')
        self.assertIn("a part corstone-300 exists already", self.configure(folder, code=1))

    def test_the_include_rules_hold_there(self):
        folder = self.folder()
        tidy = SOURCE / "tests/tidy/tidy.py"
        self.run_it("python3", tidy, folder)
        model = folder / "engines/abacus/model/model.cpp"
        model.write_text('#include "numerics/multiplier.h"\n' + model.read_text())
        done = subprocess.run(["python3", str(tidy), str(folder)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("engines/abacus/model/model.cpp:1: engines/*/model may not include numerics/multiplier.h",
                      done.stdout)

    @unittest.skipUnless(BUILD, "-DTHIMBLE_EXTRA_BUILD=ON")
    def test_a_whole_build(self):
        folder = self.folder()
        self.run_it(CMAKE, "-S", SOURCE, "-B", self.path / "build", "-G", "Ninja",
                    f"-DTHIMBLE_EXTRA_TARGETS={folder}")
        self.run_it(CMAKE, "--build", self.path / "build", "--target", "thimble", "firmware",
                    "engines_test")
        program = self.path / "build/thimble"
        compile_and_run(self, program, "resnet8", "abacus-board")
        self.run_it("env", "THIMBLE_ENGINE=abacus", self.path / "build/tests/engines_test")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
