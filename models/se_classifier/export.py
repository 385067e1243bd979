"""se_classifier: inverted residuals with squeeze-and-excitation by sigmoid and hard swish (32x32x3, 10 classes); ends in
logits."""

from pathlib import Path

import torch
from torch import nn

from common.blocks import conv_bn
from common.classifier import textures, train_and_save

# Expanded and output channels, kernel and stride of each block.
BLOCKS = [(32, 16, 3, 2), (64, 24, 5, 2), (96, 24, 5, 1), (96, 40, 3, 2)]


class SqueezeExcitation(nn.Module):
    """Scales each channel by what two linear layers make of all channels' means."""

    def __init__(self, channels):
        super().__init__()
        self.narrow = nn.Linear(channels, channels // 4)
        self.widen = nn.Linear(channels // 4, channels)

    def forward(self, x):
        scale = torch.sigmoid(self.widen(torch.relu(self.narrow(x.mean((2, 3))))))
        return x * scale[:, :, None, None]


class Block(nn.Module):
    def __init__(self, inputs, wide, outputs, kernel, stride):
        super().__init__()
        self.layers = nn.Sequential(
            conv_bn(inputs, wide, 1, activation=nn.Hardswish),
            conv_bn(wide, wide, kernel, stride, groups=wide, activation=nn.Hardswish),
            SqueezeExcitation(wide),
            conv_bn(wide, outputs, 1),
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class SeClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        now, layers = 16, [conv_bn(3, 16, 3, activation=nn.Hardswish)]
        for wide, outputs, kernel, stride in BLOCKS:
            layers.append(Block(now, wide, outputs, kernel, stride))
            now = outputs
        self.features = nn.Sequential(*layers)
        self.last = nn.Linear(now, 10)

    def forward(self, x):
        return self.last(self.features(x).mean((2, 3)))


def build(out: Path):
    train_and_save("se_classifier", SeClassifier, out, textures, seed=79, steps=400, peak_rate=6e-3)
