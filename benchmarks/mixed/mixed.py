#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles networks with hard outputs for an accuracy goal of 40 dB, and measures what the goal costs.

usage: mixed.py [--program build/thimble] [--check]

Writes the table of README.md in this folder; with --check, compares it, except for the seconds. The networks are
models/yolo_nano_like and those of train.py.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GOAL = 40
YOLO = ROOT / "models" / "yolo_nano_like"
NETWORKS = {
    "detection, `yolo_nano_like`": (YOLO / "yolo_nano_like.pt2", YOLO / "calibrate.npz", YOLO / "test.npz"),
    "pose": (HERE / "pose.pt2", HERE / "pose_calibrate.npz", HERE / "pose_test.npz"),
    "regression": (HERE / "regression.pt2", HERE / "regression_calibrate.npz", HERE / "regression_test.npz"),
}


def run(program, *arguments):
    result = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return json.loads(result.stdout)


def measure(program, files, *options):
    model, calibration, test = files
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        report = run(program, "compile", model, "--target", "cortex-m55", "--calibrate", calibration, "-o", pte, *options)
        compared = run(program, "compare", model, pte, "--data", test)
    return report, min(compared["sqnr_db"])


def rows(program):
    for name, files in NETWORKS.items():
        int8, int8_db = measure(program, files)
        mixed, mixed_db = measure(program, files, "--accuracy", f"sqnr>={GOAL}")
        reached = mixed["accuracy"]["reached"]
        assert reached >= GOAL, f"{name}: {reached} dB on the calibration data"
        promoted = len(mixed["accuracy"]["promoted"])
        cycles = mixed["cycles"] / int8["cycles"]
        yield (f"| {name} | {mixed['accuracy']['before']:.1f} | {reached:.1f} | {int8_db:.1f} | {mixed_db:.1f} | {promoted} | "
               f"{cycles:.2f} | {int8['arena_bytes']:,} | {mixed['arena_bytes']:,} | {mixed['compile_seconds']:.1f} |")


def without_seconds(lines):
    return [line.rsplit("|", 2)[0] for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "thimble")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = HERE / "README.md"
    text = page.read_text()
    table = list(rows(arguments.program))
    block = re.compile(r"(<!-- table -->\n(?:.*\n){2})((?:\|.*\n)*)(<!-- end -->)")
    head, old, end = block.search(text).groups()
    if not arguments.check:
        page.write_text(block.sub(lambda _: head + "".join(line + "\n" for line in table) + end, text))
    elif without_seconds(old.splitlines()) != without_seconds(table):
        sys.exit("README.md differs; mixed.py writes it:\n" + "\n".join(table))


if __name__ == "__main__":
    main()
