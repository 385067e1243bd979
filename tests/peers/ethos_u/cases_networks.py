# SPDX-License-Identifier: Apache-2.0
"""Whole networks with seeded weights: MobileNetV2, the four shapes of MLPerf Tiny, and a small
segmentation network with resizes and a softmax."""

import reference
import numpy as np
from cases_conv import conv2d, depthwise, fully_connected
from cases_elementwise import binary_op
from cases_shape import moved, pool, reduce, resize, softmax
from registry import add
from tflite_net import SAME, Net

RELU = dict(activation="relu", positive=True)
RELU6 = dict(activation="relu6", positive=True)


def calibrated(build):
    """Chooses scales so that every layer uses its whole range, by running the network a few times."""
    def make(seed):
        scales = ()
        for _ in range(20):
            net = Net(seed, scales)
            build(net)
            values = reference.litert_values(net.bytes(), net.test_inputs(), net.free)
            found = []
            for index, codes in zip(net.free, values):
                scale = float(net.tensors[index].quantization.scale[0])
                zero = int(net.tensors[index].quantization.zeroPoint[0])
                top = np.quantile(np.abs(codes.astype(np.float64) - zero), 0.998)
                found.append(scale * max(top, 1.0) / (220 if zero == -128 else 110))
            settled = scales and np.allclose(found, scales, rtol=0.05)
            scales = found
            if settled:
                break
        net = Net(seed, scales)
        build(net)
        return net
    return make


def sum_of(net, a, b, activation=None):
    """A residual sum with a scale whose range contains it."""
    zero = -128 if activation else 5
    scale = net.free_scale(max(a.scale, b.scale))
    return binary_op(net, "ADD", a, b, scale, activation, zero)


def flat(net, x):
    size = x.shape[1] * x.shape[2] * x.shape[3]
    return moved(net, x, "RESHAPE", (1, size), [(1, size)], "ReshapeOptions", newShape=[1, size])


def separable(net, x, channels, stride=(1, 1)):
    return conv2d(net, depthwise(net, x, stride=stride, **RELU), channels, (1, 1), **RELU)


def mobilenet_v2(net):
    x = conv2d(net, net.input((1, 224, 224, 3), scale=1 / 128), 32, stride=(2, 2), **RELU6)
    for expand, channels, count, step in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                          (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                          (6, 320, 1, 1)]:
        for number in range(count):
            stride = step if number == 0 else 1
            y = x
            if expand > 1:
                y = conv2d(net, y, x.shape[3] * expand, (1, 1), **RELU6)
            y = depthwise(net, y, stride=(stride, stride), **RELU6)
            y = conv2d(net, y, channels, (1, 1))
            x = sum_of(net, x, y) if stride == 1 and x.shape == y.shape else y
    x = conv2d(net, x, 1280, (1, 1), **RELU6)
    x = reduce(net, x, "MEAN", (1, 2), keep=False)
    net.output(fully_connected(net, x, 1000, per_channel=True))


def keyword_spotting(net):
    """DS-CNN."""
    x = conv2d(net, net.input((1, 49, 10, 1), scale=0.6), 64, (10, 4), (2, 2), **RELU)
    for _ in range(4):
        x = separable(net, x, 64)
    x = flat(net, pool(net, x, "AVERAGE_POOL_2D", x.shape[1:3]))
    net.output(softmax(net, fully_connected(net, x, 12), 0.3))


def image_classification(net):
    """ResNet-8."""
    x = conv2d(net, net.input((1, 32, 32, 3), scale=1 / 128), 16, **RELU)
    for channels, step in ((16, 1), (32, 2), (64, 2)):
        y = conv2d(net, conv2d(net, x, channels, stride=(step, step), **RELU), channels)
        if step > 1:
            x = conv2d(net, x, channels, (1, 1), (step, step))
        x = sum_of(net, x, y, "relu")
    x = flat(net, pool(net, x, "AVERAGE_POOL_2D", (8, 8)))
    net.output(softmax(net, fully_connected(net, x, 10)))


def visual_wake_words(net):
    """MobileNetV1 with width 0.25."""
    x = conv2d(net, net.input((1, 96, 96, 3), scale=1 / 128), 8, stride=(2, 2), **RELU)
    for channels, step in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1),
                           (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)]:
        x = separable(net, x, channels, (step, step))
    x = flat(net, pool(net, x, "AVERAGE_POOL_2D", (3, 3)))
    net.output(softmax(net, fully_connected(net, x, 2), 0.3))


def anomaly_detection(net):
    """An autoencoder of fully connected layers."""
    x = net.input((1, 640), scale=0.4)
    for size in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = fully_connected(net, x, size, **RELU)
    net.output(fully_connected(net, x, 640))


def segmentation(net):
    x = net.input((1, 48, 64, 3), scale=1 / 128)
    skip = conv2d(net, x, 16, stride=(2, 2), **RELU)
    half = separable(net, skip, 24, (2, 2))
    deep = separable(net, half, 32, (2, 2))
    deep = separable(net, deep, 24)
    up = resize(net, deep, "RESIZE_BILINEAR", half.shape[1:3], half=True)
    joined = net.value((1, *half.shape[1:3], 48), "int8", half.scale, half.zero)
    up = net.op("QUANTIZE", [up], [net.value(up.shape, "int8", half.scale, half.zero)],
                "QuantizeOptions")
    net.op("CONCATENATION", [up, half], [joined], "ConcatenationOptions", axis=3)
    y = separable(net, joined, 16)
    y = resize(net, y, "RESIZE_NEAREST_NEIGHBOR", skip.shape[1:3])
    y = sum_of(net, y, skip, "relu")
    y = pool(net, y, "MAX_POOL_2D", (2, 2), (1, 1), SAME)
    y = conv2d(net, y, 5, (1, 1))
    y = resize(net, y, "RESIZE_BILINEAR", (48, 64))
    net.output(softmax(net, y, 2.0))


for _name, _build in [
    ("mobilenet_v2", mobilenet_v2), ("mlperf_kws", keyword_spotting),
    ("mlperf_ic", image_classification), ("mlperf_vww", visual_wake_words),
    ("mlperf_ad", anomaly_detection), ("segmentation", segmentation),
]:
    add(_name, calibrated(_build), group="network", distinct=2)
    add(_name + "_size", calibrated(_build), group="network", distinct=2,
        options=("--optimise", "Size"))
