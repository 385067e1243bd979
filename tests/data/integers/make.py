"""Writes integers.pt2, a network that computes integers at run time, with calibrate.npz and test.npz.

    python tests/data/integers/make.py

Position ids by cumsum of a mask, a mean over the tokens that are not padding, conditions on lengths, arithmetic, and
outputs of type float32, int64, int32 and bool. Needs PyTorch 2.13.
"""
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))
from common.export import tidy_source_names  # noqa: E402

WORDS, TOKENS = 20, 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, 12), nn.Embedding(TOKENS + 2, 12)
        self.out = nn.Linear(12, 4)

    def forward(self, ids):
        mask = ids.ne(1).int()
        at = mask.cumsum(1).type_as(mask) * mask
        states = torch.tanh(self.words(ids) + self.places(at.long() + 1))
        length = mask.sum(1)
        total = (states * mask[:, :, None].float()).sum(1)
        live = torch.arange(TOKENS) < length[:, None]
        mixed = torch.where(live, ids * 3 // 2 - at % 3, (ids ^ at) & 6)
        return (self.out(total) + length[:, None].float() * 0.1, mixed, length - ids.amax(1).int(), live & (ids > 4),
                (ids == 7).any(1), (ids > 0).all(1), ids.argmax(1), ids.clamp(2, 9).abs().sum())


def main():
    torch.manual_seed(22)
    net = Net().eval()
    draw = np.random.default_rng(22)

    def tokens(count):
        ids = draw.integers(0, WORDS, (count, 2, TOKENS))
        for row in ids.reshape(-1, TOKENS):
            row[draw.integers(2, TOKENS + 1):] = 1
        return ids

    program = torch.export.export(net, (torch.zeros(2, TOKENS, dtype=torch.int64),))
    tidy_source_names(program)
    torch.export.save(program, HERE / "integers.pt2")
    np.savez(HERE / "calibrate.npz", ids=tokens(48))
    np.savez(HERE / "test.npz", ids=tokens(6))


if __name__ == "__main__":
    main()
