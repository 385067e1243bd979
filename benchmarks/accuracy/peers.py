# SPDX-License-Identifier: Apache-2.0
"""Measures the int8 quantization of other tools on the networks of models/, as a reference for Thimble.

    python benchmarks/accuracy/peers.py [NAME ...] [--seed N]... [--peer PEER]... [--folder DIR] [--out FILE.json]

Peers: PyTorch's PT2E with three quantizers (pt2e.py) and LiteRT's quantizer (litert.py), with the samples of samples.py. A seed
is a choice of calibration samples. --folder is the folder of a network that is not in models/.

SQNR is 10 log10(sum (ref - mean of ref over samples)^2 / sum (ref - got)^2) over all held-out samples of an output, in dB: a
list with one number per output, null if an output equals the float output bit for bit. A peer that fails has `failed` with the
first line of its message. What is not measured keeps its entry in the output file.

Requires the packages of CONTRIBUTING.md ("Tests with PyTorch and ExecuTorch") and litert-torch 0.10.0. All networks and seeds
need about an hour on one core.
"""

import argparse
import json
import platform
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "models")]
import litert  # noqa: E402
import pt2e  # noqa: E402
import samples  # noqa: E402
from make import COMMITTED, ON_DEMAND  # noqa: E402

LARGE_TEST_IMAGES = 32  # for the networks with 224x224 images
PEERS = (*pt2e.QUANTIZERS, "litert")
PACKAGES = ("torch", "torchao", "executorch", "litert-torch", "ai-edge-quantizer", "ai-edge-litert", "numpy")


def sqnr_db(reference, got):
    reference, got = reference.double(), got.double()
    signal = ((reference - reference.mean(0, keepdim=True)) ** 2).sum()
    noise = ((reference - got) ** 2).sum()
    return round((10 * torch.log10(signal / noise)).item(), 2) if noise > 0 else None


def share_equal(scores, labels):
    return round((scores.reshape(len(labels), -1).argmax(1) == labels).double().mean().item(), 4)


def measure(folder, seed, peers, entry):
    def program():  # a new one each time, because PT2E changes weights in place
        return torch.export.load(str(folder / f"{folder.name}.pt2"))

    names = program().graph_signature.user_inputs
    calibrate, held = samples.split(folder, seed)
    limit = LARGE_TEST_IMAGES if folder.name in ON_DEMAND else None
    labels = torch.from_numpy(held["labels"])[:limit] if "labels" in held else None
    calibrate = [torch.from_numpy(calibrate[name]) for name in names]
    inputs = [torch.from_numpy(held[name])[:limit] for name in names]
    reference = pt2e.Network(program().module(check_guards=False)).run(inputs)
    entry |= {"calibration_samples": len(calibrate[0]), "samples": len(inputs[0])}
    if labels is not None:
        entry["accuracy_float"] = share_equal(reference[0], labels)
    for peer in peers:
        started = time.monotonic()
        try:
            if peer == "litert":
                got, result = litert.measure(program(), calibrate, inputs)
            else:
                got, result = pt2e.measure(program(), calibrate, inputs, peer)
        except Exception as error:  # anything that a peer does not support
            lines = str(error).strip().splitlines() or [""]
            entry[peer] = {"failed": f"{type(error).__name__}: {lines[0]}"[:160]}
            print(f"{folder.name} seed {seed} {peer}: {entry[peer]}", flush=True)
            continue
        result["sqnr_db"] = [sqnr_db(*pair) for pair in zip(reference, got)]
        if labels is not None:
            result["accuracy"] = share_equal(got[0], labels)
        entry[peer] = result
        print(f"{folder.name} seed {seed} {peer}: {result} ({time.monotonic() - started:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description="int8 accuracy of other tools on the networks of models/.")
    parser.add_argument("names", nargs="*", help="networks; all committed ones if none is given")
    parser.add_argument("--seed", type=int, action="append", choices=samples.MORE_SEEDS)
    parser.add_argument("--peer", action="append", choices=PEERS)
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the one named network is")
    parser.add_argument("--out", type=Path, default=HERE / "peers.json")
    arguments = parser.parse_args()
    if arguments.folder and len(arguments.names) != 1:
        parser.error("--folder needs one network")
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")

    report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    networks = report.get("networks", {})
    for name in arguments.names or COMMITTED:
        base = "build/models" if name in ON_DEMAND else "models"
        seeds = networks.setdefault(name, {})
        for seed in arguments.seed or samples.seeds_of(name):
            measure(arguments.folder or ROOT / base / name, seed, arguments.peer or PEERS, seeds.setdefault(str(seed), {}))
        report = {
            "versions": {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}},
            "networks": {name: networks[name] for name in COMMITTED + ON_DEMAND if name in networks},
        }
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
