#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""multi_layer: multiplies the results of two parallel layers; a third layer classifies the state of a motor.

    python examples/nordic/multi_layer/export.py [--out DIR]

Input `x` [1, 8], the bands of shared/vibration.py; output four logits: healthy, unbalance, looseness, bearing.
"""

import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.training import main  # noqa: E402, also makes models/ importable
from shared.vibration import STATES, features  # noqa: E402
from common.export import save  # noqa: E402
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402

SEED = 11


class MultiLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 16)
        self.right = nn.Linear(8, 16)
        self.last = nn.Linear(16, len(STATES))

    def forward(self, x):
        left = torch.relu(self.left(x))
        right = torch.relu(self.right(x))
        return self.last(left * right)


def data(count, seed):
    x, y = features(count, seed)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    return torch.from_numpy(x)[order], torch.from_numpy(y)[order]


def build(out: Path):
    seed_everything(SEED)
    train, test = data(1000, 1101), data(100, 1102)
    stream = batches(*train, 64, torch.Generator().manual_seed(SEED))
    model = fit(MultiLayer(), stream, nn.CrossEntropyLoss(label_smoothing=0.02), steps=2500, peak_rate=1e-2, weight_decay=1e-3)
    print(f"  accuracy on {len(test[1])} new windows: {accuracy(model, *test):.2%}")
    save("multi_layer", model, out, calibrate=(train[0][:128], train[1][:128]), test=test)


if __name__ == "__main__":
    main(__file__, build)
