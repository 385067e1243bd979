"""Builds an application of examples/nordic with the stand-in for Zephyr.

Runtime and kernels are compiled once: the first application keeps its library in the folder of the environment variable
THIMBLE_DEVICE_LIBRARIES, and the others link it (THIMBLE_DEVICE_LIBRARY of cmake/thimble_model.cmake).
"""
import os
import pathlib
import shutil
import subprocess

from app_test import run

PYTHONS = ("python3", "/usr/bin/python3")


def python_with_kconfig():
    for python in PYTHONS:
        if shutil.which(python) and subprocess.run([python, "-c", "import kconfiglib"], capture_output=True).returncode == 0:
            return python
    raise SystemExit(f"none of {', '.join(PYTHONS)} has kconfiglib: install Debian's python3-kconfiglib")


def kept_library():
    """Returns the path of the library that the applications share, or None."""
    folder = os.environ.get("THIMBLE_DEVICE_LIBRARIES")
    return pathlib.Path(folder) / "cortex-m33" / "libthimble_device.a" if folder else None


def configure(source, thimble, example, folder, options):
    """Returns the CMake command that configures the application."""
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if shutil.which("ccache") else []
    if (library := kept_library()) and library.exists():
        launcher.append(f"-DTHIMBLE_DEVICE_LIBRARY={library}")
    return ["cmake", "-S", example, "-B", folder, "-G", "Ninja", f"-DZephyr_DIR={source}/tests/examples/zephyr",
            "-DCORE=cortex-m33", f"-DCMAKE_TOOLCHAIN_FILE={source}/examples/app/arm-none-eabi.cmake",
            f"-DTHIMBLE_PROGRAM={thimble}", f"-DPYTHON_WITH_KCONFIG={python_with_kconfig()}", *launcher, *options]


def build(source, thimble, example, folder, options):
    """Builds the application and returns the path of the image."""
    run(*configure(source, thimble, example, folder, options), stdout=subprocess.DEVNULL)
    # The runtime is the same in every application, so ccache may ignore the build folder.
    run("cmake", "--build", folder, stdout=subprocess.DEVNULL, env={**os.environ, "CCACHE_NOHASHDIR": "1"})
    built = list(pathlib.Path(folder).rglob("libthimble_device.a"))
    if (library := kept_library()) and built:
        library.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built[0], library)
    return folder / "zephyr.elf"
