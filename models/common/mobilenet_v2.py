"""MobileNetV2: inverted residuals of depthwise filters between two 1x1 convolutions."""

import torch
from torch import nn

from .blocks import divisible

# Expansion, output channels, blocks and first stride of each stage.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def conv_bn(inputs, outputs, kernel, stride=1, groups=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    """Widens, filters each channel, narrows; adds its input where the shapes allow."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        layers = [*conv_bn(inputs, wide, 1), nn.ReLU6()] if expansion != 1 else []
        layers += [*conv_bn(wide, wide, 3, stride, groups=wide), nn.ReLU6(), *conv_bn(wide, outputs, 1)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes, width=1.0, last=1280):
        super().__init__()
        now = divisible(32 * width)
        layers = [*conv_bn(3, now, 3, stride=2), nn.ReLU6()]
        for expansion, outputs, blocks, stride in STAGES:
            outputs = divisible(outputs * width)
            for block in range(blocks):
                layers.append(InvertedResidual(now, outputs, stride if block == 0 else 1, expansion))
                now = outputs
        layers += [*conv_bn(now, last, 1), nn.ReLU6()]
        self.features = nn.Sequential(*layers)
        self.dropout = nn.Dropout(0.2)
        self.last = nn.Linear(last, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if isinstance(module, InvertedResidual) and module.residual:
                nn.init.constant_(module.layers[-1].weight, 0.2)  # begin near the identity: it learns far faster

    def forward(self, x):
        x = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.last(self.dropout(torch.flatten(x, 1)))
