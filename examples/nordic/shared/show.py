# SPDX-License-Identifier: Apache-2.0
"""Output functions of the notebooks. They print text only, so that the notebooks need only Python.

The program is $THIMBLE, or build/thimble of this repository; the target is $NORDIC_TARGET, or the
nRF54LM20B.
"""

import ast
import importlib.util
import os
import tempfile
from pathlib import Path

from . import arrays
from .estimate import estimate
from .checks import ON_NPU
from .program import NORDIC, ROOT, TARGET, Compiled

THIMBLE = Path(os.environ.get("THIMBLE", ROOT / "build" / "thimble"))
CHOSEN = os.environ.get("NORDIC_TARGET", TARGET)
SCRATCH = Path(tempfile.mkdtemp(prefix="nordic-"))


def source(path, name: str) -> None:
    """Prints the source of a class or function."""
    text = (ROOT / path).read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            print(ast.get_source_segment(text, node))
            return
    raise LookupError(f"{path} defines no {name}")


def train(name: str) -> None:
    """Runs the example's export.py into a scratch folder if PyTorch is installed and THIMBLE_TRAIN is set."""
    if not os.environ.get("THIMBLE_TRAIN") or importlib.util.find_spec("torch") is None:
        kept = ", ".join(f"{file.name} ({file.stat().st_size:,} B)" for file in sorted((NORDIC / name).glob("*.*[pn][tp][2z]")))
        print(f"not trained anew (set THIMBLE_TRAIN=1, with PyTorch); what was kept: {kept}")
        return
    spec = importlib.util.spec_from_file_location(name, NORDIC / name / "export.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(SCRATCH / "trained")


def test_set(name: str) -> dict:
    return arrays.load_all(NORDIC / name / "test.npz")


def compiled(name: str, io: str = "float", options: tuple = ON_NPU, target: str = CHOSEN) -> Compiled:
    program = Compiled(THIMBLE, name, SCRATCH, target, io, options)
    report = program.report
    print(f"{program.pte.name}: {report['pte_bytes']:,} B of flash, {report['arena_bytes'] + report['state_bytes']:,} B of RAM, "
          f"{report['parameters']:,} parameters")
    return program


def where(program: Compiled) -> None:
    """Prints for each operation its engine, and why it is not on the NPU."""
    for op in program.report["ops"]:
        print(f"{op['engine']:<12} {op['op']:<36} {op['source']:<14} {op['reason']}")


def same_everywhere(program: Compiled, x: arrays.Array, calls: int = 8):
    """Runs the evaluator, this machine and the emulated Cortex-M33; returns the estimated duration of a call."""
    runs = program.everywhere(x.first(calls))
    for on, run in runs.items():
        print(f"{on:<5} {run.hashes[0]}")
    return estimate(program.report, runs["qemu"].answer)


def picture(rows, low: float, high: float) -> None:
    """Prints numbers as shades of gray."""
    shades = " .:-=+*#%@"
    for row in rows:
        print("".join(2 * shades[max(0, min(9, int((value - low) / (high - low) * 10)))] for value in row))


def curve(points, height: int = 15, width: int = 72) -> None:
    """Prints series of (x, y, letter) on one chart."""
    points = list(points)
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    grid = [[" "] * width for _ in range(height)]
    for x, y, letter in points:
        column = round((x - min(xs)) / (max(xs) - min(xs)) * (width - 1))
        row = round((max(ys) - y) / (max(ys) - min(ys)) * (height - 1))
        grid[row][column] = letter
    print("\n".join("".join(row).rstrip() for row in grid))


def confusion(labels, answers, names) -> None:
    """Prints the confusion matrix. Rows: label; columns: class found by the program."""
    print(" " * 10 + "".join(f"{name[:7]:>8}" for name in names))
    for kind, name in enumerate(names):
        counts = [sum(label == kind and answer == said for label, answer in zip(labels, answers)) for said in range(len(names))]
        print(f"{name:<10}" + "".join(f"{count or '.':>8}" for count in counts))


def largest(y: arrays.Array) -> list:
    return [max(range(len(row)), key=row.__getitem__) for row in y.rows()]
