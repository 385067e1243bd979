"""squeezenet_like: fire modules, whose halves are concatenated, and pools with ceil_mode (32x32x3, 10 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import textures, train_and_save


class Fire(nn.Module):
    """A narrow 1x1 convolution feeds a 1x1 and a 3x3 convolution side by side."""

    def __init__(self, inputs, squeezed, each):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, each, 1)
        self.expand3x3 = nn.Conv2d(squeezed, each, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.squeeze(x))
        return torch.cat([self.relu(self.expand1x1(x)), self.relu(self.expand3x3(x))], 1)


class SqueezeNetLike(nn.Module):
    def __init__(self):
        super().__init__()

        def pool():
            return nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)

        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3), nn.ReLU(inplace=True), pool(),
            Fire(24, 8, 16), Fire(32, 8, 16), pool(),
            Fire(32, 12, 24), Fire(48, 12, 24), pool(),
            Fire(48, 16, 32), Fire(64, 16, 32),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.2), nn.Conv2d(64, 10, 1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


def build(out: Path):
    train_and_save("squeezenet_like", SqueezeNetLike, out, textures, seed=65, steps=500, peak_rate=3e-3)
