# SPDX-License-Identifier: Apache-2.0
"""Runs Vela on a network in a child process, and reads its output."""

import os
import select
import signal
import struct
import zipfile
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

CONFIGS = [
    "ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256",
    "ethos-u65-256", "ethos-u65-512",
    "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048",
]
SYSTEMS = {
    "u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
    "u85": ("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB"),
}


class Refused(Exception):
    """Vela made no stream that runs on the NPU alone; the text gives the reason."""


class Compiled:
    """The arrays of Vela's raw output, as plain integers and bytes."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            read = lambda name: _array(archive, name)
            self.commands = read("cmd_data")
            self.weights = read("weight_data")
            self.weight_region = int(read("weight_region"))
            self.scratch_region = int(read("scratch_region"))
            self.scratch_size = int(read("scratch_size"))
            self.fast_region = int(read("scratch_fast_region"))
            self.fast_size = int(read("scratch_fast_size"))
            self.inputs = _tensors(read, "input")
            self.outputs = _tensors(read, "output")
            self.variables = _tensors(read, "variable")


def _array(archive, name):
    """Returns an array, or bytes for a string, because numpy would remove its trailing zeros."""
    data = archive.read(name + ".npy")
    with archive.open(name + ".npy") as file:
        version = npy.read_magic(file)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = reader(file)
        body = data[file.tell():]
    if dtype.kind == "S":
        return body
    if dtype.hasobject:
        raise Refused(f"{name} is no plain array")
    array = np.frombuffer(body, dtype).reshape(shape)
    return array if array.shape else array[()]


def _tensors(read, prefix):
    regions = np.atleast_1d(read(prefix + "_region"))
    offsets = np.atleast_1d(read(prefix + "_offset"))
    return [(int(region), int(offset)) for region, offset in zip(regions, offsets)]


def run(config, network, folder, extra=(), seconds=300):
    """Compiles the file `network`; returns Compiled, or raises Refused with Vela's message."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    system, memory = SYSTEMS[config.split("-")[1]]
    arguments = [
        str(network), "--accelerator-config", config, "--config", "Arm/vela.ini",
        "--system-config", system, "--memory-mode", memory,
        "--output-format", "raw", "--output-dir", str(folder), *extra,
    ]
    log = folder / "vela.log"
    status, spent = _in_child(arguments, log, seconds)
    made = sorted(folder.glob("*.npz"))
    if status != 0 or not made:
        raise Refused(_reason(log.read_text(errors="replace"), status))
    if len(made) != 1:
        raise Refused(f"{len(made)} parts instead of one")
    compiled = Compiled(made[0])
    compiled.seconds = spent
    return compiled


def _in_child(arguments, log, seconds):
    """Returns the exit status, and the processor time of the compilation alone in seconds."""
    from ethosu.vela import vela

    child = os.fork()
    if child == 0:
        code = 99
        try:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(output, 1)
            os.dup2(output, 2)
            code = vela.main(arguments) or 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 98
        except BaseException as error:  # the child must not continue as a second parent
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code & 0xFF)
    return _wait(child, seconds)


def _wait(child, seconds):
    pidfd = os.pidfd_open(child)
    try:
        if not select.select([pidfd], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
    finally:
        os.close(pidfd)


def _reason(text, status):
    """Returns the exit status and the most informative lines of the log, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "rror" in line or "CPU" in line or "upport" in line]
    words = "; ".join((told or lines[-1:])[:3])
    return f"exit {status}: {words}"[:300]


def identity(commands):
    """Returns the CONFIG and ID words of a payload."""
    words = struct.unpack_from("<4I", commands)
    if words[0] != 0x31504F43 or words[1] & 0xFFFF != 1:
        raise ValueError("no COP1 payload with a configuration first")
    return words[2], words[3]
