"""lstm_classifier: an LSTM of 64 cells over 49 frames of 40 bands, 12 classes; ends in logits."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import glides, train_and_save

BANDS, CELLS = 40, 64


class LstmClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(BANDS, CELLS, batch_first=True)
        self.last = nn.Linear(CELLS, 12)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.last(y[:, -1])


def data(count, seed):
    return glides(count, seed, coefficients=BANDS, step=16)


def build(out: Path):
    train_and_save("lstm_classifier", LstmClassifier, out, data, seed=73, steps=500, peak_rate=1e-2)
