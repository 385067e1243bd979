#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library for aarch64, as a product builds it from the device sources, and an application with it under qemu-aarch64: the
results are those of this machine, on the core and on an NPU behind the kernel's driver.

usage: aarch64_test.py THIMBLE SOURCE_DIR FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parent))
THIMBLE, SOURCE, FOLDER = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
COMPILER, EMULATOR, SYSROOT = "aarch64-linux-gnu-g++", "qemu-aarch64", "/usr/aarch64-linux-gnu"
SKIPPED = 77
NETWORKS = [("digits_cnn", "ethos-u65-256"), ("dscnn_kws", "cortex-m55")]


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.stdout.decode()}{done.stderr.decode()}"
    return done


def build():
    """Builds and installs the library and the application; ccache, where it is, makes this fast."""
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    call("cmake", "-S", SOURCE / "linux", "-B", FOLDER / "build", "-G", "Ninja", "-DCMAKE_SYSTEM_NAME=Linux",
         "-DCMAKE_SYSTEM_PROCESSOR=aarch64", f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_INSTALL_PREFIX={FOLDER / 'prefix'}", *launcher)
    call("cmake", "--build", FOLDER / "build")
    call("cmake", "--install", FOLDER / "build")
    prefix = FOLDER / "prefix"
    call(COMPILER.replace("g++", "gcc"), SOURCE / "tests/linux/app.c", f"-I{prefix}/include", f"-L{prefix}/lib", "-lthimble", "-o",
         FOLDER / "app")
    sources = [path for kind in ("sim", "isa", "container", "delegate") for path in sorted((SOURCE / "engines/ethos_u" / kind).rglob("*.cpp"))
               if kind != "delegate" or path.name == "stream_scan.cpp"]
    call(COMPILER, "-std=c++20", "-O2", "-shared", "-fPIC", "-w", f"-I{SOURCE}", f"-I{SOURCE}/engines/ethos_u/delegate/include",
         SOURCE / "tests/linux/standin.cpp", *sources, "-ldl", "-o", FOLDER / "libethosu_standin.so")


def check(model, target):
    pte, data = FOLDER / f"{model}.pte", SOURCE / "models" / model
    call(THIMBLE, "compile", data / f"{model}.pt2", "--target", target, "--calibrate", data / "calibrate.npz", "--io", "int8", "-o", pte)
    (FOLDER / "x.bin").write_bytes(b"\x03" * {"digits_cnn": 64, "dscnn_kws": 490}[model])
    shape = {"digits_cnn": (1, 1, 8, 8), "dscnn_kws": (1, 1, 49, 10)}[model]
    header = (f"{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}").ljust(117) + "\n"
    (FOLDER / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + (FOLDER / "x.bin").read_bytes())
    call(THIMBLE, "run", pte, "--input", FOLDER / "x.npy", "--output", FOLDER / "y")
    expected = (FOLDER / "y/output_0.npy").read_bytes()
    expected = expected[10 + int.from_bytes(expected[8:10], "little"):]
    words = [EMULATOR, "-L", SYSROOT, "-E", f"LD_LIBRARY_PATH={FOLDER / 'prefix/lib'}:{SYSROOT}/lib"]
    npu = target.startswith("ethos")
    if npu:
        words += ["-E", f"LD_PRELOAD={FOLDER / 'libethosu_standin.so'}", "-E", f"THIMBLE_STANDIN={target}"]
    call(*words, FOLDER / "app", pte, FOLDER / "x.bin", FOLDER / "y.bin", *(["npu"] if npu else []))
    assert (FOLDER / "y.bin").read_bytes() == expected, f"{model} on {target}: other results"
    print(f"{model} for {target}: the results of this machine")


def main():
    for program in (COMPILER, EMULATOR):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            return SKIPPED
    FOLDER.mkdir(parents=True, exist_ok=True)
    build()
    for model, target in NETWORKS:
        check(model, target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
