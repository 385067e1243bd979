# SPDX-License-Identifier: Apache-2.0
"""The package compiles to the bytes of the program.

usage: bytes_test.py THIMBLE SOURCE_FOLDER

Each network of models/ for one target, in turn so that every target occurs: the bytes of the file, and the report
without times and paths, are equal.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import thimble_ml as thimble

# Each network is compiled for one of these. Every second one gets its inputs in memory, so the targets are an odd number.
TARGETS = ["cortex-m55", "corstone-300", "cortex-m4", "nrf54lm20b", "cortex-m0plus", "imxrt700cm",
           "corstone-320"]
TIMES = ("compile_seconds", "calibrate_seconds", "files")


def facts(report):
    return {key: value for key, value in report.items() if key not in TIMES}


def check(program, model, target, in_memory, folder):
    """Returns a failure, or None. `in_memory`: bytes and arrays instead of paths."""
    export, samples = model
    output = folder / "a.pte"
    command = [program, "compile", export, "--target", target, "-o", output, "--json"]
    done = subprocess.run([*command, "--calibrate", samples], capture_output=True, text=True)
    data = dict(numpy.load(samples)) if in_memory and samples != "random" else samples
    source = export.read_bytes() if in_memory else export
    try:
        compiled = thimble.compile(source, target=target, calibration=data)
    except thimble.ThimbleError as error:
        expected = json.loads(done.stdout).get("error", "") if done.returncode else "exit code 0"
        message = str(error)
        name = f"{export.name}: "
        if in_memory and expected.startswith(name):
            expected = "the exported model: " + expected.removeprefix(name)
        return None if message in (expected, expected.removeprefix(name)) else \
            f"{export.name} {target}: {message}\n  the program: {expected}"
    if done.returncode != 0:
        return f"{export.name} {target}: compiled, the program: {done.stderr}"
    if bytes(compiled) != output.read_bytes():
        return f"{export.name} {target}: other bytes than the program"
    if facts(compiled.report()) != facts(json.loads(done.stdout)):
        return f"{export.name} {target}: another report than the program"
    compiled.save(folder / "b.pte")
    if (folder / "b.pte").read_bytes() != output.read_bytes():
        return f"{export.name} {target}: save() wrote other bytes"
    return None


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    folders = sorted(path.parent for path in (source / "models").glob("*/calibrate.npz"))
    models = [(folder / f"{folder.name}.pt2", folder / "calibrate.npz") for folder in folders]
    models += [(path, "random") for path in sorted((source / "tests/data/pt2").glob("*.pt2"))[:8]]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        for index, model in enumerate(models):
            failure = check(program, model, TARGETS[index % len(TARGETS)], index % 2 == 1, pathlib.Path(name))
            if failure:
                failures.append(failure)
    print(f"{len(models)} compilations compared, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures or len(models) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
