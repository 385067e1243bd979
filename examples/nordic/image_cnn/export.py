#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image_cnn: two small convolutions that classify the scanned digits 0, 1, 2 and 3. 1,508 parameters.

    python examples/nordic/image_cnn/export.py [--out DIR]

Input `x` [1, 1, 8, 8], pixels of scikit-learn's digits as -1..1; output four logits.
"""

import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.training import main  # noqa: E402, also makes models/ importable
from common.export import save  # noqa: E402
from common.train import accuracy, batches, fit, seed_everything  # noqa: E402
from digits_cnn.export import data, jittered  # noqa: E402

SEED = 41
CLASSES = 4


class ImageCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Linear(64, CLASSES)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.last(torch.flatten(x, 1))


def few(x, labels):
    chosen = labels < CLASSES
    return x[chosen], labels[chosen]


def build(out: Path):
    seed_everything(SEED)
    generator = torch.Generator().manual_seed(SEED)
    train, test = (few(*part) for part in data())
    model = fit(ImageCnn(), jittered(batches(*train, 32, generator), generator), nn.CrossEntropyLoss(label_smoothing=0.05),
                steps=1500, peak_rate=5e-3, weight_decay=1e-3)
    print(f"  accuracy on {len(test[1])} digits held back: {accuracy(model, *test):.2%}")
    save("image_cnn", model, out, calibrate=(train[0][:64], train[1][:64]), test=test)


if __name__ == "__main__":
    main(__file__, build)
