# SPDX-License-Identifier: Apache-2.0
"""Cost of a whole application with one model: flash without the model's constants, and RAM with
stack. As in firmware/, kernels are built for speed (-O2), runtime and application for size (-Os).
The image whose flash is counted has no semihosting.

usage: application_test.py THIMBLE SOURCE_DIR FIRMWARE_DIR ARM_CXX ARM_SIZE QEMU [--bless]

With the recorded cross compiler, the sizes are those of the table in docs/runtime.md; --bless writes them.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("e2e", "examples")]
from npy import write_npy
from recorded import is_recorded_compiler

THIMBLE, SOURCE, FIRMWARE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
CXX, SIZE, QEMU = sys.argv[4:7]

CORE, FLAGS = "cortex-m4", ["-mcpu=cortex-m4", "-mfloat-abi=hard"]
BOARD, MACHINE = "mps2-an386", "mps2-an386"

# Per network: upper bounds for flash without constants and for RAM, in bytes; options of the compiler.
CHANNELS_LAST = ["--io-layout", "nhwc"]
LIMITS = {
    "resnet8": (25000, 40000, CHANNELS_LAST),
    "dscnn_kws": (25000, 18000, CHANNELS_LAST),
    "mobilenet_v1_vww": (25000, 52000, CHANNELS_LAST),
    "ad_autoencoder": (25000, 4000, []),
}

# Upper bound for the instructions of a run outside of its kernels, per operator.
OVERHEAD = {"cortex-m3": 60, "cortex-m4": 60, "cortex-m7": 60, "cortex-m55": 60, "cortex-m0plus": 80}

DATA = """
.section .rodata.model, "a"
.balign 16
.global model_start, model_end
model_start:
.incbin "{pte}"
model_end:
.section .bss.memory, "aw", %nobits
.balign 16
.global model_memory, model_memory_end
model_memory:
.space {memory}
model_memory_end:
"""


class Application(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_it(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              cwd=self.path)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout or done.stderr  # QEMU writes semihosting's console to stderr

    def compile_model(self, model, options):
        folder = SOURCE / "models" / model
        self.run_it(THIMBLE, "compile", folder / f"{model}.pt2", "--target", CORE, "--calibrate",
                    folder / "calibrate.npz", "--io", "int8", "--inputs", "arena", *options, "-o", "model.pte", "--kernels",
                    "kernels_used.cpp", "--report", "report.json")
        return json.loads((self.path / "report.json").read_text())

    def link(self, name, application, *archives):
        """Builds the objects of the application's folder and the files of FIRMWARE that it needs."""
        common = SOURCE / "firmware/common"
        app = SOURCE / "firmware/apps/application"
        sources = [app / "main.cpp", app / "startup.cpp", app / f"{application}.cpp",
                   common / "stack.cpp", *archives, "kernels_used.cpp", "data.S"]
        here = FIRMWARE / CORE
        self.run_it(CXX, *FLAGS, "-mthumb", "-std=c++17", "-Os", "-fno-exceptions", "-fno-rtti",
                    "-fno-unwind-tables", "-fno-asynchronous-unwind-tables",
                    "-fno-threadsafe-statics", "-ffunction-sections", "-fdata-sections",
                    f"-I{SOURCE}", f"-I{SOURCE / 'runtime/include'}", "-nostdlib", "-nostartfiles",
                    "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", "-Wl,-Map,map",
                    "-T", FIRMWARE / f"{BOARD}.ld", *sources, "-Wl,--start-group",
                    here / "libruntime_product.a", here / "libkernels.a", "-lm", "-lc", "-lgcc",
                    "-Wl,--end-group", "-o", name)

    def sections(self, image):
        """Returns the size in bytes of each section."""
        lines = self.run_it(SIZE, "-A", image).splitlines()[2:]
        return {line.split()[0]: int(line.split()[1]) for line in lines if line.startswith(".")}

    def measure(self, model):
        report = self.compile_model(model, LIMITS[model][2])
        self.assertTrue(report["inputs_in_arena"])
        memory = report["arena_bytes"] + report["state_bytes"]
        (self.path / "data.S").write_text(
            DATA.format(pte=self.path / "model.pte", memory=memory))
        self.link("product.elf", "product")
        self.link("measured.elf", "measured", SOURCE / "firmware/common/semihosting.cpp")
        said = self.run_it(QEMU, "-M", MACHINE, "-nographic", "-monitor", "none", "-serial", "none",
                           "-semihosting-config", "enable=on,target=native", "-kernel",
                           "measured.elf").split()
        self.assertEqual(said[:2], ["status", "0"], model)
        stack = int(said[3])
        sections = self.sections("product.elf")
        flash = sections[".text"] + sections.get(".data", 0) + sections.get(".ARM.exidx", 0)
        # All writable memory: the arena with the input in it, state, variables, stack.
        ram = sections.get(".data", 0) + sections[".bss"] + stack
        return {"flash": flash, "constants": report["weights_bytes"],
                "code": flash - (self.path / "model.pte").stat().st_size,
                "model": (self.path / "model.pte").stat().st_size,
                "arena": report["arena_bytes"], "state": report["state_bytes"], "stack": stack,
                "ram": ram}

    def check_document(self, row):
        """Compares a row with that of the document."""
        document = SOURCE / "docs/runtime.md"
        text = document.read_text()
        told = next(line for line in text.splitlines() if line.startswith(row.split(" | ")[0] + " | "))
        if "--bless" in sys.argv:
            document.write_text(text.replace(told, row))
        else:
            self.assertEqual(told, row, document)

    def test_flash_and_ram(self):
        recorded = is_recorded_compiler(SOURCE)
        for model, (flash_max, ram_max, _) in LIMITS.items():
            with self.subTest(model):
                found = self.measure(model)
                rest = found["flash"] - found["constants"]
                print(f"{model}: flash without constants {rest} (limit {flash_max}; code "
                      f"{found['code']}, the model's tables {found['model'] - found['constants']}); "
                      f"RAM {found['ram']} (limit {ram_max}; arena {found['arena']}, state "
                      f"{found['state']}, stack {found['stack']})", flush=True)
                if recorded:
                    self.check_document(f"| {model} | {rest:,} | {found['code']:,} | {found['ram']:,} |")
                self.assertLessEqual(rest, flash_max)
                self.assertLessEqual(found["ram"], ram_max)

    def test_instructions_outside_of_kernels(self):
        shapes = {"dscnn_kws": (1, 1, 49, 10), "mobilenet_v1_vww": (1, 3, 96, 96)}
        for model, shape in shapes.items():
            write_npy(self.path / "x.npy", "|i1", shape, bytes(math.prod(shape)))
            folder = SOURCE / "models" / model
            for core, limit in OVERHEAD.items():
                self.run_it(THIMBLE, "compile", folder / f"{model}.pt2", "--target", core, "--calibrate",
                            folder / "calibrate.npz", "--io", "int8", "-o", "model.pte")
                ran = json.loads(self.run_it(THIMBLE, "run", "model.pte", "--input", "x.npy", "--on",
                                             "qemu", "--profile", "--json"))
                each = ran["overhead_instructions"] / len(ran["ops"])
                print(f"{model} on {core}: {each:.1f} instructions outside of each kernel (limit {limit})",
                      flush=True)
                self.assertLess(each, limit)

    def test_the_flatbuffer_executor_is_not_linked(self):
        self.measure("ad_autoencoder")
        symbols = self.run_it(CXX.replace("g++", "nm"), "-C", "product.elf")
        for name in ("flatbuffer_executor", "open_program", "Verifier", "check_delegate_call"):
            self.assertNotIn(name, symbols)
        self.assertIn("record_executor", symbols)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
