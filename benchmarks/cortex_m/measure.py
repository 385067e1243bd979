# SPDX-License-Identifier: Apache-2.0
"""Compiles one network for one core, runs it once under QEMU, and counts instructions."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/nordic"))
from shared import arrays  # noqa: E402  (after its folder is added to the path)
from shared.program import encoded  # noqa: E402


class Failed(Exception):
    """A Thimble command failed. The text is its output."""


def thimble(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing said"])[0]
        raise Failed(f"thimble {' '.join(map(str, arguments))}: {said}")
    return json.loads(done.stdout)


def first_inputs(folder, report, scratch):
    """Writes the first calibration sample of each input as a .npy, in the element type of the file's input."""
    data = arrays.load_all(folder / "calibrate.npz")
    names = [name for name in data if name != "labels"]
    paths = []
    for index, port in enumerate(report["inputs"]):
        array = data[port["name"]] if port["name"] in names else data[names[index]]
        shape = port["shape"]
        sample = array.first(shape[0] if list(array.shape[1:]) == shape[1:] else 1)
        sample.shape = tuple(shape)
        paths.append(scratch / f"input_{index}.npy")
        arrays.save(paths[-1], encoded(sample, port))
    return paths


def measure(program, folder, core, options=()):
    """Returns the values of a table row: instructions in total and per call, modelled cycles, bytes, seconds."""
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        pte = scratch / "model.pte"
        start = time.monotonic()
        report = thimble(
            program, "compile", folder / f"{folder.name}.pt2", "--target", core,
            "--calibrate", folder / "calibrate.npz", "--io", "int8", "-o", pte, "--json", *options)
        seconds = time.monotonic() - start
        inputs = [word for path in first_inputs(folder, report, scratch)
                  for word in ("--input", path)]
        ran = thimble(program, "run", pte, *inputs, "--on", "qemu", "--profile", "--json")
    calls = [
        {"name": op["name"], "op": count["name"], "macs": op["macs"], "outputs": op["elements_out"],
         "instructions": count["instructions"], "cycles": count["cycles"]}
        for op, count in zip(report["ops"], ran["ops"], strict=True)]
    return {
        "network": folder.name,
        "core": core,
        "optimize": report["optimize"],
        "instructions": ran["instructions"],
        "cycles": ran["cycles"],
        "macs": sum(call["macs"] for call in calls),
        "arena_bytes": report["arena_bytes"],
        "state_bytes": report["state_bytes"],
        "pte_bytes": report["pte_bytes"],
        "weights_bytes": report["weights_bytes"],
        "memory_bytes": {memory["name"]: memory["bytes_used"] for memory in report["memories"]},
        "compile_seconds": report["compile_seconds"],
        "command_seconds": seconds,
        "outputs": [output["sha256"] for output in ran["outputs"]],
        "calls": calls,
    }
