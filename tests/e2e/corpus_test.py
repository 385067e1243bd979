# SPDX-License-Identifier: Apache-2.0
"""Every small exported module of tests/data/pt2, compiled and run.

usage: corpus_test.py THIMBLE DATA_FOLDER

For every module, `compile` ends with exit code 0, 1 or 2 and a message, never with a crash. An
accepted module runs on the host with the evaluator's outputs, bit for bit, in both dialects, for a
core with and one without vectors, with float and with int8 inputs and outputs: two of these
combinations for each module, by turns. Attention, gather and patch embeddings are also close to
PyTorch's own outputs.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

from npy import read_floats, write_npy

DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
PAIRS = [[("cortex-m55", "native", "float"), ("cortex-m3", "stock", "int8")],
         [("cortex-m3", "native", "float"), ("cortex-m55", "stock", "int8")],
         [("cortex-m55", "stock", "float"), ("cortex-m3", "native", "int8")],
         [("cortex-m3", "stock", "float"), ("cortex-m55", "native", "int8")]]
DTYPES = {"int16": ("<i2", "h"), "float32": ("<f4", "f"), "int8": ("|i1", "b"), "int32": ("<i4", "i"), "int64": ("<i8", "q")}


NEAR_PYTORCH = ("einsum_", "embedding", "gather_", "index_", "matmul_", "mha", "net_attention",
                "patch_", "sdpa_")
ERROR_MAX = 0.06  # relative to the largest element: int8 error after a few operators


def write_calibration(thimble, model, path):
    """Returns one sample: the inputs for which PyTorch's outputs were recorded, by name."""
    shown = run(thimble, "inspect", model, "--json")
    ports = json.loads(shown.stdout)["inputs"] if shown.returncode == 0 else []
    names = [port["name"] for port in ports if port["kind"] == "input"]
    with zipfile.ZipFile(model.with_suffix(".npz")) as recorded, zipfile.ZipFile(path, "w") as out:
        for index, name in enumerate(names):
            out.writestr(f"{name}.npy", recorded.read(f"in{index}.npy"))


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def inputs_of(thimble, pte, folder):
    """Writes a file per input: small floats, and integers, many of which are no valid position."""
    ports = json.loads(run(thimble, "inspect", pte, "--json").stdout)["inputs"]
    files = []
    for index, port in enumerate(ports):
        descr, letter = DTYPES[port["dtype"]]
        count = 1
        for size in port["shape"]:
            count *= size
        values = [(37 * i + 11 * index) % 201 - 100 for i in range(count)]
        if letter == "f":
            values = [value / 50 for value in values]
        data = struct.pack(f"<{count}{letter}", *values)
        files.append(folder / f"in_{port['dtype']}_{index}.npy")
        write_npy(files[-1], descr, port["shape"], data)
    return [word for file in files for word in ("--input", file)]


def check(thimble, model, calibration, folder, target, dialect, io, inputs):
    """Returns the error, or an empty text; and whether the module was accepted.

    `inputs` holds the words that name the module's input files, by type: both dialects have the same inputs.
    """
    pte = folder / "model.pte"
    pte.unlink(missing_ok=True)
    done = run(thimble, "compile", model, "--target", target, "--calibrate",
               calibration, "--io", io, "-o", pte, *DIALECTS[dialect])
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode}: {done.stderr}", False
    if done.returncode != 0:
        silent = not done.stderr.strip()
        return ("no message" if silent else "a file was left" if pte.exists() else None), False
    if io not in inputs:
        inputs[io] = inputs_of(thimble, pte, folder)
    answers = {on: run(thimble, "run", pte, *inputs[io], "--on", on, "--json") for on in ("host", "eval")}
    for on, answer in answers.items():
        if answer.returncode != 0:
            return f"on {on}: exit {answer.returncode}: {answer.stderr}", True
    host, judge = (json.loads(answers[on].stdout)["outputs"] for on in ("host", "eval"))
    if host != judge:
        return "host and evaluator differ", True
    return (distance_to_pytorch(thimble, pte, model, folder) if io == "float" else None), True


def distance_to_pytorch(thimble, pte, model, folder):
    """Returns the error in the outputs for the recorded inputs, or an empty text."""
    if not model.stem.startswith(NEAR_PYTORCH):
        return None
    with zipfile.ZipFile(model.with_suffix(".npz")) as recorded:
        for name in recorded.namelist():
            (folder / name).write_bytes(recorded.read(name))
        names = sorted(recorded.namelist(), key=lambda name: (len(name), name))
    inputs = [word for name in names if name.startswith("in") for word in ("--input", folder / name)]
    done = run(thimble, "run", pte, *inputs, "--output", folder)
    if done.returncode != 0:
        return f"recorded inputs: exit {done.returncode}: {done.stderr}"
    for index, name in enumerate(name for name in names if name.startswith("out")):
        want, got = read_floats(folder / name), read_floats(folder / f"output_{index}.npy")
        error = max(abs(a - b) for a, b in zip(want, got, strict=True)) / max(map(abs, want))
        if not error <= ERROR_MAX:
            return f"output {index} differs from PyTorch's by {error:.3f} of its largest element"
    return None


def main():
    thimble, data = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    accepted = failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        calibration = folder / "calibrate.npz"
        for index, model in enumerate(sorted(data.glob("*.pt2"))):
            write_calibration(thimble, model, calibration)
            inputs = {}
            for target, dialect, io in PAIRS[index % len(PAIRS)]:
                wrong, took = check(thimble, model, calibration, folder, target, dialect, io, inputs)
                runs, accepted = runs + 1, accepted + took
                if wrong:
                    failures += 1
                    print(f"FAILED {model.stem} {target} {dialect} {io}: {wrong}", flush=True)
    print(f"{runs} compilations, {accepted} accepted and run, {failures} failures")
    return 1 if failures or not accepted else 0


if __name__ == "__main__":
    sys.exit(main())
