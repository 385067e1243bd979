"""shufflenet_v2_like: halves of the channels go different ways and are shuffled together (32x32x3, 10 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.blocks import conv_bn
from common.classifier import textures, train_and_save


def channel_shuffle(x, groups):
    batch, channels, height, width = x.size()
    x = x.view(batch, groups, channels // groups, height, width)
    return torch.transpose(x, 1, 2).contiguous().view(batch, channels, height, width)


class Unit(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        half = outputs // 2
        self.stride = stride
        if stride > 1:
            self.branch1 = nn.Sequential(
                conv_bn(inputs, inputs, 3, stride, groups=inputs), conv_bn(inputs, half, 1, activation=nn.ReLU)
            )
        self.branch2 = nn.Sequential(
            conv_bn(inputs if stride > 1 else half, half, 1, activation=nn.ReLU),
            conv_bn(half, half, 3, stride, groups=half),
            conv_bn(half, half, 1, activation=nn.ReLU),
        )

    def forward(self, x):
        if self.stride == 1:
            kept, changed = x.chunk(2, dim=1)
            parts = (kept, self.branch2(changed))
        else:
            parts = (self.branch1(x), self.branch2(x))
        return channel_shuffle(torch.cat(parts, dim=1), 2)


class ShuffleNetV2Like(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = conv_bn(3, 16, 3, activation=nn.ReLU)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.stage2 = nn.Sequential(Unit(16, 32, 2), Unit(32, 32, 1), Unit(32, 32, 1))
        self.stage3 = nn.Sequential(Unit(32, 64, 2), Unit(64, 64, 1), Unit(64, 64, 1), Unit(64, 64, 1))
        self.last = conv_bn(64, 128, 1, activation=nn.ReLU)
        self.classifier = nn.Linear(128, 10)

    def forward(self, x):
        x = self.stage3(self.stage2(self.pool(self.first(x))))
        return self.classifier(self.last(x).mean([2, 3]))


def build(out: Path):
    train_and_save("shufflenet_v2_like", ShuffleNetV2Like, out, textures, seed=66, steps=400, peak_rate=4e-3)
