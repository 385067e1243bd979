#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""simple_rnn: a recurrent network that keeps its state in a buffer, one step per call.

    python examples/nordic/simple_rnn/export.py [--out DIR]

Two noisy sensors measure a turning shaft. Input `x` [1, 4]: cosine and sine of the first, cosine and sine of the second.
Sometimes one of them fails and reads 0. Output [1, 2]: cosine and sine without the noise.
"""

import math
import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.training import main  # noqa: E402, also makes models/ importable
from common.export import save, save_arrays  # noqa: E402
from common.train import fit, seed_everything  # noqa: E402

SEED = 21
HIDDEN = 8
STEPS = 48
WARM = 4  # steps that the network needs to find the speed of the shaft


class SimpleRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(4, HIDDEN)
        self.again = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, 2)
        self.register_buffer("h", torch.zeros(1, HIDDEN))

    def step(self, x, h):
        return torch.tanh(self.enter(x) + self.again(h))

    def forward(self, x):
        h = self.step(x, self.h)
        self.h.copy_(h)
        return self.last(h)


class Unrolled(nn.Module):
    """All steps of a sequence, for training."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        h, outputs = torch.zeros(len(x), HIDDEN), []
        for t in range(x.shape[1]):
            h = self.net.step(x[:, t], h)
            outputs.append(self.net.last(h))
        return torch.stack(outputs, 1)


def shafts(count, seed, steps=STEPS):
    """Sensor values, [count, steps, 4] on the grid k/64, and true values, [count, steps, 2]."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.rand(*shape, generator=generator)

    speed = 0.35 + 0.1 * draw(count, 1) + 0.02 * torch.randn(count, steps, generator=generator)
    angle = 2 * math.pi * draw(count, 1) + speed.cumsum(1)
    truth = torch.stack([angle.cos(), angle.sin()], 2)
    read = torch.stack([truth, truth], 2) + 0.25 * torch.randn(count, steps, 2, 2, generator=generator)
    read = read * (draw(count, steps, 2, 1) > 0.1)
    return torch.round(read.clamp(-1.98, 1.98) * 64).div(64).flatten(2), truth


def stream(seed):
    while True:
        yield shafts(64, seed)
        seed += 1


def error(got, truth):
    """Root mean square error of the shaft's angle in degrees, after the first WARM steps."""
    angle = torch.atan2(got[:, WARM:, 1], got[:, WARM:, 0]) - torch.atan2(truth[:, WARM:, 1], truth[:, WARM:, 0])
    return math.degrees(torch.remainder(angle + math.pi, 2 * math.pi).sub(math.pi).pow(2).mean().sqrt().item())


def build(out: Path):
    seed_everything(SEED)
    net = SimpleRnn()
    model = fit(Unrolled(net), stream(2100000), lambda got, wanted: nn.functional.mse_loss(got[:, WARM:], wanted[:, WARM:]),
                steps=1500, peak_rate=2e-2, log_every=500)
    x, truth = shafts(500, 2101)
    with torch.no_grad():
        got = model(x)
    raw = x.reshape(*x.shape[:2], 2, 2).sum(2)
    print(f"  angle of new shafts: {error(got, truth):.1f} degrees off; the two sensors' mean: {error(raw, truth):.1f}")
    calibrate = shafts(1, 2102, 128)[0][0]
    test, wanted = shafts(1, 2103, 128)
    with torch.no_grad():
        print(f"  test.npz: {error(model(test), wanted):.1f} degrees")
    save_arrays(out / "truth.npz", y=wanted[0])
    save("simple_rnn", net, out, calibrate=(calibrate, None), test=({"x": test[0]}, None))


if __name__ == "__main__":
    main(__file__, build)
