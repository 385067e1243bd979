"""efficientnet_lite_like: the blocks of EfficientNet-Lite (ReLU6, no squeeze-and-excitation), narrow (32x32x3, 10 classes).

Strided convolutions pad as TensorFlow's SAME does, more at the end, with a padding of their own before them.
"""

from pathlib import Path

import torch
from torch import nn

from common.classifier import textures, train_and_save

# Kernel, expansion, output channels, blocks and first stride of each stage.
STAGES = [(3, 1, 8, 1, 1), (3, 6, 8, 2, 2), (5, 6, 16, 2, 2), (3, 6, 24, 2, 2), (5, 6, 32, 1, 1)]


class PaddedConv(nn.Conv2d):
    """For an even size: one row and column less at the beginning."""

    def __init__(self, inputs, outputs, kernel, stride, groups=1):
        super().__init__(inputs, outputs, kernel, stride, padding=0 if stride == 2 else kernel // 2, groups=groups, bias=False)
        end = kernel // 2
        self.before = (end - 1, end, end - 1, end) if stride == 2 else None

    def forward(self, x):
        return super().forward(nn.functional.pad(x, self.before) if self.before else x)


def conv_bn(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Sequential(PaddedConv(inputs, outputs, kernel, stride, groups), nn.BatchNorm2d(outputs, eps=1e-3))


class MbConv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        layers = [conv_bn(inputs, wide, 1), nn.ReLU6()] if expansion != 1 else []
        self.layers = nn.Sequential(
            *layers, conv_bn(wide, wide, kernel, stride, groups=wide), nn.ReLU6(), conv_bn(wide, outputs, 1)
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class EfficientNetLiteLike(nn.Module):
    def __init__(self):
        super().__init__()
        layers, now = [conv_bn(3, 16, 3, 1), nn.ReLU6()], 16
        for kernel, expansion, outputs, blocks, stride in STAGES:
            for block in range(blocks):
                layers.append(MbConv(now, outputs, kernel, stride if block == 0 else 1, expansion))
                now = outputs
        self.features = nn.Sequential(*layers, conv_bn(now, 128, 1), nn.ReLU6())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(0.2)
        self.last = nn.Linear(128, 10)

    def forward(self, x):
        return self.last(self.dropout(torch.flatten(self.pool(self.features(x)), 1)))


def build(out: Path):
    train_and_save("efficientnet_lite_like", EfficientNetLiteLike, out, textures, seed=64, steps=300, peak_rate=4e-3)
