# SPDX-License-Identifier: Apache-2.0
"""Runs .pte files in ExecuTorch's own runtime, with Thimble's libraries, and in Thimble's."""

import ctypes
import importlib
import json
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

LIBRARIES = ("kernels", "axon", "ethos_u", "neutron")


def is_missing(*modules):
    """Prints why a test is skipped if one of these modules is not installed."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"skipped: {error}", file=sys.stderr)
            return True
    return False


def run_cases(cases):
    """Runs the cases, pairs of a name and a function that returns a line and whether the result is as expected. An error of a
    case does not stop the others. Returns the exit code."""
    failed = []
    for name, case in cases:
        try:
            line, good = case()
        except Exception:  # the other cases run too
            line, good = f"{name}\n{traceback.format_exc()}", False
        print(line if good else f"{line}  WRONG", flush=True)
        if not good:
            failed.append(name)
    if failed:
        print("failed:", *failed, file=sys.stderr)
    return 1 if failed or not cases else 0


def load_libraries(folder):
    """Loads the libraries. They register themselves, which must happen before the first method is loaded."""
    for name in LIBRARIES:
        ctypes.CDLL(str(Path(folder) / f"libthimble_executorch_{name}.so"), mode=ctypes.RTLD_GLOBAL)


def input_formats(thimble, path):
    """The memory format of each input. ExecuTorch's Python interface copies the bytes of a tensor, and does not compare
    its memory order with that of the program's input."""
    import torch

    facts = json.loads(subprocess.run([thimble, "inspect", str(path), "--json"], check=True, capture_output=True).stdout)
    return [torch.channels_last if facts_of["dim_order"] == [0, 2, 3, 1] else torch.contiguous_format
            for facts_of in facts["inputs"]]


def executorch_run(thimble, path, samples):
    """Outputs of each sample, a list of arrays, in ExecuTorch's runtime. The method keeps its state."""
    import torch
    from executorch.runtime import Runtime

    formats = input_formats(thimble, path)
    method = Runtime.get().load_program(str(path)).load_method("forward")
    results = []
    for sample in samples:
        outputs = method.execute([torch.from_numpy(x).contiguous(memory_format=memory_format)
                                  for x, memory_format in zip(sample, formats, strict=True)])
        results.append([y.contiguous().numpy().copy() for y in outputs])
    return results


def thimble_run(thimble, path, samples):
    """The same in Thimble's runtime."""
    with tempfile.TemporaryDirectory() as folder:
        series = [np.stack(arrays) for arrays in zip(*samples)]
        inputs = []
        for i, array in enumerate(series):
            name = Path(folder) / f"input_{i}.npy"
            np.save(name, array)
            inputs.append(str(name))
        subprocess.run([thimble, "run", str(path), "--steps", "--input", *inputs, "--output", folder],
                       check=True, stdout=subprocess.DEVNULL)
        outputs = []
        while (name := Path(folder) / f"output_{len(outputs)}.npy").exists():
            outputs.append(np.load(name))
        return [[output[i] for output in outputs] for i in range(len(samples))]


def emulated(thimble, path, sample, target, folder, *options):
    """Outputs of one sample on the emulated board of a target, and what `thimble run --json` prints."""
    inputs = []
    for i, array in enumerate(sample):
        inputs.append(str(Path(folder) / f"input_{i}.npy"))
        np.save(inputs[-1], array)
    words = [thimble, "run", str(path), "--input", *inputs, "--on", "qemu", "--target", target, "--json", "--output", str(folder)]
    run = subprocess.run([*words, *options], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    facts = json.loads(run.stdout)
    return [np.load(Path(folder) / f"output_{i}.npy") for i in range(len(facts["outputs"]))], facts


def arrays(samples):
    """Tensors as arrays."""
    return [[np.ascontiguousarray(value.detach().numpy()) for value in sample] for sample in samples]


def differences(expected, actual):
    """Number of outputs that are not equal bit for bit."""
    wrong = 0
    for a, b in zip(expected, actual, strict=True):
        for x, y in zip(a, b, strict=True):
            wrong += x.shape != y.shape or x.dtype != y.dtype or x.tobytes() != y.tobytes()
    return wrong
