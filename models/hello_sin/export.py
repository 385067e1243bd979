"""hello_sin: a 1-16-16-1 perceptron that computes sin x for x in [0, 2 pi]."""

import math
from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.train import fit, seed_everything

TURN = 2 * math.pi


class HelloSin(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden1 = nn.Linear(1, 16)
        self.hidden2 = nn.Linear(16, 16)
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.last(x)


def stream(generator):
    while True:
        x = torch.rand(256, 1, generator=generator) * (TURN + 0.2) - 0.1
        yield x, torch.sin(x)


def largest_error(model):
    x = torch.linspace(0, TURN, 1000)[:, None]
    with torch.no_grad():
        return (model(x) - torch.sin(x)).abs().max().item()


def train(seed):
    seed_everything(seed)
    model = HelloSin()
    with torch.no_grad():  # spread the hinges of the first layer over the interval
        centres = torch.linspace(0, TURN, 16)
        model.hidden1.weight.copy_(torch.tensor([0.5, -0.5]).repeat(8)[:, None])
        model.hidden1.bias.copy_(-model.hidden1.weight[:, 0] * centres)
    generator = torch.Generator().manual_seed(seed)
    fit(model, stream(generator), nn.MSELoss(), steps=6000, peak_rate=1e-2)
    return refine(model)


def refine(model):
    """Full-batch quasi-Newton steps; the fourth power weighs the worst points most."""
    x = torch.linspace(-0.1, TURN + 0.1, 1000)[:, None]
    y = torch.sin(x)
    optimizer = torch.optim.LBFGS(
        model.parameters(),
        max_iter=1500,
        history_size=50,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-12,
        tolerance_change=1e-14,
    )

    def loss():
        optimizer.zero_grad()
        difference = model(x) - y
        value = (difference**2).mean() + 100 * (difference**4).mean()
        value.backward()
        return value

    optimizer.step(loss)
    return model.eval()


def build(out: Path):
    model = train(seed=1)
    print(f"  largest error against sin over 1000 points: {largest_error(model):.4f}")
    calibrate = torch.linspace(0, TURN, 64)[:, None]
    test = torch.rand(256, 1, generator=torch.Generator().manual_seed(77)) * TURN
    save("hello_sin", model, out, calibrate=(calibrate, None), test=(test, None))
