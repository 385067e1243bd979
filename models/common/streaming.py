"""Causal convolutions over an endless row of frames, seven at a time: place and loudness of a gliding tone.

What a convolution must remember of earlier frames is an argument of `step` and a result.
"""

import torch
from torch import nn

from .export import on_grid
from .sounds import gliding_tones
from .train import batches, fit, seed_everything

COEFFICIENTS, CHANNELS, KERNEL, AT_ONCE, CALLS = 10, 16, 5, 7, 7


class CausalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(COEFFICIENTS, CHANNELS, KERNEL)
        self.depthwise = nn.Conv1d(CHANNELS, CHANNELS, KERNEL, groups=CHANNELS)
        self.pointwise = nn.Conv1d(CHANNELS, CHANNELS, 1)
        self.last = nn.Conv1d(CHANNELS, 2, 1)

    def step(self, x, past1, past2):
        """`past1`, `past2`: the KERNEL - 1 columns before x of the two convolutions' inputs."""
        x = torch.cat([past1, x], 2)
        y = torch.relu(self.conv1(x))
        y = torch.cat([past2, y], 2)
        z = torch.relu(self.pointwise(torch.relu(self.depthwise(y))))
        return torch.tanh(self.last(z)), x[:, :, -(KERNEL - 1) :], y[:, :, -(KERNEL - 1) :]


def zero_state(count=1):
    return torch.zeros(count, COEFFICIENTS, KERNEL - 1), torch.zeros(count, CHANNELS, KERNEL - 1)


def data(count, seed):
    frames, wanted = gliding_tones(count, seed, frames=AT_ONCE * CALLS)
    return torch.from_numpy(on_grid(frames)), torch.from_numpy(wanted)


class Whole(nn.Module):
    """All frames at once, to train on."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net.step(x, *zero_state(len(x)))[0]


def train(net, seed):
    seed_everything(seed)
    model = fit(
        Whole(net()),
        batches(*data(1024, 100 * seed + 1), 32, torch.Generator().manual_seed(seed)),
        nn.functional.mse_loss,
        steps=600,
        peak_rate=5e-3,
        log_every=200,
    )
    x, wanted = data(200, 100 * seed + 2)
    with torch.no_grad():
        error = (model(x) - wanted).abs().mean((0, 2)).tolist()
    print(f"  new sounds, mean error of place and loudness: {error[0]:.3f}, {error[1]:.3f}")
    return model.net


@torch.no_grad()
def calls(net, seed, sounds=4):
    """Sounds cut into calls, each sound after the other, with the states that each call begins with."""
    x, _ = data(sounds, seed)
    x = torch.cat(list(x), 1)[None]  # one row of frames
    states, rows = zero_state(), []
    for part in x.split(AT_ONCE, 2):
        rows.append((part, *states))
        _, *states = net.step(part, *states)
    return [torch.cat(column) for column in zip(*rows)]
