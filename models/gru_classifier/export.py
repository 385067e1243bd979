"""gru_classifier: a bidirectional GRU over 49 frames of 10 coefficients, 12 classes; ends in logits."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import glides, train_and_save

CELLS = 24


class GruClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, CELLS, batch_first=True, bidirectional=True)
        self.last = nn.Linear(2 * CELLS, 12)

    def forward(self, x):
        _, hidden = self.gru(x)
        return self.last(torch.cat([hidden[0], hidden[1]], dim=1))


def build(out: Path):
    train_and_save("gru_classifier", GruClassifier, out, glides, seed=74, steps=500, peak_rate=1e-2)
