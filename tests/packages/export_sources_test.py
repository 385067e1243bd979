"""`thimble export-sources`: the command of its README compiles the folder alone, an application linked with it prints the
host's outputs under QEMU, and every file names its licence.

usage: export_sources_test.py SOURCE_DIR BUILD_DIR [Exported.TEST...]
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
from app_test import serial_output

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PROGRAM = BUILD / "thimble"
MODEL = SOURCE / "models/digits_cnn"
APP = SOURCE / "examples/app"
# Flags, QEMU's machine, addresses of code, data and UART (examples/app/arm-none-eabi.cmake).
CORES = {"cortex-m0plus": (["-mthumb", "-mcpu=cortex-m0plus"], "mps2-an385", 0, 0x20000000, 0x40004000),
         "cortex-m4": (["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard"], "mps2-an386", 0, 0x20000000, 0x40004000)}


def run(*command, code=0, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def compile(self, target, *more):
        pte = self.path / "digits.pte"
        run(PROGRAM, "compile", MODEL / "digits_cnn.pt2", "--target", target, "--calibrate", MODEL / "calibrate.npz", "-o", pte, *more)
        return pte

    def host_hash(self, pte):
        with zipfile.ZipFile(MODEL / "golden.npz") as archive:
            data = archive.read("x.npy")[-5 * 64 * 4:][:64 * 4]
        header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }").ljust(117) + "\n"
        x = self.path / "x.npy"
        x.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)
        return json.loads(run(PROGRAM, "run", pte, "--input", x, "--json").stdout)["outputs"][0]["sha256"]

    def check(self, core):
        flags, machine, code, data, uart = CORES[core]
        pte = self.compile(core)
        folder = self.path / "exported"
        said = json.loads(run(PROGRAM, "export-sources", "--core", core, "--model", pte, folder, "--json").stdout)
        self.assertEqual(said["sources"], len(list(folder.rglob("*.cpp"))))
        for file in folder.rglob("*"):
            if file.suffix in (".cpp", ".h", ".hpp", ".def"):
                self.assertIn("SPDX-License-Identifier: Apache-2.0", file.read_text()[:2000], file)
        self.assertIn("Apache License", (folder / "LICENSE").read_text())
        command = re.search(r"^    (arm-none-eabi-g\+\+ (?:.*\\\n)+.*)$", (folder / "README").read_text(), re.M)[1]
        run("sh", "-c", command, cwd=folder)

        image = self.path / "app.elf"
        main = SOURCE / "tests/packages/consumer/main_pte.c"
        text = main.read_text().replace("digits_pte_bytes", "digits_PTE_BYTES")
        (self.path / "main.c").write_text(text)
        run("arm-none-eabi-gcc", *flags, "-Os", f"-DUART_ADDRESS={uart}", f"-I{APP}", f"-I{folder}", f"-I{folder}/runtime/include",
            self.path / "main.c", APP / "board.c", folder / "thimble.o", "-T", APP / "board.ld", f"-Wl,--defsym=CODE_ORIGIN={code}",
            f"-Wl,--defsym=DATA_ORIGIN={data}", "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-Wl,--gc-sections",
            "-Wl,--no-warn-rwx-segments", "-o", image)
        printed = serial_output(machine, image)
        self.assertTrue(printed.endswith("END ok\n"), printed)
        output = bytes.fromhex(re.search(r"^output ([0-9a-f]+)$", printed, re.M)[1])
        self.assertEqual(hashlib.sha256(output).hexdigest(), self.host_hash(pte))

    def test_cortex_m0plus(self):
        self.check("cortex-m0plus")

    def test_cortex_m4(self):
        self.check("cortex-m4")

    def test_a_file_for_another_core(self):
        pte = self.compile("cortex-m55")
        done = run(PROGRAM, "export-sources", "--core", "cortex-m4", "--model", pte, self.path / "none", code=1)
        self.assertIn("compile the model with --target cortex-m4", done.stderr)
        self.assertFalse((self.path / "none").exists())
        run(PROGRAM, "export-sources", "--core", "cortex-m99", "--model", pte, self.path / "none", code=2)
        run(PROGRAM, "export-sources", "--core", "cortex-m4", "--model", self.path / "no.pte", self.path / "none", code=2)

    def test_an_npu(self):
        """The delegate and what it shares with the compiler are exported, and no other engine's."""
        pte = self.compile("corstone-300", "--npu-small")
        folder = self.path / "exported"
        run(PROGRAM, "export-sources", "--core", "corstone-300", "--model", pte, folder)
        engines = {path.name for path in (folder / "engines").iterdir()}
        self.assertEqual(engines, {"ethos_u"})
        self.assertIn("engines/ethos_u/delegate/driver.cpp\n", (folder / "sources.txt").read_text())
        for source in ("engines/ethos_u/delegate/backend.cpp", "digits_kernels.cpp"):
            run("arm-none-eabi-g++", "-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard", "-std=c++17", "-fno-exceptions", "-fno-rtti",
                "-I.", "-Iruntime/include", "@includes.txt", "-fsyntax-only", source, cwd=folder)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
