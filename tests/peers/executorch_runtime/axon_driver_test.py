#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AxonBackend in ExecuTorch's runtime, with a stand-in for Nordic's driver (tests/axon_vendor).

    axon_driver_test.py THIMBLE SOURCE COMPILER BACKEND LIBEXECUTORCH FOLDER

COMPILER is the stand-in for the vendor's compiler library, BACKEND a static library of AxonBackend and the stand-in driver. The
network is compiled with `--axon header`; the generated table, BACKEND and a constructor that registers it become a shared
library, as firmware would link them. The references are the words of the generated program, run by the driver without the
backend. Exit 77 if ExecuTorch is not installed.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

FIRMWARE = """
#include "axon_subgraphs_table.h"
const thimble_axon_silicon thimble_axon_chip = {THIMBLE_AXON_SUBGRAPHS};
uint32_t nrf_axon_interlayer_buffer[256];
int thimble_executorch_register_axon_vendor(void);
__attribute__((constructor)) static void register_backend(void) {
  if (thimble_executorch_register_axon_vendor() != 0) __builtin_trap();
}
"""


class Tensor(ctypes.Structure):
    """thimble_axon_tensor."""

    _fields_ = [("address", ctypes.c_void_p), ("row_stride", ctypes.c_uint32), ("n", ctypes.c_uint16), ("c", ctypes.c_uint16),
                ("h", ctypes.c_uint16), ("w", ctypes.c_uint16), ("element_bytes", ctypes.c_uint8)]


class Subgraph(ctypes.Structure):
    """thimble_axon_subgraph."""

    _fields_ = [("name", ctypes.c_char_p), ("words", ctypes.c_void_p), ("word_count", ctypes.c_uint32),
                ("driver_version", ctypes.c_uint32), ("cycles", ctypes.c_uint32), ("interlayer_bytes", ctypes.c_uint32),
                ("partial_sum_bytes", ctypes.c_uint32), ("tensors", ctypes.POINTER(Tensor)), ("input_count", ctypes.c_uint8),
                ("output_count", ctypes.c_uint8)]


class CommandBuffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint32), ("words", ctypes.c_void_p), ("segment", ctypes.c_uint32)]


class Log(ctypes.Structure):
    """axon_standin_log."""

    _fields_ = [(name, ctypes.c_int) for name in ("reserved", "freed", "runs", "wait_mode", "kept", "fail_with")]


def make_sdk(compiler, folder):
    machine = "arm64" if platform.machine() in ("aarch64", "arm64") else "amd64"
    where = folder / "tools/axon/compiler/bin/Linux"
    where.mkdir(parents=True)
    shutil.copy(compiler, where / f"libnrf-axon-nn-compiler-lib-{machine}.so")
    return folder


def compile_hello(thimble, source, folder, name):
    hello = source / "examples/nordic/hello_axon"
    model = folder / f"{name}.pt2"
    shutil.copy(hello / "hello_axon.pt2", model)
    path = folder / f"{name}.pte"
    environment = {**os.environ, "SDK_EDGE_AI_PATH": str(folder / "sdk"), "AXON_STANDIN": ""}
    subprocess.run([thimble, "compile", str(model), "--target", "nrf54lm20b", "--npu-small", "--io", "int8", "--calibrate",
                    str(hello / "calibrate.npz"), "--axon", "header", "--axon-dir", str(folder / name), "-o", str(path)],
                   check=True, env=environment, stdout=subprocess.DEVNULL)
    return path


def link(source, backend, library, folder, headers):
    """The shared library that plays the firmware."""
    table = folder / "firmware.c"
    table.write_text(FIRMWARE)
    firmware = folder / "firmware.so"
    includes = [source / "tests/axon_vendor/standin_include", source / "runtime/include", source / "engines/axon/delegate/include",
                headers]
    subprocess.run(["cc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-DNRF_AXON_INTERLAYER_BUFFER_SIZE=1024",
                    *(f"-I{path}" for path in includes), str(table), "-Wl,--whole-archive", backend, "-Wl,--no-whole-archive",
                    library, "-lstdc++", f"-Wl,-rpath,{Path(library).parent}", "-Wl,--no-undefined", "-Wl,-Bsymbolic", "-o", str(firmware)],
                   check=True)
    return ctypes.CDLL(str(firmware), mode=ctypes.RTLD_GLOBAL)


def drive(firmware, subgraph, value):
    """Output bytes of the program for one input byte, with the driver alone."""
    first, last = subgraph.tensors[0], subgraph.tensors[1]
    ctypes.memset(first.address, value & 0xFF, 1)
    buffer = CommandBuffer()
    assert firmware.nrf_axon_init_command_buffer_info(ctypes.byref(buffer), ctypes.c_void_p(subgraph.words), subgraph.word_count) == 0
    assert firmware.nrf_axon_run_cmd_buf_sync(ctypes.byref(buffer), 1, False) == 0
    return np.frombuffer(ctypes.string_at(last.address, 1), np.int8)[0]


def main():
    thimble, source, compiler, backend, library, folder = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    try:
        from executorch.runtime import Runtime
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    import torch

    shutil.rmtree(folder, ignore_errors=True)
    make_sdk(compiler, folder / "sdk")
    path = compile_hello(thimble, source, folder, "hello")
    firmware = link(source, backend, library, folder, folder / "hello")
    subgraph = ctypes.POINTER(Subgraph).in_dll(firmware, "thimble_axon_chip")[0]
    log = Log.in_dll(firmware, "axon_standin")
    runtime = Runtime.get()
    assert runtime.backend_registry.is_available("AxonBackend")
    method = runtime.load_program(str(path)).load_method("forward")
    different = 0
    for value in range(-128, 128):
        expected = drive(firmware, subgraph, value)
        (found,) = method.execute([torch.tensor([[value]], dtype=torch.int8)])
        different += int(found.flatten()[0]) != int(expected)
    outputs = {int(method.execute([torch.tensor([[value]], dtype=torch.int8)])[0].flatten()[0]) for value in range(-128, 128)}
    print(f"{subgraph.name.decode()}: 256 inputs, {len(outputs)} values, {different} differ from the driver alone; "
          f"reserved {log.reserved}, freed {log.freed}, runs {log.runs}")
    assert different == 0 and len(outputs) > 100 and log.reserved == log.freed == 512 and log.runs == 768

    # An error of the driver is an error of the call, and the NPU is released.
    log.fail_with = -5
    try:
        method.execute([torch.zeros(1, 1, dtype=torch.int8)])
        sys.exit("the driver's error is lost")
    except RuntimeError as error:
        print("driver error:", error)
    log.fail_with = 0
    assert log.reserved == log.freed
    assert len(method.execute([torch.zeros(1, 1, dtype=torch.int8)])) == 1

    # Programs that the firmware does not have.
    other = compile_hello(thimble, source, folder, "other")
    data = path.read_bytes()
    assert data.count(subgraph.name) == 1
    stale = folder / "stale.pte"
    stale.write_bytes(data.replace(subgraph.name, subgraph.name[:-12] + b"0" * 12))
    damaged = folder / "damaged.pte"
    damaged.write_bytes(data.replace(b"AXNG", b"AXNH"))
    for refused in (other, stale, damaged):
        try:
            runtime.load_program(str(refused)).load_method("forward")
            sys.exit(f"{refused.name} is loaded")
        except RuntimeError as error:
            print(f"{refused.name}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
