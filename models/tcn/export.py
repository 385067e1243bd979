"""tcn: residual blocks of causal dilated convolutions over time (49 frames of 10 coefficients, 12 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import glides, train_and_save

CHANNELS, KERNEL, DILATIONS = 24, 3, (1, 2, 4, 8)


class CausalConv(nn.Conv1d):
    """Sees no frame that is yet to come: all padding is at the beginning."""

    def __init__(self, inputs, outputs, dilation):
        super().__init__(inputs, outputs, KERNEL, dilation=dilation)
        self.before = (KERNEL - 1) * dilation

    def forward(self, x):
        return super().forward(nn.functional.pad(x, (self.before, 0)))


class Block(nn.Module):
    def __init__(self, inputs, dilation):
        super().__init__()
        self.conv1, self.conv2 = CausalConv(inputs, CHANNELS, dilation), CausalConv(CHANNELS, CHANNELS, dilation)
        self.around = nn.Conv1d(inputs, CHANNELS, 1) if inputs != CHANNELS else None
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        y = self.dropout(torch.relu(self.conv1(x)))
        y = self.dropout(torch.relu(self.conv2(y)))
        return torch.relu(y + (x if self.around is None else self.around(x)))


class Tcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(
            *[Block(10 if i == 0 else CHANNELS, dilation) for i, dilation in enumerate(DILATIONS)]
        )
        self.last = nn.Linear(CHANNELS, 12)

    def forward(self, x):
        return self.last(self.blocks(x)[:, :, -1])


def data(count, seed):
    frames, labels = glides(count, seed)
    return frames.transpose(1, 2).contiguous(), labels


def build(out: Path):
    train_and_save("tcn", Tcn, out, data, seed=72, steps=500, peak_rate=4e-3)
