#!/usr/bin/env python3
"""Writes two_inputs.pt2 and two_inputs.npz: an image through convolutions, a second image through a depthwise
convolution and a linear layer, and a head that reads both. With `--engine-off` for the second branch, the core can
compute it while the NPU computes the first.

    python tests/data/overlap/make.py

Needs PyTorch 2.13 and numpy."""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))
from common.export import save_arrays, tidy_source_names  # noqa: E402


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.side = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.side_linear = nn.Linear(8, 16)
        self.head = nn.Linear(32, 10)

    def forward(self, x, y):
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        x = x.mean(dim=(2, 3))
        y = torch.relu(self.side(y))
        y = self.side_linear(y.mean(dim=(2, 3)))
        return self.head(torch.cat((x, torch.relu(y)), dim=1))


def main():
    torch.manual_seed(30)
    torch.set_num_threads(1)
    generator = np.random.default_rng(30)
    x = generator.integers(-8, 8, (4, 1, 4, 16, 16)).astype(np.float32) / 4
    y = generator.integers(-8, 8, (4, 1, 8, 16, 16)).astype(np.float32) / 4
    model = TwoInputs().eval()
    program = torch.export.export(model, (torch.from_numpy(x[0]), torch.from_numpy(y[0])))
    tidy_source_names(program)
    torch.export.save(program, HERE / "two_inputs.pt2")
    save_arrays(HERE / "two_inputs.npz", x=x, y=y)


if __name__ == "__main__":
    main()
