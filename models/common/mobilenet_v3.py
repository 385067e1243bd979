"""MobileNetV3-Small: inverted residuals with squeeze-and-excitation, hard swish and hard sigmoid."""

import torch
from torch import nn

from .blocks import conv_bn, divisible

# Kernel, expanded and output channels, squeeze-and-excitation, activation and stride of each block.
BLOCKS = [
    (3, 16, 16, True, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 2),
    (3, 88, 24, False, nn.ReLU, 1),
    (5, 96, 40, True, nn.Hardswish, 2),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 120, 48, True, nn.Hardswish, 1),
    (5, 144, 48, True, nn.Hardswish, 1),
    (5, 288, 96, True, nn.Hardswish, 2),
    (5, 576, 96, True, nn.Hardswish, 1),
    (5, 576, 96, True, nn.Hardswish, 1),
]
EPS = 1e-3


class SqueezeExcitation(nn.Module):
    """Scales each channel by what a small perceptron makes of all channels' means."""

    def __init__(self, channels):
        super().__init__()
        squeezed = divisible(channels / 4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.narrow = nn.Conv2d(channels, squeezed, 1)
        self.widen = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        return x * self.gate(self.widen(torch.relu(self.narrow(self.pool(x)))))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, kernel, wide, outputs, squeeze, activation, stride):
        super().__init__()
        layers = [conv_bn(inputs, wide, 1, activation=activation, eps=EPS)] if wide != inputs else []
        layers.append(conv_bn(wide, wide, kernel, stride, groups=wide, activation=activation, eps=EPS))
        if squeeze:
            layers.append(SqueezeExcitation(wide))
        self.layers = nn.Sequential(*layers, conv_bn(wide, outputs, 1, eps=EPS))
        self.residual = stride == 1 and inputs == outputs
        if self.residual:
            nn.init.constant_(self.layers[-1][1].weight, 0.2)  # begin near the identity: it learns far faster

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV3Small(nn.Module):
    def __init__(self, classes, last=1024, width=1.0):
        super().__init__()

        def scaled(channels):
            return divisible(channels * width)

        now = scaled(16)
        layers = [conv_bn(3, now, 3, 2, activation=nn.Hardswish, eps=EPS)]
        for kernel, wide, outputs, squeeze, activation, stride in BLOCKS:
            layers.append(InvertedResidual(now, kernel, scaled(wide), scaled(outputs), squeeze, activation, stride))
            now = scaled(outputs)
        layers.append(conv_bn(now, 6 * now, 1, activation=nn.Hardswish, eps=EPS))
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * now, last), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(last, classes)
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))
