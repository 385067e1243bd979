#!/usr/bin/env python3
"""int8 accuracy of Thimble beside PyTorch PT2E, on the same networks and data.

usage: accuracy.py [--program build/thimble] [--mobilenet-v2 DIR]

Compiles every network for cortex-m55 in both dialects, runs all of test.npz on the host, and writes
README.md beside this file. The figures of PT2E are in pt2e.json, made by pt2e.py (needs PyTorch).
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NETWORKS = ["hello_sin", "digits_cnn", "ad_autoencoder", "dscnn_kws", "resnet8", "mobilenet_v1_vww"]

HEADER = """# int8 accuracy beside PyTorch PT2E

Written by `accuracy.py`. SQNR in dB against the float network over all of `test.npz`
(10 log10 of the signal's variance over samples to the squared error); accuracy in per cent, float and int8.
PT2E: quantized by ExecuTorch 1.5.1's CortexMQuantizer and XNNPACKQuantizer, calibrated on the same samples (`pt2e.py`). The
second leaves a softmax at the end in float: its figures for dscnn_kws and resnet8 are those of float probabilities.
PT2E's figure for mobilenet_v2 is over the first 32 test images, Thimble's over all 64.

| network | Thimble | Thimble, `--compat executorch` | PT2E, Cortex-M | PT2E, XNNPACK | accuracy float | Thimble int8 |
|---|--:|--:|--:|--:|--:|--:|
"""


def run(program, *arguments):
    command = [str(program), *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(program, folder, name, *options):
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        run(program, "compile", folder / f"{name}.pt2", "--target", "cortex-m55", "--calibrate",
            folder / "calibrate.npz", "-o", pte, *options)
        return run(program, "compare", folder / f"{name}.pt2", pte, "--data", folder / "test.npz")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--mobilenet-v2", type=pathlib.Path)
    arguments = parser.parse_args()
    folders = {name: ROOT / "models" / name for name in NETWORKS}
    if arguments.mobilenet_v2:
        folders["mobilenet_v2"] = arguments.mobilenet_v2
    peers = json.loads((HERE / "pt2e.json").read_text())["networks"]
    text = HEADER
    for name, folder in folders.items():
        native = compare(arguments.program, folder, name)
        stock = compare(arguments.program, folder, name, "--compat", "executorch")
        percent = [f"{100 * native[key]:.1f}" if native.get(key) is not None else ""
                   for key in ("accuracy_float", "accuracy")]
        text += (f"| {name} | {native['sqnr_db'][0]:.1f} | {stock['sqnr_db'][0]:.1f} "
                 f"| {peers[name]['cortex_m']['sqnr_db']:.1f} | {peers[name]['xnnpack']['sqnr_db']:.1f} "
                 f"| {percent[0]} | {percent[1]} |\n")
    (HERE / "README.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
