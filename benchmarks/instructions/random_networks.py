#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random small networks of typical layers as .pt2, for measure.py and for tests of its cost functions.

usage: random_networks.py FOLDER [--first SEED] [--count N] [--log-mel]

Needs PyTorch. Seed N gives the file FOLDER/random_N.pt2, of one of the families below in turn, or with
--log-mel a log-mel spectrum. The same seed gives the same layers and sizes.
"""
import argparse
import pathlib
import random

import torch
from torch import nn

ACTIVATIONS = [nn.ReLU, nn.ReLU, nn.ReLU, nn.ReLU6, nn.Hardswish, nn.SiLU, nn.LeakyReLU, nn.Identity, nn.Tanh, nn.Sigmoid]


class Draw:
    """Random choices, all from one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def of(self, *choices):
        return self.random.choice(choices)

    def channels(self, low=3, high=40):
        """Mostly multiples of eight or four, as designers choose them."""
        kind = self.random.random()
        step = 8 if kind < 0.4 else 4 if kind < 0.65 else 1
        return max(step, self.random.randint(low, high) // step * step)

    def size(self, low, high):
        return self.random.randint(low, high)

    def chance(self, share):
        return self.random.random() < share

    def activation(self):
        return self.random.choice(ACTIVATIONS)()


def conv_block(draw, inputs, outputs, kernel, stride=1, groups=1, dilation=1):
    padding = draw.of(dilation * (kernel // 2), dilation * (kernel // 2), 0)
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, groups, bias=draw.chance(0.5))]
    if draw.chance(0.6):
        layers.append(nn.BatchNorm2d(outputs))
    return layers + [draw.activation()]


def pool(draw):
    kernel = draw.of(2, 2, 3)
    kind = draw.of(nn.MaxPool2d, nn.MaxPool2d, nn.AvgPool2d)
    return kind(kernel, draw.of(2, kernel, 1), padding=draw.of(0, 0, kernel // 2 if kernel > 2 else 0))


class Head(nn.Module):
    def __init__(self, draw, channels):
        super().__init__()
        self.mean = draw.chance(0.5)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(channels, draw.size(2, 20))
        self.softmax = draw.chance(0.4)

    def forward(self, x):
        x = x.mean((2, 3)) if self.mean else self.pool(x).flatten(1)
        x = self.linear(x)
        return torch.softmax(x, -1) if self.softmax else x


def image_shape(draw, channels):
    return (1, channels, draw.size(10, 26), draw.size(10, 26))


def cnn(draw):
    """Convolutions and pools."""
    channels = draw.of(1, 3, 3, 4)
    shape, layers = image_shape(draw, channels), []
    for index in range(draw.size(1, 4)):
        outputs = draw.channels()
        layers += conv_block(draw, channels, outputs, draw.of(1, 3, 3, 3, 5), draw.of(1, 1, 2))
        channels = outputs
        if index == 0 and draw.chance(0.6):
            layers.append(pool(draw))
    return nn.Sequential(*layers, Head(draw, channels)), [shape]


def separable(draw):
    """Depthwise and pointwise convolutions."""
    channels = draw.channels(6, 32)
    shape = image_shape(draw, 3)
    layers = conv_block(draw, 3, channels, 3, draw.of(1, 2))
    for _ in range(draw.size(1, 3)):
        outputs = draw.channels(6, 48)
        layers += conv_block(draw, channels, channels, draw.of(3, 3, 5), draw.of(1, 1, 2), channels)
        layers += conv_block(draw, channels, outputs, 1)
        channels = outputs
    return nn.Sequential(*layers, Head(draw, channels)), [shape]


class Residual(nn.Module):
    def __init__(self, draw):
        super().__init__()
        inputs, channels = draw.of(1, 3), draw.channels(4, 28)
        self.first = nn.Conv2d(inputs, channels, 3, draw.of(1, 2), 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1), nn.BatchNorm2d(channels), nn.ReLU(),
                          nn.Conv2d(channels, channels, draw.of(1, 3), 1, "same")) for _ in range(draw.size(1, 2)))
        self.activation = draw.activation()
        self.head = Head(draw, channels)
        self.shape = image_shape(draw, inputs)

    def forward(self, x):
        x = self.activation(self.first(x))
        for block in self.blocks:
            x = self.activation(x + block(x))
        return self.head(x)


class Excited(nn.Module):
    """Squeeze and excitation, and grouped convolutions."""

    def __init__(self, draw):
        super().__init__()
        groups = draw.of(2, 2, 3, 4)
        channels = groups * draw.size(2, 8)
        self.first = nn.Conv2d(3, channels, 3, 2, 1)
        self.grouped = nn.Conv2d(channels, channels, draw.of(1, 3, 3), 1, "same", groups=groups)
        self.squeeze = nn.Conv2d(channels, draw.size(2, 8), 1)
        self.excite = nn.Conv2d(self.squeeze.out_channels, channels, 1)
        self.activation = draw.activation()
        self.head = Head(draw, channels)
        self.shape = image_shape(draw, 3)

    def forward(self, x):
        x = self.grouped(self.activation(self.first(x)))
        scale = torch.sigmoid(self.excite(torch.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        return self.head(self.activation(x * scale))


class Decoder(nn.Module):
    """An encoder and a decoder with a skip connection: concatenation, interpolation, transposed convolution."""

    def __init__(self, draw):
        super().__init__()
        channels = draw.channels(4, 16)
        self.down = nn.Conv2d(draw.of(1, 3), channels, 3, 1, 1)
        self.deep = nn.Conv2d(channels, 2 * channels, 3, 2, 1)
        kind = draw.of("transpose", "transpose", "nearest", "bilinear")
        self.up = (nn.ConvTranspose2d(2 * channels, channels, draw.of(2, 4), 2, 0) if kind == "transpose" else
                   nn.Upsample(scale_factor=2, mode=kind))
        if kind == "transpose" and self.up.kernel_size[0] == 4:
            self.up.padding = (1, 1)
        outputs = channels if kind == "transpose" else 2 * channels
        self.last = nn.Conv2d(channels + outputs, draw.size(1, 6), draw.of(1, 3), 1, "same")
        self.activation = draw.activation()
        size = 2 * draw.size(5, 12)
        self.shape = (1, self.down.in_channels, size, 2 * draw.size(5, 12))

    def forward(self, x):
        x = self.activation(self.down(x))
        return self.last(torch.cat([x, self.up(self.activation(self.deep(x)))], 1))


def signal(draw):
    """One-dimensional convolutions."""
    channels = draw.of(1, 3, 6, 9)
    shape, layers = (1, channels, draw.size(40, 160)), []
    for _ in range(draw.size(1, 3)):
        outputs = draw.channels(4, 32)
        kernel = draw.of(3, 5, 7)
        layers += [nn.Conv1d(channels, outputs, kernel, draw.of(1, 2), kernel // 2, draw.of(1, 1, 2)), draw.activation()]
        if draw.chance(0.5):
            layers.append(draw.of(nn.MaxPool1d, nn.AvgPool1d)(2))
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(channels, draw.size(2, 12))), [shape]


def dense(draw):
    """Linear layers."""
    features = draw.size(8, 160)
    shape, layers = (draw.of(1, 1, 1, 4), features), []
    for _ in range(draw.size(1, 4)):
        outputs = draw.channels(8, 128)
        layers += [nn.Linear(features, outputs, bias=draw.chance(0.8)), draw.activation()]
        features = outputs
    layers.append(nn.Linear(features, draw.size(1, 30)))
    if draw.chance(0.5):
        layers.append(nn.Softmax(-1))
    return nn.Sequential(*layers), [shape]


class Recurrent(nn.Module):
    def __init__(self, draw):
        super().__init__()
        inputs, hidden = draw.size(3, 30), draw.channels(6, 40)
        self.layer = draw.of(nn.LSTM, nn.GRU, nn.RNN)(inputs, hidden, batch_first=True)
        self.linear = nn.Linear(hidden, draw.size(2, 10))
        self.shape = (1, draw.size(3, 16), inputs)

    def forward(self, x):
        y, _ = self.layer(x)
        return self.linear(y[:, -1])


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self, draw):
        super().__init__()
        self.heads = draw.of(1, 2, 4)
        width = self.heads * draw.of(4, 6, 8)
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), draw.of(nn.GELU, nn.ReLU)(),
                                  nn.Linear(2 * width, width))
        self.head = nn.Linear(width, draw.size(2, 10))
        self.shape = (1, draw.size(6, 24), width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        x = x + self.feed(x)
        return self.head(x.mean(1))


class LogMel(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.n = draw.of(64, 128, 256, 256, 512, 512, 1024)
        self.hop = self.n // draw.of(1, 2, 2, 4)
        mels = draw.of(8, 13, 20, 40, 64)
        self.shape = (1, self.n + self.hop * draw.of(0, 1, 3, 9))
        self.register_buffer("window", torch.hann_window(self.n))
        width = draw.of(1, 2, 4)  # a filter is a triangle over some bins
        places = torch.linspace(0, 1, self.n // 2 + 1)[:, None] * mels - torch.arange(mels)
        self.register_buffer("mel", (1 - places.abs() / width).clamp(min=0))

    def forward(self, x):
        spectrum = torch.stft(x, self.n, self.hop, window=self.window, center=False, return_complex=True)
        return torch.log(spectrum.abs().pow(2).transpose(-1, -2) @ self.mel + 1e-6)


def with_shape(kind):
    def make(draw):
        model = kind(draw)
        return model, [model.shape]
    return make


FAMILIES = [cnn, separable, with_shape(Residual), with_shape(Excited), with_shape(Decoder), signal, dense,
            with_shape(Recurrent), with_shape(Attention)]


def settle(model):
    """Batch norms as after training."""
    for name, buffer in model.named_buffers():
        if name.endswith("running_var"):
            buffer.copy_(0.5 + torch.rand(buffer.shape))
        elif name.endswith("running_mean"):
            buffer.copy_(0.3 * torch.randn(buffer.shape))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--log-mel", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.first, arguments.first + arguments.count):
        torch.manual_seed(seed)
        family = with_shape(LogMel) if arguments.log_mel else FAMILIES[seed % len(FAMILIES)]
        model, shapes = family(Draw(seed))
        settle(model.eval())
        program = torch.export.export(model, tuple(torch.randn(shape) for shape in shapes))
        torch.export.save(program, arguments.folder / f"random_{seed}.pt2")


if __name__ == "__main__":
    main()
