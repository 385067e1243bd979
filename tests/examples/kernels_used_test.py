# SPDX-License-Identifier: Apache-2.0
"""The output of `thimble compile --kernels-dir` in a firmware's build: the image has the kernels and delegates that the
model calls, the vendor's list of kernels, and no others.

usage: kernels_used_test.py THIMBLE SOURCE_DIR CMAKE CORE_COMPILER_PREFIX STANDIN_CONVERTER THIMBLE_WITH_ABACUS FIRMWARE

The Cortex-M33's images compile the device's sources; the Cortex-M55's image links the archives in FIRMWARE.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from app_test import link_options

THIMBLE, SOURCE, CMAKE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PREFIX = sys.argv[4]
STANDIN, EXTRA, FIRMWARE = (pathlib.Path(word).resolve() for word in sys.argv[5:8])
ABACUS = SOURCE / "tests/extra_target/abacus"

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(firmware C CXX)
add_subdirectory({source} thimble)
foreach(model {models})
  include({folder}/${{model}}/kernels_used.cmake)
  add_executable(${{model}} {folder}/main.cpp)
  thimble_link_kernels_used(${{model}})
  target_link_libraries(${{model}} PRIVATE thimble_neutron_model)  # for the vendor's driver
  target_link_options(${{model}} PRIVATE -nostartfiles -Wl,--no-warn-rwx-segments)
endforeach()
"""

MAIN = """
#include "engines/abacus/model/model.h"
#include "engines/abacus/delegate/backend.h"
#include "thimble.h"
#include "thimble_ethos_u.h"
#include "thimble_neutron.h"

extern "C" const thimble_kernels* thimble_model_kernels(void);
extern "C" const thimble_neutron thimble_neutron_npu = {};
extern "C" const thimble_ethos_u thimble_npu = {};
const thimble::runtime::abacus::Driver abacus_npu = {thimble::abacus::run};
extern "C" void _start(void) {
  static thimble_model model;
  static unsigned char memory[1024];
  thimble_init(&model, memory, sizeof memory, thimble_model_kernels(), memory, sizeof memory);
  thimble_run(&model);
}
"""


