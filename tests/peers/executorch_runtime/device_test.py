#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed sources for ExecuTorch's runtime compile for microcontrollers, against the headers of ExecuTorch's wheel.

    device_test.py CMAKE BUILD EXECUTORCH COMPILER FOLDER

Installs the device sources of the build folder BUILD and builds static libraries for a Cortex-M33 and an M55 with CMake.
The code that includes ExecuTorch's headers is also compiled as C++17, the standard of those headers.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CORES = {"cortex-m33": "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard", "cortex-m55": "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard"}
DEFINITIONS = ["-DC10_USING_CUSTOM_GENERATED_MACROS"]
# Sources of shared libraries for hosts only.
HOST_ONLY = ("load.cpp", "npu_simulator.cpp")
LIBRARIES = ("axon", "axon_vendor", "ethos_u", "neutron", "kernels")
# Functions that a product calls.
FUNCTIONS = {
    "axon": "thimble_executorch_register_axon",
    "axon_vendor": "thimble_executorch_register_axon_vendor",
    "ethos_u": "thimble_executorch_register_ethos_u",
    "neutron": "thimble_executorch_register_neutron",
    "kernels": "thimble_executorch_register",
}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_as_cpp17(device, executorch, compiler, flags, folder):
    sources = [*device.glob("executorch/**/*.cpp"), *device.glob("engines/*/executorch/*.cpp")]
    sources = [source for source in sources if source.name not in HOST_ONLY]
    headers = executorch / "include"
    includes = [f"-I{device}", f"-I{device}/runtime/include", f"-I{device}/executorch/include"]
    includes += [f"-I{path}" for path in [*device.glob("engines/*/delegate/include"), *device.glob("engines/*/executorch/include")]]
    system = ["-isystem", headers, "-isystem", headers / "executorch/runtime/core/portable_type/c10"]
    for source in sources:
        run(compiler, *flags.split(), "-std=c++17", "-Os", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror",
            *DEFINITIONS, *includes, *system, "-c", source, "-o", folder / "object.o")
    return len(sources)


def main():
    cmake, build, executorch, compiler, folder = sys.argv[1:]
    executorch, folder = Path(executorch), Path(folder)
    installed = folder / "installed"
    shutil.rmtree(installed, ignore_errors=True)
    run(cmake, "--install", build, "--component", "device", "--prefix", installed)
    device = installed / "share/thimble/device"
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    for core, flags in CORES.items():
        count = compile_as_cpp17(device, executorch, compiler, flags, folder)
        libraries = folder / core
        run(cmake, "-S", device / "executorch", "-B", libraries, "-G", "Ninja", "-DCMAKE_SYSTEM_NAME=Generic",
            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}",
            f"-DTHIMBLE_EXECUTORCH={executorch}", "-DTHIMBLE_EXECUTORCH_DEFINITIONS=C10_USING_CUSTOM_GENERATED_MACROS", *launcher)
        run(cmake, "--build", libraries, "-j", os.cpu_count())
        names = compiler.replace("g++", "nm")
        for library in LIBRARIES:
            symbols = run(names, libraries / f"libthimble_executorch_{library}.a")
            if f" T {FUNCTIONS[library]}\n" not in symbols:
                sys.exit(f"{core}: libthimble_executorch_{library}.a has no {FUNCTIONS[library]}")
        print(f"{core}: {count} sources as C++17, {len(LIBRARIES)} libraries", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
