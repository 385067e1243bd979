# SPDX-License-Identifier: Apache-2.0
"""The CMake package: twenty builds of one network, for M0+, M4, M33, M55 and this machine, in C and C++, from a `.pte` and as
C, in a folder outside of the tree with the installed package. Each prints the host's outputs. Then what the package refuses.

usage: cmake_test.py SOURCE_DIR BUILD_DIR [Builds|Others|CLASS.TEST...]

The environment variable THIMBLE_FIRMWARE is the firmware folder of a build. The applications for the cores of
THIMBLE_FIRMWARE_CORES then link its archives; the others compile runtime and kernels.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
from app_test import device_library, serial_output

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MODEL = SOURCE / "models/digits_cnn"
APP = SOURCE / "examples/app"
MACHINES = {"cortex-m0plus": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}


def run(*command, code=0, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


class Fixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        # Everything but the images of emulated boards, which this test does not need and which may not be built.
        cls.prefix = cls.path / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "device")
        (cls.prefix / "bin").mkdir()
        shutil.copy(BUILD / "thimble", cls.prefix / "bin/thimble")
        shutil.copytree(SOURCE / "targets", cls.prefix / "share/thimble/targets")
        cls.program = cls.prefix / "bin/thimble"
        cls.consumer = cls.path / "consumer"
        shutil.copytree(SOURCE / "tests/packages/consumer", cls.consumer)
        cls.app = cls.path / "app"
        shutil.copytree(APP, cls.app)
        for core in MACHINES:
            run(cls.program, "compile", MODEL / "digits_cnn.pt2", "--target", core, "--calibrate", MODEL / "calibrate.npz",
                "-o", cls.path / f"{core}.pte")
        cls.expected = cls.host_hash(cls.path / "cortex-m4.pte")

    @classmethod
    def host_hash(cls, pte):
        """Returns the hash of the outputs for the digit of examples/app: the first sample of golden.npz."""
        with zipfile.ZipFile(MODEL / "golden.npz") as archive:
            data = archive.read("x.npy")[-5 * 64 * 4:][:64 * 4]
        header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }").ljust(117) + "\n"
        x = cls.path / "x.npy"
        x.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)
        done = run(cls.program, "run", pte, "--input", x, "--json")
        return json.loads(done.stdout)["outputs"][0]["sha256"]

    def configure(self, core, build, *more, code=0):
        """Configures the consumer for a core, or for this machine if `core` is None."""
        options = [f"-DPTE={self.path}/{core or 'cortex-m4'}.pte", f"-DCORE={core or 'cortex-m4'}", f"-DAPP={self.app}",
                   f"-DMODEL={MODEL}/digits_cnn.pt2", f"-DDATA={MODEL}/calibrate.npz", f"-DCMAKE_PREFIX_PATH={self.prefix}"]
        options += self.archives(core)
        if core:
            options += ["-DBOARD=ON", f"-DCMAKE_TOOLCHAIN_FILE={self.app}/arm-none-eabi.cmake"]
        else:
            options += ["-DTHIMBLE_HOST_BUILD=ON", "-DCMAKE_BUILD_TYPE=Release"]
        return run("cmake", "-S", self.consumer, "-B", build, "-G", "Ninja", *options, *self.launchers(), *more, code=code)

    def build(self, folder):
        """The compiler cache finds the objects of an earlier run, whose folder had another name; a miss does not run the preprocessor."""
        return run("cmake", "--build", folder, CCACHE_BASEDIR=str(self.path), CCACHE_NOHASHDIR="1", CCACHE_DEPEND="1")

    def archives(self, core):
        return device_library(core) if core in os.environ.get("THIMBLE_FIRMWARE_CORES", "").split() else []

    def launchers(self):
        launcher = shutil.which("ccache")
        return [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")] if launcher else []


class Builds(Fixture):
    def hashes(self, core, build):
        found = {}
        for name in ("c_pte", "c_c", "cpp_pte", "cpp_c"):
            if core:
                printed = serial_output(MACHINES[core], build / name)
                self.assertTrue(printed.endswith("END ok\n"), f"{core} {name}: {printed}")
            else:
                printed = run(build / name).stdout
            output = re.search(r"^output ([0-9a-f]+)$", printed, re.M)
            found[name] = hashlib.sha256(bytes.fromhex(output[1])).hexdigest()
        return found

    def check(self, core):
        build = self.path / f"build-{core}"
        configured = self.configure(core, build)
        self.assertRegex(configured.stdout, r"digits\.pte: cortex-m\w+, [\d]+ B, 5 operators, arena \d+ B, runtime \d+ B")
        built = self.build(build)
        self.assertIn("proven minimal", built.stdout, "the fit is printed")
        self.assertEqual(self.hashes(core, build), dict.fromkeys(("c_pte", "c_c", "cpp_pte", "cpp_c"), self.expected))
        self.assertEqual(json.loads((build / "c_c.json").read_text())["target"], core or "cortex-m4")
        self.assertIn("no work to do", run("cmake", "--build", build).stdout)

    def test_cortex_m0plus(self):
        self.check("cortex-m0plus")

    def test_cortex_m4(self):
        self.check("cortex-m4")

    def test_cortex_m33(self):
        self.check("cortex-m33")

    def test_cortex_m55(self):
        self.check("cortex-m55")

    def test_this_machine(self):
        self.check(None)


class Others(Fixture):
    def test_an_npu(self):
        """An application for Corstone-300 links with the address of its NPU, and with an object of its own instead."""
        source = self.path / "npu"
        source.mkdir()
        main = (self.consumer / "main_pte.c").read_text()
        (source / "main.c").write_text(main)
        (source / "own.c").write_text('#include "thimble_ethos_u.h"\nconst thimble_ethos_u thimble_npu = {.base = 0x50004000};\n')
        (source / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(npu C CXX)
find_package(thimble 0.2 CONFIG REQUIRED)
foreach(name app own)
  add_executable(${{name}} main.c {self.app}/board.c)
  target_include_directories(${{name}} PRIVATE {self.app})
  target_compile_definitions(${{name}} PRIVATE UART_ADDRESS=${{BOARD_UART}})
  target_link_options(${{name}} PRIVATE -T {self.app}/board.ld -Wl,--defsym=CODE_ORIGIN=${{BOARD_CODE}} -nostartfiles
                      -Wl,--defsym=DATA_ORIGIN=${{BOARD_DATA}} -Wl,--gc-sections -Wl,--no-warn-rwx-segments)
  thimble_add_model(${{name}} {MODEL}/digits_cnn.pt2 TARGET corstone-300 CALIBRATE {MODEL}/calibrate.npz NAME digits
                    OPTIONS --npu-small)
endforeach()
target_sources(own PRIVATE own.c)
""")
        build = self.path / "npu-build"
        run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCORE=cortex-m55",
            f"-DCMAKE_TOOLCHAIN_FILE={self.app}/arm-none-eabi.cmake", *self.launchers(), *self.archives("cortex-m55"))
        self.build(build)
        for name, base in (("app", "00201048"), ("own", "00400050")):
            section = run("arm-none-eabi-objdump", "-t", build / name).stdout
            address = re.search(r"^([0-9a-f]+) .* thimble_npu$", section, re.M)[1]
            words = run("arm-none-eabi-objdump", "-s", f"--start-address=0x{address}", f"--stop-address=0x{int(address, 16) + 4:x}",
                        build / name).stdout
            self.assertIn(base, words)

    def test_two_models_on_one_npu(self):
        """examples/ethos_u/two_models: on the emulated board, with the simulator as the NPU, the outputs are the host's. The
        driver is Thimble's, then that of Arm's interface."""
        build = self.path / "two-build"
        for driver, function in (("thimble", "write_register"), ("arm", "ethosu_invoke_v3")):
            run("cmake", "-S", SOURCE / "examples/ethos_u/two_models", "-B", build, "-G", "Ninja", "-DCORE=cortex-m55",
                f"-DDRIVER={driver}", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                f"-DCMAKE_TOOLCHAIN_FILE={self.app}/arm-none-eabi.cmake", *self.launchers(), *self.archives("cortex-m55"))
            self.build(build)
            self.assertIn(function, run("arm-none-eabi-nm", build / "two_models").stdout)
            self.check_two_models(build)

    def check_two_models(self, build):
        printed = serial_output("mps3-an547", build / "two_models")
        self.assertTrue(printed.endswith("END ok\n"), printed)
        outputs = [hashlib.sha256(bytes.fromhex(text)).hexdigest() for text in re.findall(r"^output ([0-9a-f]+)$", printed, re.M)]
        files = build / "thimble/two_models"
        angle = self.path / "angle.npy"
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }".ljust(117) + "\n"
        angle.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + struct.pack("<f", 1.0))
        done = run(self.program, "run", files / "hello_sin.pte", "--input", angle, "--json")
        sine = json.loads(done.stdout)["outputs"][0]["sha256"]
        self.assertEqual(outputs, 2 * [self.host_hash(files / "digits_cnn.pte"), sine])

    def refused(self, core, *more, sentence):
        build = self.path / "refused"
        shutil.rmtree(build, ignore_errors=True)
        done = self.configure(core, build, *more, code=1)
        self.assertRegex(re.sub(r"\s+", " ", done.stderr), sentence)

    def test_versions(self):
        """find_package of one version finds the same minor version; of a range, any version in it."""
        expected = {"0.2": 1, "0.2.0": 1, "0.2.0 EXACT": 1, "0.2...0.3": 1, "0.1...0.3": 1, "0.2...<0.3": 1, "0.1...0.2.0": 1,
                    "0.2.1": 0, "0.1": 0, "0.3": 0, "1.0": 0, "0.1...<0.2.0": 0, "0.3...0.5": 0}
        package = self.path / "versions/share/thimble/cmake"
        package.mkdir(parents=True)
        shutil.copy(self.prefix / "share/thimble/cmake/thimble-config-version.cmake", package)
        (package / "thimble-config.cmake").write_text("")
        source = self.path / "versions/project"
        source.mkdir()
        lines = "".join(f'find_package(thimble {version} CONFIG QUIET)\nmessage(STATUS "{version}: ${{thimble_FOUND}}")\n'
                        "unset(thimble_DIR CACHE)\n" for version in expected)
        (source / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(a NONE)\n{lines}")
        done = run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.path}/versions")
        self.assertEqual({version: int(found) for version, found in re.findall(r"^-- (.*): ([01])$", done.stdout, re.M)}, expected)
        done = self.project("newer", "project(a C CXX)\nfind_package(thimble 0.3 CONFIG REQUIRED)", code=1)
        self.assertIn("version: 0.2.0", done)

    def test_a_compiler_for_this_machine(self):
        self.refused(None, "-DTHIMBLE_HOST_BUILD=OFF", sentence="is not a compiler for Arm: set CMAKE_TOOLCHAIN_FILE")

    def test_a_file_for_another_core(self):
        for core, file, sentence in (("cortex-m4", "cortex-m55", "is for cortex-m55 and needs Helium: give -mcpu=cortex-m55"),
                                     ("cortex-m0plus", "cortex-m4", "is for cortex-m4 and needs the DSP extension: give")):
            build = self.path / f"wrong-{core}"
            self.configure(core, build, f"-DPTE={self.path}/{file}.pte")
            done = run("cmake", "--build", build, "--target", "c_pte_digits", code=1)
            errors = re.findall(r"^.*error: .*$", done.stdout, re.M)
            self.assertEqual(len(errors), 1, done.stdout)
            self.assertRegex(errors[0], sentence)

    def test_a_core_that_no_macro_names(self):
        """The kernels of a Cortex-M7 with a single-precision FPU are those for two instructions per cycle; an unused FPU is
        one sentence."""
        source = self.path / "m7"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(m7 C CXX)
