#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training with PyTorch; Thimble compiles the network with the trained quantization parameters.

    python examples/qat/qat.py [--thimble build/thimble] [--target cortex-m55]

Trains two small networks on scikit-learn's digits, the CNN of models/digits_cnn and one with residual
connections, and prints the accuracy on test digits of

    float           the trained network in PyTorch
    PTQ, Thimble    the float export, compiled with calibration data
    PTQ, PyTorch    prepare_pt2e and convert_pt2e, compiled without any data
    QAT, PyTorch    prepare_qat_pt2e, continued training, convert_pt2e, compiled without any data

All int8 figures are results of `thimble run` on the compiled file. Needs torch, torchao, executorch (for the
XNNPACK quantizer) and scikit-learn; takes about two minutes.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402
from digits_cnn.export import DigitsCnn, data, jittered  # noqa: E402

BATCH = 64


class Residual(nn.Module):
    """Convolutions with residual connections; the second halves the image."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.around = nn.Identity() if inputs == outputs and stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.around(x))


class DigitsResidual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.stack1 = Residual(16, 16, 1)
        self.stack2 = Residual(16, 32, 2)
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        x = self.stack2(self.stack1(self.first(x)))
        return self.last(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


def stream(train, seed):
    generator = torch.Generator().manual_seed(seed)
    return jittered(batches(*train, BATCH, generator), generator)


def quantizer(qat):
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True, is_qat=qat))


def exported(model, batch):
    """Exported for any batch of up to 64, so that one graph is used for training, tests and the compiler."""
    size = torch.export.Dim("batch", min=1, max=BATCH)
    return torch.export.export(model, (batch,), dynamic_shapes=({0: size},))


def post_training(model, calibrate):
    prepared = prepare_pt2e(exported(model.eval(), calibrate).module(check_guards=False), quantizer(False))
    prepared(calibrate)
    return convert_pt2e(prepared)


def aware(model, train, steps):
    """Continues training with rounding in the forward pass; batch norms are frozen."""
    x, y = train
    prepared = prepare_qat_pt2e(exported(model.train(), x[:BATCH]).module(check_guards=False), quantizer(True))
    optimizer = torch.optim.AdamW(prepared.parameters(), lr=3e-4)
    loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)
    samples = stream(train, seed=17)
    move_exported_model_to_eval(prepared)
    for _ in range(steps):
        x, y = next(samples)
        loss = loss_function(prepared(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return convert_pt2e(prepared)


def on_device(arguments, model, calibrate, test, quantized):
    """Accuracy of the compiled model, which is run sample by sample."""
    x, y = test
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        torch.export.save(torch.export.export(model, (x[:1],)), folder / "net.pt2")
        np.savez(folder / "calibrate.npz", x=calibrate.numpy())
        data_options = [] if quantized else ["--calibrate", folder / "calibrate.npz"]
        command = [arguments.thimble, "compile", folder / "net.pt2", "--target", arguments.target,
                   "-o", folder / "net.pte", *data_options]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        np.save(folder / "x.npy", x[:, None].numpy())
        command = [arguments.thimble, "run", folder / "net.pte", "--steps", "--input", folder / "x.npy",
                   "--output", folder / "out"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        answers = np.load(folder / "out/output_0.npy").reshape(len(x), -1).argmax(1)
    return float((torch.from_numpy(answers) == y).float().mean())


def judge(arguments, name, model):
    train, test = data()
    calibrate = train[0][:BATCH]
    model = fit(model, stream(train, seed=3), nn.CrossEntropyLoss(label_smoothing=0.05), steps=arguments.steps,
                peak_rate=5e-3, weight_decay=1e-3)
    rows = [("float", accuracy(model, *test)),
            ("PTQ, Thimble", on_device(arguments, model, calibrate, test, quantized=False)),
            ("PTQ, PyTorch", on_device(arguments, post_training(model, calibrate), calibrate, test, quantized=True)),
            ("QAT, PyTorch", on_device(arguments, aware(model, train, arguments.steps // 4), calibrate, test,
                                       quantized=True))]
    for kind, value in rows:
        print(f"{name:<16}{kind:<16}{100 * value:.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thimble", type=Path, default=ROOT / "build/thimble")
    parser.add_argument("--target", default="cortex-m55")
    parser.add_argument("--steps", type=int, default=600, help="of training in float; a quarter of it for QAT")
    arguments = parser.parse_args()
    seed_everything(3)
    judge(arguments, "digits_cnn", DigitsCnn())
    judge(arguments, "residual", DigitsResidual())


if __name__ == "__main__":
    main()