class KernelsUsed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_it(self, *command, code=0, **environment):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              cwd=self.path, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compile(self, name, model, target, *more, program=THIMBLE, **environment):
        folder = SOURCE / "models" / model
        self.run_it(program, "compile", folder / f"{model}.pt2", "--target", target, "--calibrate",
                    folder / "calibrate.npz", "-o", f"{name}.pte", "--kernels-dir", name, *more,
                    **environment)
        text = (self.path / name / "kernels_used.cmake").read_text()
        found = {}
        for variable, words in re.findall(r"^set\((\w+)([^)]*)\)", text, re.M):
            found[variable] = words.split()
        return found

    def build(self, core, models, *options):
        """Builds images of models for a core. A table's kernel variants are those of that core."""
        source, build = self.path / core, self.path / f"build-{core}"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT.format(
            source=SOURCE, folder=self.path, models=" ".join(models)))
        toolchain = SOURCE / "examples/app/arm-none-eabi.cmake"
        self.run_it(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCORE={core}",
                    f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DTHIMBLE_PROGRAM={THIMBLE}",
                    f"-DTHIMBLE_EXTRA_TARGETS={ABACUS}", *options)
        self.run_it(CMAKE, "--build", build, "--target", *models)

    def symbols(self, name):
        image, = self.path.glob(f"build-*/{name}")
        listed = self.run_it(f"{PREFIX}nm", "-C", image)
        return {line.split(" ", 2)[2] for line in listed.splitlines() if line.count(" ") >= 2}

    def test_an_image_has_these_and_no_others(self):
        sdk = self.path / "sdk"
        (sdk / "bin").mkdir(parents=True)
        for name in ("neutron-converter", "merge_kernel_selection_code"):
            shutil.copy(STANDIN, sdk / "bin" / name)
        used = {
            "plain": self.compile("plain", "digits_cnn", "cortex-m33"),
            "stock": self.compile("stock", "digits_cnn", "cortex-m33", "--compat", "executorch"),
            "npu": self.compile("npu", "digits_cnn", "imxrt700cm", "--engine-off", "linear"),
            "arm": self.compile("arm", "hello_sin", "ethos-u55-128", "--npu-small"),
            "vendor": self.compile("vendor", "dscnn_kws", "imxrt700cm", "--neutron", "sdk",
                                   "--neutron-kernels", "--engine-off", "linear",
                                   EIQ_NEUTRON_SDK_PATH=str(sdk)),
            "outside": self.compile("outside", "resnet8", "abacus-board", program=EXTRA),
        }
        self.assertEqual(used["plain"]["THIMBLE_DELEGATES_USED"], [])
        self.assertIn("thimble::conv2d.dsp", used["plain"]["THIMBLE_KERNELS_USED"])
        self.assertEqual(used["npu"]["THIMBLE_DELEGATES_USED"], ["ThimbleNeutronModel"])
        self.assertEqual(used["npu"]["THIMBLE_DEVICES_USED"], ["thimble_neutron_npu"])
        self.assertIn("thimble::linear.dsp", used["npu"]["THIMBLE_KERNELS_USED"])
        self.assertNotIn("thimble::conv2d.dsp", used["npu"]["THIMBLE_KERNELS_USED"])
        self.assertEqual(used["arm"]["THIMBLE_DELEGATES_USED"], ["EthosUBackend"])
        self.assertEqual(used["vendor"]["THIMBLE_DELEGATES_USED"], ["NeutronBackend"])
        self.assertEqual(used["outside"]["THIMBLE_DEVICES_USED"], ["abacus_npu"])
        lists = [name for name in used["vendor"]["THIMBLE_KERNELS_USED_SOURCES"] if name.endswith(".c")]
        self.assertEqual(lists, ["${CMAKE_CURRENT_LIST_DIR}/dscnn_kws_kernel_selection.c"])

        (self.path / "main.cpp").write_text(MAIN)
        self.build("cortex-m55", ["arm"], *link_options(FIRMWARE / "cortex-m55"))
        self.build("cortex-m33", [name for name in used if name != "arm"])
        delegates = {"plain": set(), "stock": set(), "npu": {"neutron"}, "arm": {"ethos_u"}, "vendor": {"neutron"},
                     "outside": {"abacus"}}
        for name, said in used.items():
            symbols = self.symbols(name)
            kernels = {symbol.removeprefix("thimble::kernels::") for symbol in symbols
                       if re.fullmatch(r"thimble::kernels::(portable|dsp|mve|v6m|v7m)_\w+", symbol)}
            self.assertEqual(kernels, set(said["THIMBLE_KERNELS_USED_SYMBOLS"]), name)
            self.assertEqual(len(kernels), len(said["THIMBLE_KERNELS_USED"]), name)
            opened = {match[1] for symbol in symbols
                      if (match := re.match(r"thimble::runtime::(\w+)::(?:\w+::)?open\(", symbol))}
            self.assertEqual(opened, delegates[name], name)
            # Files without records run from the flatbuffer.
            self.assertEqual("thimble::runtime::flatbuffer_executor" in symbols, name != "plain", name)
        built = list(self.path.glob("build-*/**/dscnn_kws_kernel_selection.c.*"))
        self.assertIn("standin_kernel_selection", self.run_it(f"{PREFIX}nm", *built))

    def test_the_devices_sources_come_first(self):
        self.compile("plain", "hello_sin", "cortex-m33")
        (self.path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(firmware NONE)\n"
            "include(plain/kernels_used.cmake)\nthimble_link_kernels_used(firmware)\n")
        done = subprocess.run([str(CMAKE), "-S", self.path, "-B", self.path / "build"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("find_package(thimble)", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
