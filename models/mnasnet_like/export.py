"""mnasnet_like: the blocks of MNASNet, with 3x3 and 5x5 filters, at a quarter of its width (32x32x3, 10 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.blocks import conv_bn, divisible
from common.classifier import textures, train_and_save

WIDTH = 0.25
# Kernel, expansion, output channels, blocks and first stride of each stage.
STAGES = [(3, 3, 24, 2, 2), (5, 3, 40, 2, 2), (5, 6, 80, 2, 1), (3, 6, 96, 2, 1), (5, 6, 192, 2, 2)]


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        self.layers = nn.Sequential(
            conv_bn(inputs, wide, 1, activation=nn.ReLU),
            conv_bn(wide, wide, kernel, stride, groups=wide, activation=nn.ReLU),
            conv_bn(wide, outputs, 1),
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return self.layers(x) + x if self.residual else self.layers(x)


class MnasNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        now = divisible(32 * WIDTH)
        layers = [
            conv_bn(3, now, 3, activation=nn.ReLU),
            conv_bn(now, now, 3, groups=now, activation=nn.ReLU),
            conv_bn(now, divisible(16 * WIDTH), 1),
        ]
        now = divisible(16 * WIDTH)
        for kernel, expansion, outputs, blocks, stride in STAGES:
            for block in range(blocks):
                layers.append(
                    InvertedResidual(now, divisible(outputs * WIDTH), kernel, stride if block == 0 else 1, expansion)
                )
                now = divisible(outputs * WIDTH)
        self.layers = nn.Sequential(*layers, conv_bn(now, 96, 1, activation=nn.ReLU))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(96, 10))

    def forward(self, x):
        return self.classifier(self.layers(x).mean([2, 3]))  # a mean over two dimensions, no pool


def build(out: Path):
    train_and_save("mnasnet_like", MnasNetLike, out, textures, seed=63, steps=300, peak_rate=4e-3)
