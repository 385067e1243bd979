# SPDX-License-Identifier: Apache-2.0
"""Networks in float32: the compiled file computes what the evaluator computes on the float model, on this machine and
on emulated boards.

usage: float_test.py THIMBLE MODEL_DIR [--cores NAME,NAME] [--mixed PATTERN]

Compiles MODEL_DIR/<name>.pt2 with --float, without calibration data. Host and boards agree by SHA-256. Each output
differs from the evaluator's by at most BOUND of the largest element. --mixed compiles again with calibration data and
`--quant PATTERN=float`: the evaluator (on the file read back) is the reference.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from network_test import write_inputs
from npy import read_floats

# Largest difference of an output element from the evaluator's, as a part of the largest element.
BOUND = 2.0 ** -18


def thimble(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"thimble {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def compare(label, expected, found):
    """Returns the largest difference of two output folders as a part of the largest element."""
    names = sorted(path.name for path in expected.glob("*.npy"))
    if not names or names != sorted(path.name for path in found.glob("*.npy")):
        sys.exit(f"{label}: the files in {found} differ from those in {expected}")
    worst = 0.0
    for name in names:
        if b"'<f4'" not in (expected / name).read_bytes()[:128]:
            if (expected / name).read_bytes() != (found / name).read_bytes():
                sys.exit(f"{label}: {name} differs")
            continue
        a, b = read_floats(expected / name), read_floats(found / name)
        if len(a) != len(b):
            sys.exit(f"{label}: {name} has {len(b)} elements, expected {len(a)}")
        size = max(map(abs, a)) or 1.0
        worst = max(worst, max(abs(x - y) for x, y in zip(a, b)) / size)
    if not worst <= BOUND:
        sys.exit(f"{label}: differs by {worst:.2e} of the largest element, at most {BOUND:.2e} expected")
    return worst


def run(program, model, place, inputs, scratch):
    folder = scratch / f"{model.name}-{place}"
    folder.mkdir(exist_ok=True)
    ran = thimble(program, "run", model, *inputs, "--steps", "--on", place, "--output", folder)
    return [output["sha256"] for output in ran["outputs"]], folder


def check(program, model, reference, core, options, scratch, label):
    pte = scratch / f"{label}-{core}.pte"
    report = thimble(program, "compile", model, "--target", core, *options, "-o", pte)
    if report["float_ops"] == 0:
        sys.exit(f"{label}, {core}: no operator in float")
    inputs = write_inputs(model.parent, report["inputs"], scratch)
    host, on_host = run(program, pte, "host", inputs, scratch)
    board, _ = run(program, pte, "qemu", inputs, scratch)
    if board != host:
        sys.exit(f"{label}, {core}: the board's outputs differ from the host's")
    _, expected = run(program, model if reference == "model" else pte, "eval", inputs, scratch)
    worst = compare(f"{label}, {core}", expected, on_host)
    print(f"{label:8} {core:12} {report['float_ops']:4} float operators, arena {report['arena_bytes']:8,} B, "
          f"{worst:.1e} of the largest element")
    return host


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cores", default="cortex-m4,cortex-m7,cortex-m55")
    parser.add_argument("--mixed")
    arguments = parser.parse_args()
    model = arguments.folder / f"{arguments.folder.name}.pt2"
    with tempfile.TemporaryDirectory() as scratch:
        hashes = {}
        for core in arguments.cores.split(","):
            hashes[core] = check(arguments.program, model, "model", core, ["--float"], pathlib.Path(scratch), "float")
        if len({tuple(hashed) for hashed in hashes.values()}) != 1:
            sys.exit(f"the outputs differ between {', '.join(hashes)}")
        if arguments.mixed:
            options = ["--calibrate", model.parent / "calibrate.npz", "--quant", f"{arguments.mixed}=float"]
            for core in arguments.cores.split(","):
                check(arguments.program, model, "file", core, options, pathlib.Path(scratch), "mixed")


main()
