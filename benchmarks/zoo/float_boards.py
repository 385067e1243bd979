# SPDX-License-Identifier: Apache-2.0
"""Runs networks in float32 (compile --float) on emulated boards and compares with the float evaluator.

    python3 float_boards.py measure FOLDER THIMBLE [NAME...] [--board-macs N]
    python3 float_boards.py table FOLDER [--bless]

The networks are those of networks.py that FOLDER has an export of (zoo.py export), and those of models/, whose names
begin with `models-`. A result is FOLDER/NAME.float.json; a network that has one is skipped, except that boards are run
that an earlier command did not run because of the MACs. `table` prints the table of README.md, or writes it. Rows of
networks without a result in FOLDER are kept.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from float_table import BOARDS, Float, networks, table

SECONDS = 600
BOARD_MACS = 100e6  # more MACs are by default not run on emulated boards


class Failed(Exception):
    """A command failed; the text is its message."""


def thimble(program: str, *words) -> dict:
    try:
        ran = subprocess.run([program, *map(str, words), "--json"], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"more than {SECONDS} s") from None
    if ran.returncode:
        raise Failed(ran.stderr.strip()[-600:] or f"exit {ran.returncode}")
    return json.loads(ran.stdout)


def inputs_of(network: Float, ports: list[dict], folder: Path) -> list:
    """The first sample, in the order of the network's inputs."""
    data = np.load(network.data)
    names = [name for name in data.files if name != "labels"]
    words = []
    for index, port in enumerate(ports):
        array = data[port["name"] if port["name"] in names else names[index]]
        count = int(np.prod([int(size) for size in port["shape"]]))
        path = folder / f"input_{index}.npy"
        np.save(path, array.reshape(-1)[:count].reshape([int(size) for size in port["shape"]]))
        words += ["--input", path]
    return words


def outputs(program: str, model: Path, inputs: list, place: str, folder: Path) -> list[np.ndarray]:
    target = folder / f"{model.stem}-{place}"
    target.mkdir()
    ran = thimble(program, "run", model, *inputs, "--on", place, "--output", target)
    return [np.load(target / f"output_{index}.npy") for index in range(len(ran["outputs"]))]


def difference(expected: np.ndarray, found: np.ndarray) -> float:
    """The largest difference of an element, as a part of the largest element."""
    if expected.dtype != np.float32:
        return 0.0 if np.array_equal(expected, found.reshape(expected.shape)) else float("inf")
    size = float(np.abs(expected).max()) or 1.0
    return float(np.abs(expected.astype(np.float64) - found.reshape(expected.shape)).max()) / size


def measure(network: Float, program: str, board_macs: float, earlier: dict | None) -> dict:
    row = earlier or {"exit": 0, "equal": [], "differs": [], "missing": dict.fromkeys(BOARDS, "MACs")}
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        try:
            reports = {place: thimble(program, "compile", network.model, "--target", core, "--float", "-o", folder / f"{place}.pte")
                       for place, core in BOARDS.items()}
        except Failed as error:
            return {"exit": 1, "reason": str(error)}
        report = reports["M55"]
        row |= {"macs": sum(op["macs"] for op in report["ops"]), "arena": report["arena_bytes"]}
        inputs = inputs_of(network, report["inputs"], folder)
        try:
            host = outputs(program, folder / "M55.pte", inputs, "host", folder)
            if earlier is None:
                expected = outputs(program, network.model, inputs, "eval", folder)
                row["difference"] = max(map(difference, expected, host))
                if network.eager:
                    row["eager"] = difference(expected[0], np.load(network.eager)["y"][0])
        except Failed as error:
            return {"exit": 1, "reason": str(error)}
        for place in BOARDS:
            if row["missing"].get(place) != "MACs" or row["macs"] > board_macs:
                continue
            del row["missing"][place]
            try:
                board = outputs(program, folder / f"{place}.pte", inputs, "qemu", folder)
            except Failed as error:
                row["missing"][place] = str(error)
                continue
            same = len(board) == len(host) and all(a.tobytes() == b.tobytes() for a, b in zip(board, host))
            row["equal" if same else "differs"].append(place)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("measure")
    command.add_argument("folder", type=Path)
    command.add_argument("thimble")
    command.add_argument("names", nargs="*")
    command.add_argument("--board-macs", type=float, default=BOARD_MACS, help="default: %(default).0f")
    command = commands.add_parser("table")
    command.add_argument("folder", type=Path)
    command.add_argument("--bless", action="store_true")
    args = parser.parse_args()
    if args.command == "table":
        table(args.folder, args.bless)
        return
    for network in networks(args.folder, args.names):
        path = args.folder / f"{network.key}.float.json"
        earlier = json.loads(path.read_text()) if path.exists() else None
        if not network.model.exists():
            continue
        if earlier and (earlier["exit"] or "MACs" not in earlier["missing"].values() or earlier["macs"] > args.board_macs):
            continue
        started = time.monotonic()
        row = measure(network, args.thimble, args.board_macs, earlier)
        path.write_text(json.dumps(row, indent=1) + "\n")
        print(f"{network.key:<40} {time.monotonic() - started:5.1f} s  {json.dumps(row)[:200]}", flush=True)


if __name__ == "__main__":
    main()
