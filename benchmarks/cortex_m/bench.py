#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks on Cortex-M cores under QEMU: instructions, memory, flash, compile time; compares with CMSIS-NN.

usage: bench.py [--program build/thimble] [--networks A,B] [--cores M4,M55] [--layers] [--markdown] [--json FILE] [--html FILE]
                [--peers PYTHON] [--optimize speed,size,flash] [--option WORD]...

Instruction counts are exact: the same compiler gives the same numbers. `layers` compares the layers that CMSIS-NN also has
with its best build on that core (cmsis_nn.json describes the measurement). PYTHON is an interpreter with ExecuTorch 1.5.1:
the table then also has the results of its Cortex-M flow for the same networks.
"""

import argparse
import itertools
import json
import pathlib
import sys

import peers
import cmsis_nn
from measure import Failed, measure
from page import html_page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NETWORKS = ["resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder", "mobilenet_v2"]
CORES = ["cortex-m55", "cortex-m33", "cortex-m7", "cortex-m4", "cortex-m3", "cortex-m0plus"]
HEAD = ("network", "core", "for", "M instr", "M cycles", "instr/MAC", "by CMSIS-NN", "arena", "state", ".pte", "over weights", "compile s")


def folder_of(network):
    """Folder of the network: models/, or build/models for networks that are too large to commit."""
    for parent in (ROOT / "models", ROOT / "build/models"):
        if (parent / network / f"{network}.pt2").exists():
            return parent / network
    return None


def line(row, networks):
    both = cmsis_nn.totals(row, networks)
    ratio = f"{both[0] / both[1]:.2f}" if both else "-"
    return (row["network"], row["core"], row["optimize"], f"{row['instructions'] / 1e6:.3f}",
            f"{row['cycles'] / 1e6:.3f}", f"{row['instructions'] / max(1, row['macs']):.2f}", ratio, str(row["arena_bytes"]),
            str(row["state_bytes"]), str(row["pte_bytes"]), str(row["pte_bytes"] - row["weights_bytes"]),
            f"{row['compile_seconds']:.2f}")


def markdown(row, networks):
    """The row of README.md."""
    both, cycles = cmsis_nn.totals(row, networks), cmsis_nn.totals(row, networks, "cycles")
    rival = networks[row["network"]][row["core"]]
    return (f"| {row['network']} | {row['core']} | {row['instructions'] / 1e6:.3f} | {row['cycles'] / 1e6:.3f} | "
            f"{row['instructions'] / row['macs']:.2f} | "
            f"{both[0] / both[1]:.2f} | {rival['total_build']} | {cycles[0] / cycles[1]:.2f} | {rival['cycles_build']} | "
            f"{row['arena_bytes']:,} | "
            f"{row['state_bytes']} | {row['pte_bytes'] - row['weights_bytes']:,} |")


def pruned_markdown(core, every, fewer):
    """A row of the table of networks with channels that have no effect."""
    return (f"| {core} | {every['macs'] / 1e6:.2f} | {fewer['macs'] / 1e6:.2f} | {every['cycles'] / 1e6:.3f} | "
            f"{fewer['cycles'] / 1e6:.3f} | {every['arena_bytes']:,} | {fewer['arena_bytes']:,} | {every['pte_bytes']:,} | "
            f"{fewer['pte_bytes']:,} |")


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) if i < 3 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def print_layers(row, networks):
    """Instructions of the layers and their cycles, beside CMSIS-NN's."""
    for quantity in ("instructions", "cycles"):
        found, alone = cmsis_nn.pairs(row, networks, quantity)
        print(f"  {quantity}")
        for layer, _, ours, theirs in found:
            mark = "  SLOWER" if ours > theirs else ""
            print(f"  {layer:44} {ours:12} {theirs:12} {ours / theirs:6.2f}{mark}")
    for name in alone:
        print(f"  {name}: no partner")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="print the rows of README.md")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--html", type=pathlib.Path)
    parser.add_argument("--peers")
    parser.add_argument("--optimize", default="speed", help="what `thimble compile` puts first: a row for each")
    parser.add_argument("--option", action="append", default=[], help="more of `thimble compile`")
    arguments = parser.parse_args()
    networks = cmsis_nn.load()
    rows, left_out = [], []
    for network in arguments.networks.split(","):
        folder = folder_of(network)
        if folder is None:
            left_out.append(f"{network}: make it with models/make.py {network}")
            continue
        for core, mode in itertools.product(arguments.cores.split(","), arguments.optimize.split(",")):
            try:
                rows.append(measure(arguments.program, folder, core, ["--optimize", mode, *arguments.option]))
            except Failed as failure:
                left_out.append(f"{network} on {core} for {mode}: {failure}")
                continue
            if arguments.layers:
                print(f"{network} on {core} for {mode}")
                print_layers(rows[-1], networks)
    table = [HEAD, *(line(row, networks) for row in rows)]
    if arguments.markdown:
        print("\n".join(markdown(row, networks) for row in rows))
    else:
        print_table(table)
    found_peers = peers.executorch(arguments.peers, [folder_of(n) for n in arguments.networks.split(",")])
    for peer in found_peers:
        print(peers.line(peer))
    for reason in left_out:
        print(f"left out: {reason}", file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "peers": found_peers}, indent=1) + "\n")
    if arguments.html:
        arguments.html.write_text(html_page(table, rows, networks, found_peers))
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
