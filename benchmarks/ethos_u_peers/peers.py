#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our Ethos-U compiler with Vela on the same integer networks.

    peers.py --thimble THIMBLE --timeline ETHOS_U_TIMELINE --work FOLDER
             [--config NAME]... [--point performance|size]... [--check] MODEL_FOLDER...

A MODEL_FOLDER contains NAME.pt2 and calibrate.npz. Our compiler writes the .pte and, from the same
integer graph, a .tflite that Vela compiles, or a .tosa if Vela rejects the .tflite. Prints for both
streams: cycles on our timeline, cycles by Vela's published formula applied to the stream, SRAM,
bytes of constants, and seconds to compile (ours without calibration). Then compiles with our
compiler again, limited to the SRAM that Vela used. Requires a Python with Vela
(tests/peers/ethos_u), else the exit code is 77. `--check`: the exit code is 1 if one of our streams
needs more than 1.10 times Vela's cycles, by either measure, or more SRAM. `--readme`: the exit code
is 1 if README.md does not have a row, except for its seconds.
"""

import argparse
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/peers/ethos_u"), str(ROOT / "benchmarks/ethos_u_cycles")]

import stream  # noqa: E402
import vela_formula  # noqa: E402
import vela_run  # noqa: E402
try:
    from ethosu.vela import vela  # noqa: F401  (imported once, before child processes start)
except ImportError:
    print("skipped: this Python has no Vela")
    sys.exit(77)

POINTS = {"performance": ("speed", "Performance"), "size": ("size", "Size")}
LIMIT = 1.10
# Configurations and points of the committed table; of the last three only one point.
CONFIGS = ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"]
FAST_ONLY = ["ethos-u55-256", "ethos-u65-512", "ethos-u85-512"]
MAGIC, END = b"vela_bin_stream", b"vela_end_stream"


class Figures:
    """Figures of one stream, or sums over the streams of one file."""

    def __init__(self):
        self.timeline = self.formula = self.sram = self.constants = self.seconds = 0
        self.beside = 0  # bytes of the arena outside the NPU's scratch: outputs that are copied

    def add_stream(self, options, payload, config):
        path = options.work / "cmd.bin"
        path.write_bytes(payload)
        system, mode = vela_run.SYSTEMS[config.split("-")[1]]
        done = subprocess.run([options.timeline, str(path), system, mode], capture_output=True,
                              text=True, check=True)
        self.timeline += int(done.stdout.split()[1])
        formula = vela_formula.Formula(*stream.operations(stream.inspect(options.thimble, path)))
        self.formula += sum(max(columns) for _, *columns in formula.columns())


def blocks_of(data):
    """Yields the blocks (name -> bytes) of each EthosUBackend payload in a .pte."""
    at = data.find(MAGIC)
    while at >= 0:
        blocks, position = {}, at
        while True:
            name = data[position:position + 16].rstrip(b"\0")
            size = struct.unpack_from("<I", data, position + 16)[0]
            if name == END:
                break
            blocks[name.decode()] = data[position + 32:position + 32 + size]
            position += 32 + -(-size // 16) * 16
        yield blocks
        at = data.find(MAGIC, position)


def ours(options, folder, config, point, budget=None):
    """Returns our figures, the .tflite of the graph, and the number of operators on the CPU."""
    name = folder.name
    out = options.work / config / name
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [options.thimble, "compile", str(folder / f"{name}.pt2"), "--target", config,
         "--calibrate", str(folder / "calibrate.npz"), "--emit", "pte,tflite,tosa", "--out-dir",
         str(out), "--optimize", POINTS[point][0], "--io", "int8", "--json",
         *(["--memory", f"sram={budget}"] if budget is not None else [])],
        capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        told = [line for line in lines if "smallest" in line or "error" in line] or lines
        raise vela_run.Refused("ours: " + told[0][:160])
    report = json.loads(done.stdout)
    figures = Figures()
    scratch = 0
    for blocks in blocks_of((out / f"{name}.pte").read_bytes()):
        figures.add_stream(options, blocks["cmd_data"], config)
        figures.constants += len(blocks["weight_data"])
        scratch = max(scratch, struct.unpack("<I", blocks["scratch_size"])[0])
    dedicated = vela_run.SYSTEMS[config.split("-")[1]][1].startswith("Dedicated")
    sram = {memory["name"]: memory["bytes_used"] for memory in report["memories"]}["sram"]
    figures.sram = sram if dedicated else scratch
    figures.beside = sram - figures.sram
    figures.seconds = report["compile_seconds"] - report["calibrate_seconds"]
    left = [op for op in report["ops"]
            if op["engine"] != config and "quantize" not in op["op"]]
    return figures, out / name, len(left)


def theirs(options, network, config, point):
    extra = ("--optimise", POINTS[point][1])
    try:
        made = vela_run.run(config, f"{network}.tflite", options.work / "vela", extra)
        form = ""
    except vela_run.Refused as first:
        try:
            made = vela_run.run(config, f"{network}.tosa", options.work / "vela", extra)
        except vela_run.Refused as second:
            raise vela_run.Refused(f"TFLite: {str(first)[:110]} TOSA: {str(second)[:110]}")
        form = " (TOSA)"
    figures = Figures()
    figures.add_stream(options, made.commands, config)
    dedicated = vela_run.SYSTEMS[config.split("-")[1]][1].startswith("Dedicated")
    figures.sram = made.fast_size if dedicated else made.scratch_size
    figures.constants = len(made.weights)
    figures.seconds = made.seconds
    return figures, form


def ratio(a, b):
    return f"{a / b:.3f}" if b else "-"


def row(name, config, point, a, b, left, held):
    kept = [a.timeline <= LIMIT * b.timeline, a.formula <= LIMIT * b.formula, a.sram <= b.sram]
    marks = ["" if good else " !" for good in kept]
    text = (f"| {name} | {config.removeprefix('ethos-')} | {point} "
            f"| {a.timeline:,} / {b.timeline:,} = {ratio(a.timeline, b.timeline)}{marks[0]} "
            f"| {a.formula:,.0f} / {b.formula:,.0f} = {ratio(a.formula, b.formula)}{marks[1]} "
            f"| {a.sram:,} / {b.sram:,}{marks[2]} | {a.constants:,} / {b.constants:,} "
            f"| {a.seconds:.2f} / {b.seconds:.2f} | {left} | {held} |")
    print(text, flush=True)
    return all(kept), without_seconds(text)


def without_seconds(line):
    cells = line.split("|")
    return cells[:8] + cells[9:]


def held_to(options, folder, config, beside, b):
    """Returns both cycle ratios with at most Vela's SRAM, or the reason for their absence. The
    limit includes memory of the CPU, so it is raised until the NPU has Vela's SRAM."""
    budget = b.sram + beside
    for _ in range(2):
        try:
            a, _, _ = ours(options, folder, config, "performance", budget)
            break
        except vela_run.Refused as reason:
            words = str(reason).removeprefix("ours: ")
            left = re.search(r"no schedule fits in (-?\d+) bytes of SRAM", words)
            if not left or int(left[1]) >= b.sram:
                return words
            budget += b.sram - int(left[1])
    else:
        return words
    mark = "" if max(a.timeline / b.timeline, a.formula / b.formula) <= LIMIT else " !"
    return f"{ratio(a.timeline, b.timeline)}, {ratio(a.formula, b.formula)}{mark}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--thimble", required=True)
    parser.add_argument("--timeline", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--config", action="append", choices=vela_run.CONFIGS)
    parser.add_argument("--point", action="append", choices=POINTS)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("models", nargs="+", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    good = True
    told = [without_seconds(line) for line in (Path(__file__).with_name("README.md")).read_text().splitlines()]
    missing = []
    print("| network | NPU | point | timeline, cycles: ours / Vela | formula, cycles | SRAM, bytes "
          "| constants, bytes | compile, s | on CPU | at Vela's SRAM |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for folder in options.models:
        for config in options.config or CONFIGS + FAST_ONLY:
            usual = ["performance"] if config in FAST_ONLY else list(POINTS)
            for point in options.point or usual:
                try:
                    a, network, left = ours(options, folder, config, point)
                    b, form = theirs(options, network, config, point)
                except vela_run.Refused as reason:
                    print(f"| {folder.name} | {config} | {point} | {str(reason)[:240]} |")
                    continue
                held = held_to(options, folder, config, a.beside, b)
                kept, cells = row(folder.name + form, config, point, a, b, left, held)
                good = kept and good
                missing += [cells] if cells not in told else []
    for cells in missing:
        print("README.md does not have", "|".join(cells))
    return 1 if (options.check and not good) or (options.readme and missing) else 0


if __name__ == "__main__":
    sys.exit(main())
