#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the int8 accuracy of Thimble and of other tools on the same networks and data.

usage: accuracy.py [--program build/thimble] [NAME ...] [--seed N] [--print | --check]

Compiles every network for cortex-m55 with the samples of each seed (samples.py), runs the held-out samples on the host, and
writes README.md and thimble.json in this folder; with --check it compares. The figures of the other tools are in peers.json,
written by peers.py, which needs PyTorch; this program needs NumPy. With NAME only these networks are measured.
--print: writes README.md from the two files without a measurement.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "models")]
import table  # noqa: E402
from make import COMMITTED  # noqa: E402


def run(program, *arguments):
    command = [str(program), *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(program, folder, name, *options, data=None):
    """Compiles with `folder`/calibrate.npz and compares on `folder`/test.npz; both are of another folder if `data` names it.
    Returns None if the compiler rejects the network."""
    data = data or folder
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        try:
            run(program, "compile", folder / f"{name}.pt2", "--target", "cortex-m55", "--calibrate", data / "calibrate.npz",
                "-o", pte, *options)
        except subprocess.CalledProcessError as refusal:
            if refusal.returncode < 0:  # a crash
                raise
            print(f"{name} {' '.join(options)}: {refusal.stderr.strip()}", file=sys.stderr)
            return None
        return run(program, "compare", folder / f"{name}.pt2", pte, "--data", data / "test.npz")


def decibels(values):
    return table.decibels(values if isinstance(values, list) else [values])


def figures(result):
    if result is None:
        return None
    values = result["sqnr_db"] if isinstance(result["sqnr_db"], list) else [result["sqnr_db"]]
    entry = {"sqnr_db": [None if value is None else round(value, 2) for value in values]}
    for key in ("accuracy", "accuracy_float"):
        if result.get(key) is not None:
            entry[key] = round(result[key], 4)
    return entry


def float_options(names):
    return [word for name in names for word in ("--quant", f"{name}=float")]


def same_in_float(compare_with, peer):
    """Returns the figures with the operators in float that a peer kept in float. If the peer exported the network again, its
    nodes may have other names; then all operators of these kinds are in float."""
    result = figures(compare_with(*float_options(peer["float_nodes"])))
    if result is not None:
        return result
    result = figures(compare_with(*float_options(peer["float_ops"])))
    return result and result | {"all_of_kind": True}


def measure(program, name, seed, peers):
    """Returns the figures of one network with the samples of one seed: int8, with --compat executorch, and with the operators
    in float that a peer kept in float (by peer)."""
    import numpy as np  # here, so that compare() needs no NumPy
    import samples
    folder = ROOT / "models" / name
    with tempfile.TemporaryDirectory() as temporary:
        data = pathlib.Path(temporary)
        for file, arrays in zip(("calibrate.npz", "test.npz"), samples.split(folder, seed)):
            np.savez(data / file, **arrays)
        entry = {
            "int8": figures(compare(program, folder, name, data=data)),
            "executorch": figures(compare(program, folder, name, "--compat", "executorch", data=data)),
        }
        for which, peer in peers.items():
            if isinstance(peer, dict) and peer.get("float_nodes"):
                entry[f"float as {which}"] = same_in_float(
                    lambda *options: compare(program, folder, name, *options, data=data), peer)
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seed", type=int, help="measures only this one")
    arguments = parser.parse_args()
    import labelled
    import samples
    peers = json.loads((HERE / "peers.json").read_text())
    ours_path = HERE / "thimble.json"
    ours = json.loads(ours_path.read_text()) if ours_path.exists() else {"networks": {}, "labelled": {}}
    if not arguments.print:
        names = arguments.names or COMMITTED
        jobs = [(name, seed) for name in names for seed in samples.seeds_of(name) if arguments.seed in (None, seed)]
        if not jobs:
            sys.exit(f"--seed {arguments.seed}: " + ", ".join(f"{name} has {list(samples.seeds_of(name))}" for name in names))
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda job: measure(arguments.program, *job, peers["networks"][job[0]][str(job[1])]), jobs)
            measured = dict(zip(jobs, found))
        networks = ours["networks"] if arguments.names or arguments.seed is not None else {}
        for (name, seed), entry in measured.items():
            networks.setdefault(name, {})[str(seed)] = entry
        counted = {name: labelled.measure(arguments.program, name, run) for name in labelled.NETWORKS if name in names}
        ours = {"networks": networks, "labelled": (ours["labelled"] if arguments.names else {}) | counted}
    text = table.readme(ours, peers)
    if not arguments.check:
        ours_path.write_text(json.dumps(ours, indent=1) + "\n")
        (HERE / "README.md").write_text(text)
    elif text != (HERE / "README.md").read_text() or ours != json.loads(ours_path.read_text()):
        print(text)
        sys.exit(f"{HERE}/README.md or thimble.json differs; to write them: python3 benchmarks/accuracy/accuracy.py")


if __name__ == "__main__":
    main()
