#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training recovers a recurrent network that loses accuracy when it is quantized.

    PYTHONPATH=build/python python examples/qat/recurrent.py

The network reads STEPS pairs of a number in [0, 1] and a mark. Two numbers are marked; the result is their sum. This is
the adding problem of Hochreiter and Schmidhuber (Long Short-Term Memory, 1997, section 5.4), with their measure: a
sequence is correct if the error is below 0.04. The network is a minimal gated unit (Zhou et al., 2016), written as
operators, so that the state is an int8 value that each step reads and rounds again.

Prints the share of correct sequences of

    float    the network in PyTorch
    PTQ      thimble.compile on the float network, with calibration data
    int16    the same with activations="int16"
    QAT      prepare_qat_pt2e with thimble_ml.Quantizer, continued training, convert_pt2e, thimble.compile

All but the first are results of the compiled program for a Cortex-M55. Then it prints for how many sequences the integers that
PyTorch computes (thimble_ml.integer_reference) are those of the compiled program. Needs torch and torchao; takes about
three minutes.
"""
import argparse
import math

import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

import thimble_ml as thimble
from thimble_ml.integer_reference import integer_reference
from thimble_ml.quantizer import Quantizer

STEPS, WIDTH, BATCH = 30, 16, 256
TARGETS = ["cortex-m4", "cortex-m55"]
LOSS = nn.MSELoss()


def sequences(count, generator):
    """Returns sequences, and the sums of their marked numbers: one in the first half, one in the second."""
    numbers, marks = torch.rand(count, STEPS, generator=generator), torch.zeros(count, STEPS)
    half = STEPS // 2
    for first, length in ((0, half), (half, STEPS - half)):
        place = first + (torch.rand(count, generator=generator) * length).long()
        marks[torch.arange(count), place] = 1
    return torch.stack([numbers, marks], 2), (numbers * marks).sum(1, keepdim=True)


class Adder(nn.Module):
    """A minimal gated unit: the gate is the share of the new value in the state."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, WIDTH), nn.Linear(WIDTH, 1)
        self.gate, self.new = nn.Linear(2 + WIDTH, WIDTH), nn.Linear(2 + WIDTH, WIDTH)
        nn.init.constant_(self.gate.bias, -2.0)

    def forward(self, x):
        state = torch.tanh(self.first(x[:, 0]))
        for step in range(1, STEPS):
            both = torch.cat([x[:, step], state], 1)
            gate, new = torch.sigmoid(self.gate(both)), torch.tanh(self.new(both))
            state = state + gate * (new - state)
        return self.last(state)


def train(model, steps, rate, seed):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.5 * rate * (1 + math.cos(math.pi * step / steps))
        x, y = sequences(BATCH, generator)
        loss = LOSS(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def aware(model, x, steps, rate):
    """Continues training with rounding in the forward pass."""
    size = torch.export.Dim("batch", min=1, max=BATCH)
    module = torch.export.export(model.train(), (x[:BATCH],), dynamic_shapes=({0: size},)).module(check_guards=False)
    prepared = train(prepare_qat_pt2e(module, Quantizer("cortex-m55", qat=True)), steps, rate, seed=2)
    move_exported_model_to_eval(prepared)
    return torch.export.export(convert_pt2e(prepared), (x[:1],))


def run(compiled, x):
    """Returns the outputs of the compiled program, sequence by sequence."""
    return torch.from_numpy(compiled.run(x[:, None].numpy())).reshape(len(x), 1)


def show(name, outputs, y):
    print(f"{name:<6} {100 * float(((outputs - y).abs() < 0.04).float().mean()):.1f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000, help="sequences of the test")
    parser.add_argument("--steps", type=int, default=1500, help="of training in float")
    parser.add_argument("--qat-steps", type=int, default=1200)
    parser.add_argument("--qat-rate", type=float, default=3e-3)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = train(Adder().train(), arguments.steps, 1e-2, seed=1).eval()
    x, y = sequences(arguments.samples, torch.Generator().manual_seed(99))
    with torch.no_grad():
        show("float", model(x), y)
    calibration, _ = sequences(256, torch.Generator().manual_seed(5))
    for name, options in (("PTQ", {}), ("int16", {"activations": "int16"})):
        compiled = thimble.compile(model, (x[:1],), target="cortex-m55", calibration=calibration, **options)
        show(name, run(compiled, x), y)
    program = aware(model, x, arguments.qat_steps, arguments.qat_rate)
    show("QAT", run(thimble.compile(program, target="cortex-m55"), x), y)
    for target in TARGETS:
        device = run(thimble.compile(program, target=target), x)
        equal = int((integer_reference(program, target)(x)[0].reshape(device.shape) == device).sum())
        print(f"{target:<10} {equal} of {len(x)} samples equal", flush=True)


if __name__ == "__main__":
    main()
