#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on the device code of the tree that a Cortex-M55 runs, which has the instruction sets of all kernels.

usage: device_tidy.py SOURCE_DIR [FILE...]

The checks are those of cmake/device_tidy.yaml. firmware/apps/faults and variants are left out: they make what the checks
find, faults and extreme values. Left out are also drivers that need a vendor's headers, the emulated NPUs of the test firmware, and the
libraries for ExecuTorch and Linux, which other compilers build. Exit code 1: a check found something.
"""

import concurrent.futures
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
CLANG_TIDY, ARM_CXX = "clang-tidy-14", "arm-none-eabi-g++"
FOLDERS = ("abi", "numerics", "kernels", "runtime", "firmware")
ENGINE_FOLDERS = ("isa", "container", "sim", "model", "delegate")
FILES_PER_RUN = 6


def sources():
    patterns = [f"{folder}/*.cpp" for folder in FOLDERS] + [f"engines/*/{folder}/*.cpp" for folder in ENGINE_FOLDERS]
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True)
    return [name for name in listed.stdout.split() if not name.startswith(("firmware/apps/faults/", "firmware/apps/variants/"))]


def options():
    """Returns the compiler's options; the headers of C and C++ are those of the cross compiler, its own excluded."""
    text = subprocess.run([ARM_CXX, "-xc++", "-E", "-v", "/dev/null"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                          check=True).stderr
    system = [pathlib.Path(line.strip()).resolve() for line in text.splitlines() if line.startswith(" /")]
    system = [f"-isystem{path}" for path in system if "/lib/gcc/" not in str(path)]
    includes = [SOURCE, SOURCE / "runtime/include", *sorted(SOURCE.glob("engines/*/delegate/include"))]
    return ["--target=arm-none-eabi", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-std=c++17", "-fno-exceptions", "-fno-rtti",
            "-DTHIMBLE_UART_CMSDK", "-DTHIMBLE_UART_ADDRESS=0x49303000", *(f"-I{path}" for path in includes), *system]


def main():
    files = sys.argv[2:] or sources()
    command = [CLANG_TIDY, "--quiet", f"--config-file={SOURCE / 'cmake/device_tidy.yaml'}"]
    arguments = options()

    def check(group):
        done = subprocess.run([*command, *group, "--", *arguments], cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stdout

    groups = [files[at:at + FILES_PER_RUN] for at in range(0, len(files), FILES_PER_RUN)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for code, text in pool.map(check, groups):
            if code != 0:
                failed += 1
                print(text)
    print(f"clang-tidy: {len(files)} files of device code, {'findings' if failed else 'no findings'}")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
