# SPDX-License-Identifier: Apache-2.0
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

    def compile(self, target, *more, model=MODEL, name="digits"):
        pte = self.path / f"{name}.pte"
        run(PROGRAM, "compile", model / f"{model.name}.pt2", "--target", target, "--calibrate", model / "calibrate.npz", "-o", pte, *more)
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

    def check_every_object_is_linked(self, core, flags, pte, *options):
        """Links the exported sources as an archive, from the objects of the emulated boards: each member resolves a symbol."""
        built = BUILD / "firmware" / core
        if not (built / "product/runtime/core/model.cpp.o").is_file():
            self.skipTest(f"{built}: no objects: the target `firmware` builds them")
        folder = self.path / "exported"
        run(PROGRAM, "export-sources", "--core", core, "--model", pte, folder)
        sources = (folder / "sources.txt").read_text().split()
        objects = self.path / "objects"
        objects.mkdir()
        flags = ["-mthumb", *flags]
        for source in sources:
            found = [path for path in (built / f"product/{source}.o", built / f"{source}.o") if path.is_file()]
            target = objects / (source.replace("/", "__") + ".o")
            if found:
                target.symlink_to(found[0])
                continue
            self.assertEqual(pathlib.Path(source).parent.name, "", f"{source}: not an object of the build")
            run("arm-none-eabi-g++", *flags, "-std=c++17", "-Os", "-fno-exceptions", "-fno-rtti", "-I.", "-Iruntime/include", "@includes.txt",
                "-c", source, "-o", target, cwd=folder)
        archive = self.path / "libexported.a"
        run("arm-none-eabi-ar", "rcs", archive, *sorted(objects.iterdir()))
        name = pte.stem
        (self.path / "main.c").write_text(f"""#include "{name}.h"
static thimble_model model;
static unsigned char memory[{name}_MEMORY_BYTES] __attribute__((aligned(16)));
const char* text;
int main(void) {{
  text = thimble_status_text(thimble_init(&model, {name}_pte, {name}_PTE_BYTES, {name}_kernels(), memory, sizeof memory));
  return thimble_run(&model) + (thimble_version() == 0);
}}
""")
        image = self.path / "linked.elf"
        run("arm-none-eabi-gcc", *flags, f"-I{folder}", f"-I{folder}/runtime/include", *options, self.path / "main.c", archive,
            "--specs=nano.specs", "--specs=nosys.specs", "-Wl,--no-gc-sections", f"-Wl,-Map={image}.map", "-Wl,-w", "-o", image)
        linked = set(re.findall(r"libexported\.a\((\S+)\.o\)", pathlib.Path(f"{image}.map").read_text()))
        self.assertEqual({source.replace("/", "__") for source in sources} - linked, set(), "sources that contribute nothing")
        self.assertGreater(len(sources), 15)

    def test_every_object_of_two_linear_layers_is_linked(self):
        pte = self.compile("cortex-m4", model=SOURCE / "models/hello_sin", name="sine")
        self.check_every_object_is_linked("cortex-m4", CORES["cortex-m4"][0], pte)

    def test_every_object_of_stock_operators_is_linked(self):
        pte = self.compile("cortex-m0plus", "--compat", "executorch")
        self.check_every_object_is_linked("cortex-m0plus", CORES["cortex-m0plus"][0], pte)

    def test_every_object_for_the_cortex_m7_is_linked(self):
        """Of the loops that exist twice, only those of the M7 are exported, for any FPU of the product."""
        self.check_every_object_is_linked("cortex-m7", ["-mcpu=cortex-m7", "-mfloat-abi=hard"], self.compile("cortex-m7"))
        folder = self.path / "exported"
        self.assertIn("kernels/dsp/conv_blocks_m7.cpp\n", (folder / "sources.txt").read_text())
        self.assertFalse((folder / "kernels/dsp/conv_blocks.cpp").exists())
        symbols = self.path / "blocks.o"
        run("arm-none-eabi-g++", "-mthumb", "-mcpu=cortex-m7", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-std=c++17", "-I.",
            "-c", "kernels/dsp/conv_blocks_m7.cpp", "-o", symbols, cwd=folder)
        self.assertIn("thimble_dsp_conv_block3", run("arm-none-eabi-nm", symbols).stdout)

    def test_every_object_of_an_npu_is_linked(self):
        pte = self.compile("corstone-300", "--npu-small")
        device = self.path / "device.c"
        device.write_text("struct thimble_ethos_u { int unused[64]; } thimble_npu;\n")
        self.check_every_object_is_linked("cortex-m55", ["-mcpu=cortex-m55", "-mfloat-abi=hard"], pte, device)

    def test_a_second_export(self):
        """Removes what an earlier export wrote and the new one does not; files of the user stay."""
        sine = self.compile("cortex-m4", model=SOURCE / "models/hello_sin", name="sine")
        digits = self.compile("cortex-m4")
        folder, fresh = self.path / "exported", self.path / "fresh"
        export = [PROGRAM, "export-sources", "--core", "cortex-m4", "--model"]
        run(*export, sine, folder)
        run(*export, digits, fresh)
        files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        (folder / "mine.txt").write_text("mine")
        changed = folder / "kernels/args/conv_scalar.cpp"
        changed.write_text(changed.read_text() + "// changed\n")
        done = run(*export, digits, folder)
        self.assertIn("files of an earlier export are not needed any more and were removed", done.stdout)
        self.assertIn("kernels/args/conv_scalar.cpp: changed after the earlier export, kept as it is\n", done.stdout)
        self.assertNotIn("mine.txt", done.stdout)
        self.assertTrue(changed.read_text().endswith("// changed\n"))
        self.assertTrue((folder / "mine.txt").is_file())
        now = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        expected = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
        self.assertEqual(now - expected, {pathlib.Path("mine.txt"), pathlib.Path("kernels/args/conv_scalar.cpp")})
        self.assertEqual(expected - now, set())
        self.assertTrue(files - expected)
        # A file that the export did not write is not overwritten.
        other = self.path / "other"
        other.mkdir()
        (other / "README").write_text("of the project")
        done = run(*export, digits, other, code=2)
        self.assertIn("README: was not written by export-sources", done.stderr)
        self.assertEqual((other / "README").read_text(), "of the project")
        # A list that names files elsewhere is refused.
        (self.path / "precious.txt").write_text("precious")
        digest = hashlib.sha256(b"precious").hexdigest()
        (folder / "thimble_files.txt").write_text(f"{digest}  ../precious.txt\n")
        done = run(*export, digits, folder, code=2)
        self.assertIn("thimble_files.txt:1: expected a digest and the path of a file in this folder", done.stderr)
        self.assertTrue((self.path / "precious.txt").is_file())
        # Nor is a file elsewhere removed that a link in the folder leads to.
        (folder / "link").symlink_to("..")
        (folder / "thimble_files.txt").write_text(f"{digest}  link/precious.txt\n")
        run(*export, digits, folder)
        self.assertTrue((self.path / "precious.txt").is_file())

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
