# SPDX-License-Identifier: Apache-2.0
"""Builds an application of examples/nordic with the stand-in for Zephyr."""
import os
import pathlib
import shutil
import subprocess

from app_test import device_library, run

PYTHONS = ("python3", "/usr/bin/python3")


def python_with_kconfig():
    for python in PYTHONS:
        if shutil.which(python) and subprocess.run([python, "-c", "import kconfiglib"], capture_output=True).returncode == 0:
            return python
    raise SystemExit(f"none of {', '.join(PYTHONS)} has kconfiglib: install Debian's python3-kconfiglib")


def configure(source, thimble, example, folder, options):
    """Returns the CMake command that configures the application."""
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if shutil.which("ccache") else []
    return ["cmake", "-S", example, "-B", folder, "-G", "Ninja", f"-DZephyr_DIR={source}/tests/examples/zephyr",
            "-DCORE=cortex-m33", f"-DCMAKE_TOOLCHAIN_FILE={source}/examples/app/arm-none-eabi.cmake",
            f"-DTHIMBLE_PROGRAM={thimble}", f"-DPYTHON_WITH_KCONFIG={python_with_kconfig()}", *launcher,
            *device_library("cortex-m33"), *options]


def build(source, thimble, example, folder, options):
    """Builds the application and returns the path of the image."""
    run(*configure(source, thimble, example, folder, options), stdout=subprocess.DEVNULL)
    # The runtime is the same in every application, so ccache may ignore the build folder.
    run("cmake", "--build", folder, stdout=subprocess.DEVNULL, env={**os.environ, "CCACHE_NOHASHDIR": "1"})
    return folder / "zephyr.elf"
