# SPDX-License-Identifier: Apache-2.0
"""Exports, compiles and runs the networks of networks.py, and prints a table.

    python3 zoo.py export FOLDER [NAME...]     with an environment that has the packages of requirements.txt
    python3 zoo.py measure FOLDER THIMBLE [NAME...] [--kinds result,equal,share] [--board-macs N]
    python3 zoo.py pt2e FOLDER [NAME...]       with an environment that has torch, torchao and executorch
    python3 zoo.py table FOLDER [--bless]      prints the tables, or writes them to README.md

An export is FOLDER/NAME.pt2, with 16 samples (FOLDER/NAME.npz) and the outputs of eager PyTorch for them
(FOLDER/NAME.eager.npz). A measurement is FOLDER/NAME.KIND.json. A step whose result exists is skipped, except
that boards are run for networks that had more MACs than the limit of an earlier command. The networks with the fewest MACs
are measured first.
"""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

from export import export, forked
from measure import (BOARD_MACS, PT2E_SECONDS, boards_remain, measure_equal, measure_pt2e, measure_result,
                     measure_share)
from networks import NETWORKS, Network
from table import table

KINDS = ("result", "equal", "share")


def chosen(names: list[str]) -> list[Network]:
    unknown = set(names) - {network.key for network in NETWORKS}
    if unknown:
        sys.exit(f"unknown networks {sorted(unknown)}, expected names like {NETWORKS[0].key}")
    return [network for network in NETWORKS if not names or network.key in names]


def read(folder: Path, network: Network, kind: str) -> dict | None:
    path = folder / f"{network.key}.{kind}.json"
    return json.loads(path.read_text()) if path.exists() else None


def write(folder: Path, network: Network, kind: str, row: dict, started: float) -> None:
    (folder / f"{network.key}.{kind}.json").write_text(json.dumps(row, indent=1) + "\n")
    print(f"{network.key:<40} {kind:<6} {time.monotonic() - started:5.1f} s  {json.dumps(row)[:200]}", flush=True)


def by_macs(folder: Path, networks: list[Network]) -> list[tuple[Network, float]]:
    """The networks that compile, with their MACs."""
    rows = [(network, read(folder, network, "result")) for network in networks]
    return sorted(((network, row["macs"]) for network, row in rows if row and row["exit"] == 0), key=lambda each: each[1])


def measure(folder: Path, thimble: str, networks: list[Network], kinds: list[str], board_macs: float) -> None:
    if "result" in kinds:
        exported = [network for network in networks if (folder / f"{network.key}.pt2").exists()]
        for network in sorted(exported, key=lambda each: (folder / f"{each.key}.pt2").stat().st_size):
            if read(folder, network, "result") is None:
                started = time.monotonic()
                write(folder, network, "result", measure_result(network, folder, thimble), started)
    for network, macs in by_macs(folder, networks):
        earlier = read(folder, network, "equal")
        if "equal" in kinds and (earlier is None or boards_remain(earlier, macs, board_macs)):
            started = time.monotonic()
            row = measure_equal(network, folder, thimble, macs, board_macs, earlier)
            write(folder, network, "equal", row, started)
        if "share" in kinds and read(folder, network, "share") is None:
            started = time.monotonic()
            write(folder, network, "share", measure_share(network, folder, thimble), started)


def pt2e(folder: Path, networks: list[Network]) -> None:
    """In one process that has imported PyTorch; each network in a process that is forked from it."""
    import torch
    torch.set_num_threads(1)  # a forked process cannot use the threads of its parent
    for module in ("executorch.backends.xnnpack.quantizer.xnnpack_quantizer", "torchao.quantization.pt2e.quantize_pt2e"):
        importlib.import_module(module)

    def work(network: Network, macs: float, started: float) -> None:
        write(folder, network, "pt2e", measure_pt2e(network, folder, macs), started)

    for network, macs in by_macs(folder, networks):
        if read(folder, network, "pt2e") is None:
            started = time.monotonic()
            error = forked(lambda: work(network, macs, started), PT2E_SECONDS)
            if error:
                write(folder, network, "pt2e", {"error": error.strip().splitlines()[-1]}, started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("export", "measure", "pt2e", "table"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "table":
            command.add_argument("--bless", action="store_true", help="write the tables to README.md")
            continue
        if name == "measure":
            command.add_argument("thimble")
            command.add_argument("--kinds", default=",".join(KINDS), help="default: %(default)s")
            command.add_argument("--board-macs", type=float, default=BOARD_MACS,
                                 help="networks with more MACs are not run on emulated boards; default: %(default).0f")
        command.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.command == "table":
        table(args.folder, args.bless)
    elif args.command == "export":
        export(args.folder, chosen(args.names))
    elif args.command == "pt2e":
        pt2e(args.folder, chosen(args.names))
    else:
        kinds = args.kinds.split(",")
        if not set(kinds) <= set(KINDS):
            sys.exit(f"unknown kinds {args.kinds}, expected some of {','.join(KINDS)}")
        measure(args.folder, args.thimble, chosen(args.names), kinds, args.board_macs)


if __name__ == "__main__":
    main()
