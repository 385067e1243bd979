#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of stock files (`--compat executorch`) next to those of native files and of CMSIS-NN, under QEMU.

usage: stock.py [--program build/thimble] [--networks A,B] [--cores M4,M55] [--layers] [--markdown]

`--layers` prints each layer that CMSIS-NN also has, and marks those with more instructions than its best build on that core.
"""

import argparse
import pathlib
import sys

import bench
import cmsis_nn
from measure import Failed, measure

NETWORKS = ["resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder", "mobilenet_v2_tiny", "mobilenet_v3_tiny"]
STOCK = ["--compat", "executorch"]


def rows(program, networks, cores):
    """[(network, core, native, stock)] as returned by measure()."""
    return [(network, core, measure(program, bench.folder_of(network), core),
             measure(program, bench.folder_of(network), core, STOCK))
            for network in networks for core in cores]


def same_layers(stock, known):
    """The pairs of cmsis_nn.pairs(), if the file has as many layers of each kind as CMSIS-NN's list; a compiler may turn a fully
    connected layer into a convolution."""
    pairs, alone = cmsis_nn.pairs(stock, known)
    return [] if alone else pairs


def above(stock, known):
    """The layers with more instructions than CMSIS-NN's, as text."""
    pairs = same_layers(stock, known)
    if not pairs:
        return "-"
    slower = [(ours / theirs, layer) for layer, _, ours, theirs in pairs if ours > theirs]
    if not slower:
        return f"0 of {len(pairs)}"
    ratio, layer = max(slower)
    return f"{len(slower)} of {len(pairs)}, most: {layer.split()[0]} {ratio:.2f}"


def cmsis_nn_total(stock, known):
    rival = known.get(stock["network"], {}).get(stock["core"])
    return rival["total"] if rival else None


def markdown(network, core, native, stock, known):
    """The row of README.md."""
    ours, theirs = stock["instructions"], cmsis_nn_total(stock, known)
    million = [f"{count / 1e6:.3f}" for count in (native["instructions"], ours)]
    rival = (f"{theirs / 1e6:.3f}", f"{ours / theirs:.2f}") if theirs else ("-", "-")
    return (f"| {network} | {core} | {million[1]} | {million[0]} | {ours / native['instructions']:.2f} | "
            f"{rival[0]} | {rival[1]} | {above(stock, known)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=bench.ROOT / "build/thimble")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--cores", default=",".join(bench.CORES))
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="print the rows of README.md")
    options = parser.parse_args()
    known = cmsis_nn.load()
    try:
        measured = rows(options.program, options.networks.split(","), options.cores.split(","))
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    for network, core, native, stock in measured:
        print(markdown(network, core, native, stock, known))
        if options.layers:
            for layer, name, ours, theirs in cmsis_nn.pairs(stock, known)[0]:
                print(f"  {layer:44} {name:24} {ours:12} {theirs:12} {ours / theirs:6.2f}{'  ABOVE' if ours > theirs else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