find_package(thimble 0.2 CONFIG REQUIRED)
add_executable(app main.c)
thimble_add_model(app {MODEL}/digits_cnn.pt2 TARGET ${{CORE}} CALIBRATE {MODEL}/calibrate.npz)
""")
        (source / "main.c").write_text("int main(void) { return 0; }\n")
        for core, flags, defined, warned in (("cortex-m7", "-mfloat-abi=hard -mfpu=fpv5-sp-d16", True, False),
                                             ("cortex-m7", "-mfloat-abi=soft", True, True),
                                             ("cortex-m4", "-mfloat-abi=hard", False, False)):
            build = self.path / f"build-{core}{flags}".replace(" ", "")
            done = run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCORE={core}",
                       "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++",
                       "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_CXX_FLAGS=-mthumb -mcpu={core} {flags}",
                       "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
            commands = json.loads((build / "compile_commands.json").read_text())
            kernel = next(row["command"] for row in commands if row["file"].endswith("kernels/dsp/conv2d_dsp.cpp"))
            self.assertEqual("-DTHIMBLE_DUAL_ISSUE=1" in kernel, defined, kernel)
            self.assertEqual("is not used, so floats are computed by the C library" in re.sub(r"\s+", " ", done.stderr), warned)

    def test_a_file_that_needs_the_program(self):
        stock = self.path / "stock.pte"
        run(self.program, "compile", MODEL / "digits_cnn.pt2", "--target", "cortex-m4", "--calibrate", MODEL / "calibrate.npz",
            "--compat", "executorch", "-o", stock)
        self.refused("cortex-m4", f"-DPTE={stock}", sentence="has no records")
        (self.path / "not.pte").write_bytes(b"x" * 100)
        self.refused("cortex-m4", f"-DPTE={self.path}/not.pte", sentence="no ExecuTorch program")
        npu = self.path / "npu.pte"
        run(self.program, "compile", MODEL / "digits_cnn.pt2", "--target", "corstone-300", "--calibrate", MODEL / "calibrate.npz",
            "--npu-small", "-o", npu)
        self.refused("cortex-m4", f"-DPTE={npu}", sentence=r"calls an NPU \(EthosUBackend\).*add the .pt2 with TARGET PART, or")

    def test_a_file_that_was_cut_off(self):
        (self.path / "cut.pte").write_bytes((self.path / "cortex-m4.pte").read_bytes()[:-1])
        self.refused("cortex-m4", f"-DPTE={self.path}/cut.pte", sentence=r"bytes of segments at \d+ leave the file")

    def project(self, name, lines, *options, code=0):
        """Configures a project for a Cortex-M4, and returns its messages."""
        source = self.path / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\n{lines}\n")
        (source / "main.c").write_text("int main(void) { return 0; }\n")
        done = run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_TOOLCHAIN_FILE={self.app}/arm-none-eabi.cmake", "-DCORE=cortex-m4", *options, code=code)
        return re.sub(r"\s+", " ", done.stderr)

    def test_projects_with_mistakes(self):
        find = "find_package(thimble 0.2 CONFIG REQUIRED)"
        add = f"thimble_add_model(app {self.path}/cortex-m4.pte NAME digits)"
        model = f"project(a C CXX)\n{find}\nadd_executable(app main.c)\nthimble_add_model(app {MODEL}/digits_cnn.pt2"
        program = model.replace(find, f"set(THIMBLE_PROGRAM {self.path}/no/thimble)\n{find}")
        cases = {"no_program": (f"{program} TARGET cortex-m4)", "THIMBLE_PROGRAM .*/no/thimble: does not run"),
                 "no_such_target": (f"{model} TARGET cortex-m99)", "target cortex-m99: not known; similar names"),
                 "report": (f"{model} TARGET cortex-m4 REPORT r.txt)", "REPORT r.txt; a name that ends in .json or .html"),
                 "folder": (f"{model.replace('/digits_cnn.pt2', '')} TARGET cortex-m4)", "is a folder; a .pt2 or a .pte was expected"),
                 "no_cxx": (f"project(a C)\n{find}", "Thimble's libraries are C[+][+]"),
                 "component": ("project(a C CXX)\nfind_package(thimble 0.2 CONFIG REQUIRED COMPONENTS vision)", "component vision"),
                 "twice": (f"project(a C CXX)\n{find}\nadd_executable(app main.c)\n{add}\n{add}",
                           "app has a model of the name digits already")}
        for name, (lines, sentence) in cases.items():
            self.assertRegex(self.project(name, lines, code=1), sentence)

    def test_a_build_without_optimization(self):
        """The assembly of the kernels needs registers that GCC has only with an optimization: they get -O1."""
        source = self.path / "debug"
        flags = "-mthumb -mcpu=cortex-m4 -mfloat-abi=hard"
        self.project("debug", f"""project(a C CXX)
