#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes a network in PyTorch for an Ethos-U and compiles it with Thimble.

    python examples/ethos_u/quantize.py [--thimble build/thimble] [--target corstone-300] [--out DIR]

1. exports the CNN of models/digits_cnn, trained on scikit-learn's scanned digits (float, digits.pt2)
2. quantizes it with ExecuTorch's EthosUQuantizer: prepare_pt2e, calibration, convert_pt2e (digits_int8.pt2)
3. compiles both for the target: the float one with calibration data, the quantized one without data
4. runs both files on 599 test digits and prints the accuracy

Needs torch, torchao, executorch (with tosa-tools) and scikit-learn; takes about a minute, most of it training.
"""
import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer.arm_quantizer import EthosUQuantizer, get_symmetric_quantization_config
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402
from digits_cnn.export import DigitsCnn, data, jittered  # noqa: E402

CALIBRATION = 64


def trained():
    seed_everything(3)
    generator = torch.Generator().manual_seed(3)
    train, test = data()
    model = fit(DigitsCnn(), jittered(batches(*train, 64, generator), generator), nn.CrossEntropyLoss(label_smoothing=0.05), steps=1200,
                peak_rate=5e-3, weight_decay=1e-3)
    return model.eval(), train, test


def quantized(model, samples):
    """The converted graph, exported again with a batch of one."""
    example = (samples[:1],)
    quantizer = EthosUQuantizer(EthosUCompileSpec("ethos-u55-128")).set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model, example).module(check_guards=False), quantizer)
    for sample in samples:
        prepared(sample[None])
    return torch.export.export(convert_pt2e(prepared), example)


def thimble(program, *arguments):
    subprocess.run([str(program), *map(str, arguments)], check=True)


def judged(program, pte, out, images, labels):
    np.save(out / "test.npy", images.numpy())  # one call per image
    thimble(program, "run", pte, "--input", out / "test.npy", "--steps", "--output", out)
    answers = np.load(out / "output_0.npy").reshape(len(labels), -1).argmax(1)
    return float((answers == labels.numpy()).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thimble", default=ROOT / "build" / "thimble")
    parser.add_argument("--target", default="corstone-300")
    parser.add_argument("--out", type=Path, default=Path("ethos_u_out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    model, (images, _), (test_images, test_labels) = trained()
    torch.export.save(torch.export.export(model, (images[:1],)), options.out / "digits.pt2")
    np.savez(options.out / "calibrate.npz", x=images[:CALIBRATION].numpy())
    torch.export.save(quantized(model, images[:CALIBRATION]), options.out / "digits_int8.pt2")

    thimble(options.thimble, "compile", options.out / "digits.pt2", "--target", options.target, "--calibrate",
            options.out / "calibrate.npz", "-o", options.out / "digits.pte")
    thimble(options.thimble, "compile", options.out / "digits_int8.pt2", "--target", options.target, "-o",
            options.out / "digits_int8.pte")
    print(f"float in PyTorch         {accuracy(model, test_images, test_labels):.2%}")
    for name, what in (("digits", "quantized by Thimble"), ("digits_int8", "quantized in PyTorch")):
        share = judged(options.thimble, options.out / f"{name}.pte", options.out, test_images, test_labels)
        print(f"{what:<24} {share:.2%}")


if __name__ == "__main__":
    main()
