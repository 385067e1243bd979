"""convnext_femto_like: patches, 7x7 depthwise filters, layer norm, GELU and layer scale (32x32x3, 10 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import textures, train_and_save

DEPTHS, WIDTHS = (1, 1, 2), (12, 24, 40)


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of a picture."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.widen = nn.Linear(channels, 4 * channels)
        self.act = nn.GELU()
        self.narrow = nn.Linear(4 * channels, channels)
        self.scale = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.narrow(self.act(self.widen(y)))
        return x + y.permute(0, 3, 1, 2)


class ConvNextFemtoLike(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, WIDTHS[0], 2, stride=2), ChannelNorm(WIDTHS[0], eps=1e-6)]
        for i, (depth, width) in enumerate(zip(DEPTHS, WIDTHS)):
            if i > 0:
                layers += [ChannelNorm(WIDTHS[i - 1], eps=1e-6), nn.Conv2d(WIDTHS[i - 1], width, 2, stride=2)]
            layers += [Block(width) for _ in range(depth)]
        self.layers = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(WIDTHS[-1], eps=1e-6)
        self.head = nn.Linear(WIDTHS[-1], 10)

    def forward(self, x):
        return self.head(self.norm(self.layers(x).mean([-2, -1])))


def build(out: Path):
    train_and_save("convnext_femto_like", ConvNextFemtoLike, out, textures, seed=69, steps=400, peak_rate=4e-3)
