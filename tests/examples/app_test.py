#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/app, copied to an empty folder and built with an installed Thimble, prints the host's outputs.

usage: app_test.py SOURCE_DIR BUILD_DIR CORE [OPTION...]

The options are those of the application's README. With -DFREERTOS_KERNEL_PATH= (empty) the test is skipped.
"""
import hashlib
import json
import os
import pathlib
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

MACHINES = {"cortex-m0plus": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}
TIME_LIMIT_SECONDS = 60
SKIPPED = 77


def run(*command, **options):
    print("+", " ".join(map(str, command)), flush=True)
    return subprocess.run([str(part) for part in command], check=True, **options)


def link_options(folder):
    """Returns CMake options that link a core's archives of the build's own firmware."""
    names = ("libruntime_product.a", "libkernels.a", "libaxon.a", "libethos_u.a", "libneutron.a")
    archives = [path for name in names if (path := folder / name).exists()]
    assert len(archives) > 1, f"{folder} has no archives"
    return ["-DTHIMBLE_DEVICE_LIBRARY=-Wl,--start-group;" + ";".join(map(str, archives)) + ";-Wl,--end-group"]


def device_library(core):
    """Returns link_options(), or without the environment variable THIMBLE_FIRMWARE no option.

    The application then compiles runtime and kernels itself.
    """
    folder = os.environ.get("THIMBLE_FIRMWARE")
    return link_options(pathlib.Path(folder) / core) if folder else []


def serial_output(machine, image):
    """Returns the board's output up to its END line. The emulator is then ended, or at the time limit."""
    command = ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-serial", "stdio",
               "-kernel", str(image)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    text, end = "", time.monotonic() + TIME_LIMIT_SECONDS
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    try:
        while not re.search(r"^END .*\n", text, re.M) and time.monotonic() < end:
            if selector.select(timeout=1):
                data = os.read(process.stdout.fileno(), 4096)
                if not data:
                    break
                text += data.decode("ascii", "replace")
    finally:
        process.kill()
        process.wait()
    return text


def printed_bytes(thimble, model, core):
    """Returns the bytes of the kernels' code that `thimble compile` prints for a part with this core."""
    part, memory = {"cortex-m4": ("stm32f446", "sram"), "cortex-m55": ("apollo510", "itcm")}[core]
    with tempfile.TemporaryDirectory() as folder:
        done = run(thimble, "compile", model / "digits_cnn.pt2", "--target", part, "--calibrate", model / "calibrate.npz",
                   "--kernel-code", memory, "--json", "-o", pathlib.Path(folder) / "net.pte", capture_output=True)
    return json.loads(done.stdout)["kernel_code"]["bytes"]


def check_kernel_code(image, bytes_max):
    """The functions of kernels are in the RAM that board_kernel_code.ld names; those of the runtime and the application are not.
    `thimble compile` prints an upper bound of their bytes."""
    text = subprocess.run(["arm-none-eabi-readelf", "-sW", image], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines() if len(line.split()) == 8]
    start, end = (int(next(row[1] for row in rows if row[7] == edge), 16) for edge in ("kernel_code_start", "kernel_code_end"))
    print(f"code of kernels: {end - start} B, at most {bytes_max} B printed")
    assert 0.8 * bytes_max < end - start <= bytes_max
    functions = {row[7]: int(row[1], 16) for row in rows if row[3] == "FUNC"}
    inside = {name for name, at in functions.items() if start <= at < end}
    outside = set(functions) - inside
    kernels = {name for name in inside | outside if re.match(r"_ZNK?7thimble7kernels", name)}
    assert len(kernels) > 10 and kernels <= inside, kernels - inside
    assert {"main", "thimble_run", "thimble_init", "reset_handler"} <= outside, inside


def main():
    source, build, core, *options = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:]
    if "-DFREERTOS_KERNEL_PATH=" in options:
        print("skipped: FREERTOS_KERNEL_PATH does not name a folder of FreeRTOS-Kernel")
        return SKIPPED
    model = source / "models/digits_cnn"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix, app, out = folder / "thimble", folder / "app", folder / "out"
        # Everything but the images of emulated boards, which may not be built.
        run("cmake", "--install", build, "--prefix", prefix, "--component", "device", stdout=subprocess.DEVNULL)
        (prefix / "bin").mkdir()
        shutil.copy(build / "thimble", prefix / "bin")
        shutil.copytree(source / "examples/app", app)
        run("cmake", "-S", app, "-B", app / "build", "-G", "Ninja",
            f"-DCMAKE_TOOLCHAIN_FILE={app}/arm-none-eabi.cmake", f"-DCORE={core}", f"-DCMAKE_PREFIX_PATH={prefix}",
            *options, *device_library(core), stdout=subprocess.DEVNULL)
        run("cmake", "--build", app / "build", stdout=subprocess.DEVNULL)
        printed = serial_output(MACHINES[core], app / "build/app")
        print(printed)
        assert printed.endswith("END ok\n"), "the application did not end well"
        if "-DKERNEL_CODE=ram" in options:
            check_kernel_code(app / "build/app", printed_bytes(prefix / "bin/thimble", model, core))

        # Run the same digit on the host: the first sample of golden.npz, which is also in digit.h.
        with zipfile.ZipFile(model / "golden.npz") as archive:
            array = archive.read("x.npy")
        data = array[-5 * 64 * 4:][:64 * 4]
        header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }").ljust(117) + "\n"
        (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)
        pte = app / "build/thimble/app/digits.pte"
        host = run(prefix / "bin/thimble", "run", pte, "--input", folder / "x.npy", "--output", out, "--json",
                   capture_output=True)
        expected = json.loads(host.stdout)["outputs"][0]["sha256"]
        on_board = hashlib.sha256(bytes.fromhex(re.search(r"^output ([0-9a-f]+)$", printed, re.M)[1])).hexdigest()
        assert on_board == expected, f"board {on_board}, host {expected}"
        print("same output on", core, "and host:", expected)


if __name__ == "__main__":
    sys.exit(main())