find_package(thimble 0.2 CONFIG REQUIRED)
add_executable(app main.c)
thimble_add_model(app {self.path}/cortex-m4.pte NAME digits)""", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS={flags}",
                     "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        commands = json.loads((source / "build/compile_commands.json").read_text())
        for file in ("dsp/dot.cpp", "dsp/add_fours.cpp", "v7m/quantized_conv2d.cpp"):
            command = next(row["command"] for row in commands if row["file"].endswith(f"kernels/{file}"))
            self.assertNotRegex(command, "-O[0s]")
            run("sh", "-c", re.sub(r"-o \S+", f"-o {source}/kernel.o", command))

    def test_optimization_of_the_whole_program(self):
        """The device code is left out of it: its assembly defines functions that only the linker finds."""
        self.project("lto", f"""project(a C CXX)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
find_package(thimble 0.2 CONFIG REQUIRED)
add_executable(app main.c)
thimble_add_model(app {self.path}/cortex-m4.pte NAME digits)""", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        commands = json.loads((self.path / "lto/build/compile_commands.json").read_text())
        kernel = next(row["command"] for row in commands if row["file"].endswith("kernels/dsp/conv2d_dsp.cpp"))
        self.assertIn("-fno-lto", kernel)
        self.assertNotIn("-flto", kernel.replace("-fno-lto", ""))

    def test_without_the_program_and_as_a_part_of_the_project(self):
        """FetchContent of the tree, without a program: the `.pte` builds, the `.pt2` is refused in one sentence."""
        self.refused("cortex-m4", f"-DTHIMBLE_SOURCE={SOURCE}", "-DTHIMBLE_PROGRAM=OFF",
                     sentence="the program thimble, which compiles a .pt2, was not found")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
