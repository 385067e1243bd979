"""dscnn_kws: the keyword spotter of MLPerf Tiny (DS-CNN, 49x10, 12 classes), on synthetic glides; ends in softmax."""

from pathlib import Path

import torch
from torch import nn

from common.export import on_grid, save
from common.sounds import spoken_words
from common.train import accuracy, batches, fit, seed_everything

CHANNELS = 64


class Separable(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS)
        self.norm1 = nn.BatchNorm2d(CHANNELS)
        self.pointwise = nn.Conv2d(CHANNELS, CHANNELS, 1)
        self.norm2 = nn.BatchNorm2d(CHANNELS)

    def forward(self, x):
        x = torch.relu(self.norm1(self.depthwise(x)))
        return torch.relu(self.norm2(self.pointwise(x)))


class DsCnn(nn.Module):
    def __init__(self):
        super().__init__()
        # 49x10 -> 25x5. The reference network pads 4 rows above and 5 below; here it is 5 above, and the stride leaves
        # the fifth row below unused.
        self.conv = nn.Conv2d(1, CHANNELS, (10, 4), stride=2, padding=(5, 1))
        self.norm = nn.BatchNorm2d(CHANNELS)
        self.dropout1 = nn.Dropout(0.2)
        self.blocks = nn.Sequential(Separable(), Separable(), Separable(), Separable())
        self.dropout2 = nn.Dropout(0.4)
        self.pool = nn.AvgPool2d((25, 5))
        self.last = nn.Linear(CHANNELS, 12)

    def forward(self, x):
        x = self.dropout1(torch.relu(self.norm(self.conv(x))))
        x = self.pool(self.dropout2(self.blocks(x)))
        return torch.softmax(self.last(torch.flatten(x, 1)), 1)


def data(count, seed):
    frames, labels = spoken_words(count, seed)
    return torch.from_numpy(on_grid(frames)), torch.from_numpy(labels)


def build(out: Path):
    seed_everything(21)
    train, test = data(8192, seed=2101), data(256, seed=2102)
    cross_entropy = nn.CrossEntropyLoss(label_smoothing=0.05)
    model = fit(
        DsCnn(),
        batches(*train, 32, torch.Generator().manual_seed(21)),
        lambda probabilities, y: cross_entropy(probabilities.clamp_min(1e-7).log(), y),
        steps=900,
        peak_rate=4e-3,
        weight_decay=1e-3,
        log_every=100,
    )
    print(f"  accuracy on new glides: {accuracy(model, *data(2000, seed=2103)):.4f}, on test.npz: {accuracy(model, *test):.4f}")
    save("dscnn_kws", model, out, calibrate=(train[0][:64], train[1][:64]), test=test)
