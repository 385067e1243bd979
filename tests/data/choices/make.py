"""Writes choices.pt2, a network whose outputs are positions and truth values, with calibrate.npz and test.npz.

    python tests/data/choices/make.py

argmax and argmin, top-k with its values, also of masked scores, a sorted row, a comparison, and `any`. Needs PyTorch 2.13.
"""
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))
from common.export import tidy_source_names  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(12, 16), nn.Linear(16, 10)

    def forward(self, x):
        scores = self.out(torch.tanh(self.hidden(x)))
        best = scores.topk(3)
        open_scores = scores.masked_fill(x[:, :10] > 0, float("-inf"))
        return (scores.argmax(1), scores.argmin(1).int(), best.values, best.indices, open_scores.topk(2).indices,
                scores.sort(1).values, scores > 0.1, (scores > 0.5).any(1))


def main():
    torch.manual_seed(26)
    net = Net().eval()
    draw = np.random.default_rng(26)

    def samples(count):
        return draw.standard_normal((count, 2, 12)).astype(np.float32)

    program = torch.export.export(net, (torch.zeros(2, 12),))
    tidy_source_names(program)
    torch.export.save(program, HERE / "choices.pt2")
    np.savez(HERE / "calibrate.npz", x=samples(48))
    np.savez(HERE / "test.npz", x=samples(6))


if __name__ == "__main__":
    main()
