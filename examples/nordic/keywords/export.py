#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keywords: a convolutional network that recognizes ten words, "unknown" and silence in one second of sound. 16,332 parameters.

    apt-get install espeak-ng
    python examples/nordic/keywords/export.py [--out DIR]

Input `x` [1, 1, 40, 13], the coefficients of shared/speech.py; output twelve logits, shared/speech.py's LABELS.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.training import main  # noqa: E402, also makes models/ importable
from shared.speech import LABELS, NEW_VARIANTS, VARIANTS, features, utterances  # noqa: E402
from common.export import on_grid, save  # noqa: E402
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402

SEED = 51


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Linear(960, len(LABELS))

    def seen(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return torch.flatten(x, 1)

    def forward(self, x):
        return self.last(self.seen(x))


class Regularized(nn.Module):
    """The network during training, with dropout before the last layer."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net.last(nn.functional.dropout(self.net.seen(x), 0.3, self.training))


def tensors(rng, said, copies):
    x, labels = features(rng, said, copies)
    return torch.from_numpy(on_grid(x)), torch.from_numpy(labels)


def build(out: Path):
    seed_everything(SEED)
    rng = np.random.default_rng(SEED)
    train = tensors(rng, utterances(rng, 90, VARIANTS), 6)
    test = tensors(rng, utterances(rng, 25, NEW_VARIANTS), 1)
    print(f"  {len(train[1])} recordings to train on, {len(test[1])} by new speakers", flush=True)
    stream = batches(*train, 64, torch.Generator().manual_seed(SEED))
    model = fit(Regularized(Keywords()), stream, nn.CrossEntropyLoss(label_smoothing=0.05), steps=2500, peak_rate=3e-3,
                weight_decay=5e-2, log_every=500).net.eval()
    print(f"  accuracy on new speakers: {accuracy(model, *test):.2%}")
    order = torch.randperm(len(train[1]), generator=torch.Generator().manual_seed(SEED))[:96]
    save("keywords", model, out, calibrate=(train[0][order], train[1][order]), test=test)


if __name__ == "__main__":
    main(__file__, build)
