#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training recovers a network that loses its accuracy when it is quantized.

    python examples/qat/recover.py [--targets cortex-m4 ...] [--qemu 8]

Trains a depthwise-separable network on scikit-learn's digits, gives its channels uneven gains (see
README.md), and prints the accuracy on the test digits of

    float    the network in PyTorch
    PTQ      prepare_pt2e with thimble_ml.Quantizer, calibration, convert_pt2e
    QAT      prepare_qat_pt2e with thimble_ml.Quantizer, continued training, convert_pt2e

PTQ and QAT are results of `thimble run` on the compiled file. Then it compares, for each target, the
integers that PyTorch computes (thimble_ml.integer_reference) with the integers of the compiled
file: every output of every sample. Needs torch, torchao and scikit-learn, and thimble_ml on
PYTHONPATH; takes a few minutes.
"""
import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from thimble_ml.integer_reference import integer_reference
from thimble_ml.quantizer import Quantizer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402
from digits_cnn.export import data, jittered  # noqa: E402

BATCH = 64
TARGETS = ["cortex-m4", "cortex-m55", "ethos-u55-128", "nrf54lm20b", "imxrt700cm"]
LOSS = nn.CrossEntropyLoss(label_smoothing=0.05)


class Separable(nn.Module):
    """Two depthwise convolutions between pointwise ones, each with a batch norm and a relu."""

    def __init__(self):
        super().__init__()
        layers, inputs = [], 1
        for outputs, kernel, stride, depthwise in [(16, 3, 1, False), (16, 3, 1, True), (32, 1, 1, False),
                                                   (32, 3, 2, True), (32, 1, 1, False)]:
            groups = inputs if depthwise else 1
            convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
            layers.append(nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU()))
            inputs = outputs
        self.features = nn.Sequential(*layers)
        self.last = nn.Linear(inputs, 10)

    def forward(self, x):
        x = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.last(torch.flatten(x, 1))


@torch.no_grad()
def make_uneven(model, spread=4):
    """Multiplies each channel's gain by 2^-spread to 2^spread, and divides the weights that read it.

    Powers of two are exact and relu is linear for positive factors, so the function is the same.
    """
    generator = torch.Generator().manual_seed(1)
    readers = [layer[0] for layer in model.features[1:]] + [model.last]
    for layer, reader in zip(model.features, readers):
        norm = layer[1]
        gain = torch.exp2(torch.randint(-spread, spread + 1, (norm.num_features,), generator=generator))
        norm.weight *= gain
        norm.bias *= gain
        dimension = 0 if getattr(reader, "groups", 1) > 1 else 1
        shape = [-1 if i == dimension else 1 for i in range(reader.weight.dim())]
        reader.weight /= gain.reshape(shape)
    return model


def stream(train, seed):
    generator = torch.Generator().manual_seed(seed)
    return jittered(batches(*train, BATCH, generator), generator)


def exported(model, batch):
    size = torch.export.Dim("batch", min=1, max=BATCH)
    return torch.export.export(model, (batch,), dynamic_shapes=({0: size},)).module(check_guards=False)


def post_training(model, x, arguments):
    prepared = prepare_pt2e(exported(model.eval(), x[:BATCH]), Quantizer("cortex-m55"))
    for batch in x[:4 * BATCH].split(BATCH):
        prepared(batch)
    return convert_pt2e(prepared)


def aware(model, train, arguments):
    """Continues training with rounding in the forward pass."""
    quantizer = Quantizer("cortex-m55", qat=True)
    prepared = prepare_qat_pt2e(exported(model.train(), train[0][:BATCH]), quantizer)
    optimizer = torch.optim.AdamW(prepared.parameters(), lr=5e-3)
    samples = stream(train, seed=17)
    for step in range(arguments.qat_steps):
        for group in optimizer.param_groups:
            group["lr"] = 2.5e-3 * (1 + math.cos(math.pi * step / arguments.qat_steps))
        x, y = next(samples)
        loss = LOSS(prepared(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    move_exported_model_to_eval(prepared)
    return convert_pt2e(prepared)


def run(arguments, program, target, x, *options):
    """Returns the outputs of the compiled model, sample by sample."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        torch.export.save(program, folder / "net.pt2")
        command = [arguments.thimble, "compile", folder / "net.pt2", "--target", target, "-o", folder / "net.pte"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        np.save(folder / "x.npy", x[:, None].numpy())
        command = [arguments.thimble, "run", folder / "net.pte", "--steps", "--input", folder / "x.npy",
                   "--output", folder / "out", *options]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        return torch.from_numpy(np.load(folder / "out/output_0.npy").reshape(len(x), -1))


def equal_samples(reference, x, device):
    """Returns the number of samples of which every output is equal."""
    computed = reference(x)[0]
    return int((computed == device).all(1).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thimble", default=str(ROOT / "build/thimble"))
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--qemu", type=int, default=8, help="samples on the emulated Cortex-M55")
    parser.add_argument("--steps", type=int, default=600, help="of training in float")
    parser.add_argument("--qat-steps", type=int, default=800)
    arguments = parser.parse_args()
    seed_everything(3)
    train, test = data()
    model = fit(Separable(), stream(train, seed=3), LOSS, steps=arguments.steps, peak_rate=5e-3, weight_decay=1e-3)
    model = make_uneven(model).eval()
    example = test[0][:1]
    print(f"float  {100 * accuracy(model, *test):.2f} %", flush=True)
    ptq = torch.export.export(post_training(model, train[0], arguments), (example,))
    qat = torch.export.export(aware(model, train, arguments), (example,))
    for name, program in [("PTQ", ptq), ("QAT", qat)]:
        answers = run(arguments, program, "cortex-m55", test[0]).argmax(1)
        print(f"{name}    {100 * float((answers == test[1]).float().mean()):.2f} %", flush=True)
    for target in arguments.targets:
        reference = integer_reference(qat, target)
        equal = equal_samples(reference, test[0], run(arguments, qat, target, test[0]))
        print(f"{target:<14} {equal} of {len(test[0])} samples equal", flush=True)
    if arguments.qemu:
        reference = integer_reference(qat, "cortex-m55")
        x = test[0][:arguments.qemu]
        equal = equal_samples(reference, x, run(arguments, qat, "cortex-m55", x, "--on", "qemu"))
        print(f"{'M55 on QEMU':<14} {equal} of {len(x)} samples equal", flush=True)


if __name__ == "__main__":
    main()
