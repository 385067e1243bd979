#!/usr/bin/env python3
"""Compares the int8 accuracy of Thimble and PyTorch PT2E on the same networks and data.

usage: accuracy.py [--program build/thimble] [--on-demand DIR | --check]

Compiles every network for cortex-m55 in both dialects, runs all of test.npz on the host, and writes
README.md in this folder; with --check it compares. The figures of PT2E are in pt2e.json, written by pt2e.py (needs PyTorch).
--on-demand: prints a table that includes the networks that are too large to commit. DIR has them, for example build/models.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "models"))
from make import COMMITTED, ON_DEMAND  # noqa: E402

PT2E_LEAST = 15  # dB; if PT2E's int8 result is below this, there is nothing to compare with

HEADER = f"""# int8 accuracy compared with PyTorch PT2E

This table is written by `accuracy.py`. SQNR is in dB against the float network over all of `test.npz` (10 log10 of the ratio
of the signal's variance over samples to the squared error), with one figure for each output. Accuracy is in percent, for float
and for int8. PT2E networks are quantized by ExecuTorch 1.5.1's CortexMQuantizer and XNNPACKQuantizer and calibrated on the same
samples (`pt2e.py`); figures are given if one of the two reaches {PT2E_LEAST} dB.

Operators that a quantizer leaves in float, except those that only move data, are listed after its figure, which is then not an
int8 figure. They are not listed for the first six networks. XNNPACK leaves a softmax at the end in float,
which affects the figures of dscnn_kws and resnet8. A recurrent layer is counted as `torch.export` decomposes it. "Refused"
means that this version does not compile the network. `--on-demand` prints the table with the networks that are not committed;
there PT2E's figure is over the first 32 test images, Thimble's over all 64.

| network | Thimble | Thimble, `--compat executorch` | PT2E, Cortex-M | PT2E, XNNPACK | accuracy float | Thimble int8 |
|---|--:|--:|--:|--:|--:|--:|
"""


def run(program, *arguments):
    command = [str(program), *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(program, folder, name, *options):
    """Returns None if the compiler rejects the network."""
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        try:
            run(program, "compile", folder / f"{name}.pt2", "--target", "cortex-m55", "--calibrate",
                folder / "calibrate.npz", "-o", pte, *options)
        except subprocess.CalledProcessError as refusal:
            if refusal.returncode < 0:  # a crash
                raise
            print(f"{name} {' '.join(options)}: {refusal.stderr.strip()}", file=sys.stderr)
            return None
        return run(program, "compare", folder / f"{name}.pt2", pte, "--data", folder / "test.npz")


def decibels(values):
    values = values if isinstance(values, list) else [values]
    return ", ".join("exact" if value is None else f"{value:.1f}" for value in values)


def thimble_cell(result):
    return "refused" if result is None else decibels(result["sqnr_db"])


def least(entry):
    """The smallest figure of its outputs, without float outputs."""
    values = entry["sqnr_db"] if isinstance(entry["sqnr_db"], list) else [entry["sqnr_db"]]
    return min((value for value in values if value is not None), default=float("inf"))


def peer_cell(entry):
    entry = entry.get("decomposed", entry)
    left = ", ".join(f"{count} {name}" if count > 1 else name for name, count in entry.get("float_ops", {}).items())
    return decibels(entry["sqnr_db"]) + (f" (float: {left})" if left else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--on-demand", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folders = {name: ROOT / "models" / name for name in COMMITTED}
    if arguments.on_demand:
        folders |= {name: arguments.on_demand / name for name in ON_DEMAND}
    peers = json.loads((HERE / "pt2e.json").read_text())["networks"]
    text = HEADER
    for name, folder in folders.items():
        if name not in peers:
            print(f"{name}: left out, pt2e.py has not measured it", file=sys.stderr)
            continue
        quantizers = [peers[name][which] for which in ("cortex_m", "xnnpack")]
        if max(least(entry.get("decomposed", entry)) for entry in quantizers) < PT2E_LEAST:
            continue
        native = compare(arguments.program, folder, name)
        stock = compare(arguments.program, folder, name, "--compat", "executorch")
        percent = [f"{100 * native[key]:.1f}" if native and native.get(key) is not None else ""
                   for key in ("accuracy_float", "accuracy")]
        cells = [name, thimble_cell(native), thimble_cell(stock), *map(peer_cell, quantizers), *percent]
        text += f"| {' | '.join(cells)} |\n"
    print(text)
    if arguments.check and text != (HERE / "README.md").read_text():
        sys.exit(f"{HERE}/README.md differs; to write it: python3 benchmarks/accuracy/accuracy.py")
    if not arguments.check and not arguments.on_demand:
        (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    main()
