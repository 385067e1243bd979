# SPDX-License-Identifier: Apache-2.0
"""Cycles of Vela's streams: Vela's table, its formula applied to the stream, our timeline.

usage: cycles.py --vela VELA --thimble THIMBLE [--timeline PROGRAM] [--work FOLDER]
                 [--config NAME]... [--layers] [--markdown] NETWORK.tflite...

Vela compiles each network for each configuration and prints its per-layer table. The columns NPU,
SRAM and external memory are computed again from the command stream alone (vela_formula.py). Prints
the difference of the sums and the number of layers that agree within 1 %. The exit code is 1 if a
sum differs by more than 1 %. `--layers` lists the layers that differ.
"""

import argparse
import csv
import io
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import stream
import vela_formula

CONFIGS = ["ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256",
           "ethos-u65-512", "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024",
           "ethos-u85-2048"]
SETUPS = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
          "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB")}
COLUMNS = ("NPU", "SRAM", "external")
TOLERANCE = 0.01


def compile_network(vela, network, config, folder):
    """Returns the payload's path and the rows of Vela's table."""
    system, mode = SETUPS[config.split("-")[1]]
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [vela, str(network), "--accelerator-config", config, "--config", "Arm/vela.ini",
         "--system-config", system, "--memory-mode", mode, "--output-format", "raw",
         "--output-dir", str(folder), "--verbose-performance"], capture_output=True, text=True)
    archives = list(folder.glob("*_vela.npz"))
    if done.returncode != 0 or not archives:
        raise SystemExit(f"{network}, {config}: {(done.stderr or done.stdout).strip()[-300:]}")
    with zipfile.ZipFile(archives[0]) as archive:
        data = archive.read("cmd_data.npy")
    wide = data[6] != 1
    header = struct.unpack("<I" if wide else "<H", data[8:12] if wide else data[8:10])[0]
    payload = folder / "cmd.bin"
    payload.write_bytes(data[(12 if wide else 10) + header:])
    table = next(folder.glob("*_per-layer.csv")).read_text()
    return payload, vela_rows(table)


def vela_rows(table):
    """Returns (name, NPU, SRAM, external) per layer. Rows of fused operators have only zeros."""
    rows = []
    for row in csv.DictReader(io.StringIO(table)):
        numbers = (int(row["NPU"]), int(row["SRAM AC"]),
                   int(row["DRAM AC"]) + int(row["OffFlash AC"]))
        if any(numbers):
            rows.append((row["NNG Operator"], *numbers))
    return rows


def near(a, b):
    return abs(a - b) <= max(TOLERANCE * b, 2)


def compare(ours, theirs):
    """Returns per column the relative difference of the sums and the number of equal layers."""
    result = []
    for i in range(3):
        mine, vela = sum(r[1 + i] for r in ours), sum(r[1 + i] for r in theirs)
        apart = (mine - vela) / vela if vela else float(mine != 0)
        result.append((apart, sum(near(a[1 + i], b[1 + i]) for a, b in zip(ours, theirs))))
    return result


def print_layers(ours, theirs):
    for a, b in zip(ours, theirs):
        if not all(near(x, y) for x, y in zip(a[1:], b[1:])):
            print(f"    {a[0]:34} {a[1]:>9} {a[2]:>8} {a[3]:>8}   Vela: {b[0]:18}"
                  f" {b[1]:>9} {b[2]:>8} {b[3]:>8}")


def timeline(program, payload, config):
    system, mode = SETUPS[config.split("-")[1]]
    done = subprocess.run([program, str(payload), system, mode], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return int(done.stdout.split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vela", required=True)
    parser.add_argument("--thimble", required=True)
    parser.add_argument("--timeline")
    parser.add_argument("--work", type=Path, default=Path("ethos_u_cycles"))
    parser.add_argument("--config", action="append", choices=CONFIGS)
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("networks", nargs="+", type=Path)
    options = parser.parse_args()
    form = "| {:24} | {:14} | {:>9} | {} | {:>10} | {:>10} |" if options.markdown else \
        "{:24} {:14} {:>9}  {}  {:>10} {:>10}"
    bad = False
    for network in options.networks:
        name = network.parent.name if network.stem == "net" else network.stem
        for config in options.config or CONFIGS:
            payload, theirs = compile_network(options.vela, network, config,
                                              options.work / config / name)
            formula = vela_formula.Formula(*stream.operations(
                stream.inspect(options.thimble, payload)))
            ours = [(f"{layer.kernel.name} {layer.kernel.mode} {layer.ofm.shape}", int(npu), *rest)
                    for layer, npu, *rest in formula.columns()]
            result = compare(ours, theirs)
            bad = bad or any(abs(apart) > TOLERANCE for apart, _ in result)
            separator = " | " if options.markdown else "  "
            columns = separator.join(f"{apart * 100:+7.2f} % {count:3}" for apart, count in result)
            total = sum(max(r[1:]) for r in theirs)
            cycles = timeline(options.timeline, payload, config) if options.timeline else ""
            print(form.format(name, config, f"{len(ours)}/{len(theirs)}", columns, total, cycles),
                  flush=True)
            if options.layers:
                print_layers(ours, theirs)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
