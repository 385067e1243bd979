"""Layers that several networks share."""

from torch import nn


def conv_bn(inputs, outputs, kernel, stride=1, groups=1, activation=None, eps=1e-5):
    """A convolution, its batch-norm and perhaps an activation; padding keeps the size at stride 1."""
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=eps),
    ]
    return nn.Sequential(*layers, *([activation()] if activation else []))


def divisible(channels, by=8):
    """The nearest multiple of `by`, but not below nine tenths of `channels`."""
    nearest = max(by, int(channels + by / 2) // by * by)
    return nearest + by if nearest < 0.9 * channels else nearest
