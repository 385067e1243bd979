# SPDX-License-Identifier: Apache-2.0
"""Convolutions, fully connected layers and matrix products, as TFLite."""

import math

import numpy as np
from registry import add
from tflite_net import ACTIVATIONS, SAME, VALID, Net

SPREAD = {"int8": 74, "uint8": 74, "int16": 18900}  # standard deviation of test data
ZERO = {"int8": -3, "uint8": 121, "int16": 0}


def out_zero(kind):
    return {"int8": 5, "uint8": 131, "int16": 0}[kind]


def output_scale(x, weight_scale, terms, kind, weights=74):
    """Returns a scale with which three standard deviations of the sums fill the output's range."""
    spread = SPREAD[x.kind] * weights * math.sqrt(terms)
    return float(np.max(weight_scale)) * x.scale * spread * 3 / (SPREAD[kind] * math.sqrt(3))


def output_range(net, x, weight_scale, terms, positive):
    """Returns scale and zero point. `positive`: an int8 output without values that an activation would clamp."""
    scale = net.free_scale(output_scale(x, weight_scale, terms, x.kind) / (1 + positive))
    return scale, -128 if positive else out_zero(x.kind)


def weights_and_bias(net, x, shape, axis, terms, per_channel, bias, zeros=0.0):
    """Returns the constants of a layer; `zeros` is the share of weights that are 0."""
    kind = "uint8" if x.kind == "uint8" else "int8"
    channels = shape[axis]
    low, high = (0, 255) if kind == "uint8" else (-127, 127)
    data = net.random.integers(low, high, shape, endpoint=True)
    zero = 131 if kind == "uint8" else 0
    data[net.random.random(shape) < zeros] = zero
    scale = net.random.uniform(0.4, 1.6, channels if per_channel else 1) / (74 * math.sqrt(terms))
    count = len(scale)
    w = net.constant(data, kind, scale, [zero] * count, axis)
    if not bias:
        return w, None, scale
    spread = SPREAD[x.kind] * 74 * math.sqrt(terms)
    values = np.round(net.random.normal(0, spread / 3, channels)).astype(np.int64)
    wide = "int64" if x.kind == "int16" else "int32"
    return w, net.constant(values, wide, scale * x.scale, [0] * count), scale


def spatial(size, kernel, stride, dilation, padding):
    kernel = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == SAME else -(-(size - kernel + 1) // stride)


def conv2d(net, x, channels, kernel=(3, 3), stride=(1, 1), dilation=(1, 1), padding=SAME,
           per_channel=None, bias=True, activation=None, zeros=0.0, positive=False):
    batch, height, width, depth = x.shape
    per_channel = x.kind != "uint8" if per_channel is None else per_channel
    terms = kernel[0] * kernel[1] * depth
    w, b, scale = weights_and_bias(net, x, (channels, *kernel, depth), 0, terms, per_channel,
                                   bias, zeros)
    y = net.value((batch, spatial(height, kernel[0], stride[0], dilation[0], padding),
                   spatial(width, kernel[1], stride[1], dilation[1], padding), channels),
                  x.kind, *output_range(net, x, scale, terms, positive))
    return net.op("CONV_2D", [x, w, b][:2 + bias], [y], "Conv2DOptions", padding=padding,
                  strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0],
                  dilationWFactor=dilation[1], fusedActivationFunction=ACTIVATIONS[activation])


def depthwise(net, x, multiplier=1, kernel=(3, 3), stride=(1, 1), dilation=(1, 1), padding=SAME,
              activation=None, positive=False):
    batch, height, width, depth = x.shape
    channels = depth * multiplier
    terms = kernel[0] * kernel[1]
    w, b, scale = weights_and_bias(net, x, (1, *kernel, channels), 3, terms, x.kind != "uint8",
                                   True)
    y = net.value((batch, spatial(height, kernel[0], stride[0], dilation[0], padding),
                   spatial(width, kernel[1], stride[1], dilation[1], padding), channels),
                  x.kind, *output_range(net, x, scale, terms, positive))
    return net.op("DEPTHWISE_CONV_2D", [x, w, b], [y], "DepthwiseConv2DOptions", padding=padding,
                  strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0],
                  dilationWFactor=dilation[1], depthMultiplier=multiplier,
                  fusedActivationFunction=ACTIVATIONS[activation])


def fully_connected(net, x, channels, per_channel=False, bias=True, activation=None, zeros=0.0,
                    positive=False):
    depth = x.shape[-1]
    w, b, scale = weights_and_bias(net, x, (channels, depth), 0, depth, per_channel, bias, zeros)
    y = net.value((*x.shape[:-1], channels), x.kind, *output_range(net, x, scale, depth, positive))
    return net.op("FULLY_CONNECTED", [x, w, b], [y], "FullyConnectedOptions",
                  keepNumDims=len(x.shape) > 2,
                  fusedActivationFunction=ACTIVATIONS[activation])


def transpose_conv(net, x, channels, kernel, stride, padding, bias=True):
    batch, height, width, depth = x.shape
    sizes = [size * step if padding == SAME else size * step + max(k - step, 0)
             for size, k, step in zip((height, width), kernel, stride)]
    terms = kernel[0] * kernel[1] * depth / (stride[0] * stride[1])
    w, b, scale = weights_and_bias(net, x, (channels, *kernel, depth), 0, terms,
                                   x.kind != "uint8", bias)
    shape = (batch, *sizes, channels)
    y = net.value(shape, x.kind, output_scale(x, scale, terms, x.kind), out_zero(x.kind))
    return net.op("TRANSPOSE_CONV", [net.constant(shape), w, x, b][:3 + bias], [y],
                  "TransposeConvOptions", padding=padding, strideH=stride[0], strideW=stride[1])


def batch_matmul(net, a, b, adjoint_x=False, adjoint_y=False):
    rows = a.shape[-1] if adjoint_x else a.shape[-2]
    terms = a.shape[-2] if adjoint_x else a.shape[-1]
    columns = b.shape[-2] if adjoint_y else b.shape[-1]
    y = net.value((*a.shape[:-2], rows, columns), a.kind,
                  output_scale(a, b.scale, terms, a.kind, SPREAD[b.kind]), out_zero(a.kind))
    return net.op("BATCH_MATMUL", [a, b], [y], "BatchMatMulOptions", adjX=adjoint_x,
                  adjY=adjoint_y)


def layer(function, x, kind="int8", **fields):
    """Returns a case of one layer on one input."""
    def build(seed):
        net = Net(seed)
        net.output(function(net, net.input(x, kind), **fields))
        return net
    return build


def _convolutions():
    for kind in ("int8", "uint8", "int16"):
        add(f"conv_3x3_{kind}", layer(conv2d, (1, 9, 11, 12), kind, channels=20))
        add(f"conv_1x1_{kind}", layer(conv2d, (1, 7, 5, 40), kind, channels=24, kernel=(1, 1)))
        add(f"conv_stride2_{kind}",
            layer(conv2d, (1, 13, 12, 8), kind, channels=16, stride=(2, 2)))
        add(f"depthwise_3x3_{kind}", layer(depthwise, (1, 9, 10, 24), kind))
        add(f"depthwise_stride2_{kind}",
            layer(depthwise, (1, 11, 12, 16), kind, stride=(2, 2), padding=VALID))
        # For int16, LiteRT 2.3 scales the sums of this layer with 32-bit multipliers, Vela with 16-bit ones.
        if kind != "int16":
            add(f"fully_connected_{kind}", layer(fully_connected, (1, 70), kind, channels=33))
        add(f"transpose_conv_2x2_{kind}",
            layer(transpose_conv, (1, 5, 6, 8), kind, channels=12, kernel=(2, 2), stride=(2, 2),
                  padding=SAME))
    more = {
        "conv_valid": dict(x=(1, 10, 9, 16), channels=8, padding=VALID),
        "conv_first_layer": dict(x=(1, 24, 24, 3), channels=16, stride=(2, 2),
                                 activation="relu6"),
        "conv_dilated": dict(x=(1, 14, 13, 8), channels=16, dilation=(2, 2)),
        "conv_dilated3": dict(x=(1, 16, 15, 4), channels=8, dilation=(3, 3)),
        "conv_stride3": dict(x=(1, 13, 14, 6), channels=10, stride=(3, 3)),
        "conv_stride_1x2": dict(x=(1, 8, 15, 6), channels=10, kernel=(3, 5), stride=(1, 2)),
        "conv_stride4_valid": dict(x=(1, 16, 17, 4), channels=8, kernel=(4, 4), stride=(4, 4),
                                   padding=VALID),
        "conv_5x7": dict(x=(1, 12, 14, 5), channels=9, kernel=(5, 7)),
        "conv_11x11": dict(x=(1, 14, 15, 3), channels=6, kernel=(11, 11)),
        "conv_1x9": dict(x=(1, 1, 40, 16), channels=16, kernel=(1, 9)),
        "conv_per_tensor": dict(x=(1, 9, 8, 12), channels=20, per_channel=False),
        "conv_relu": dict(x=(1, 9, 8, 12), channels=20, activation="relu"),
        "conv_deep": dict(x=(1, 4, 4, 200), channels=150, kernel=(1, 1)),
        "conv_deep_3x3": dict(x=(1, 6, 5, 72), channels=136),
        "conv_sparse": dict(x=(1, 8, 8, 64), channels=32, zeros=0.7),
        "conv_large_map": dict(x=(1, 48, 40, 8), channels=16),
        "conv_1x1_wide": dict(x=(1, 1, 100, 16), channels=32, kernel=(1, 1)),
        "conv_batch2": dict(x=(2, 6, 7, 8), channels=12),
    }
    for name, fields in more.items():
        add(name, layer(conv2d, **fields))
    add("conv_dilated_int16", layer(conv2d, (1, 12, 9, 8), "int16", channels=8, dilation=(2, 1)))
    add("conv_deep_int16", layer(conv2d, (1, 5, 6, 48), "int16", channels=40))
    add("conv_one_channel", layer(conv2d, (1, 12, 12, 1), channels=8))


def _depthwise():
    more = {
        "depthwise_multiplier": dict(x=(1, 8, 9, 1), multiplier=8),
        "depthwise_multiplier2": dict(x=(1, 8, 9, 4), multiplier=2),
        "depthwise_5x5": dict(x=(1, 12, 11, 20), kernel=(5, 5)),
        "depthwise_dilated": dict(x=(1, 12, 11, 8), dilation=(2, 2)),
        "depthwise_relu6": dict(x=(1, 10, 10, 32), activation="relu6", stride=(2, 2)),
        "depthwise_1x4": dict(x=(1, 6, 20, 8), kernel=(1, 4)),
        "depthwise_deep": dict(x=(1, 6, 6, 150)),
    }
    for name, fields in more.items():
        add(name, layer(depthwise, **fields))


def _others():
    for name, options in [("cop2", ("--cop-format", "COP2")),
                          ("own_regions", ("--cop-format", "COP2", "--separate-io-regions"))]:
        add(f"conv_{name}", layer(conv2d, (1, 6, 7, 8), channels=10), options=options)
        add(f"fully_connected_{name}", layer(fully_connected, (1, 48), channels=20),
            options=options)
    add("fully_connected_per_channel",
        layer(fully_connected, (1, 64), channels=40, per_channel=True))
    add("fully_connected_batch", layer(fully_connected, (6, 48), channels=20, activation="relu"))
    add("fully_connected_no_bias", layer(fully_connected, (1, 100), channels=10, bias=False))
    add("fully_connected_wide", layer(fully_connected, (1, 640), channels=128))
    add("fully_connected_sparse", layer(fully_connected, (1, 256), channels=64, zeros=0.9))
    for name, kernel, stride, padding in [
        ("3x3_same", (3, 3), (2, 2), SAME), ("3x3_valid", (3, 3), (2, 2), VALID),
        ("4x4_same", (4, 4), (2, 2), SAME), ("stride1", (3, 3), (1, 1), SAME),
        ("5x5_valid", (5, 5), (2, 2), VALID),
    ]:
        add(f"transpose_conv_{name}",
            layer(transpose_conv, (1, 5, 6, 8), channels=10, kernel=kernel, stride=stride,
                  padding=padding))
    add("transpose_conv_no_bias",
        layer(transpose_conv, (1, 4, 6, 12), channels=6, kernel=(3, 3), stride=(2, 2),
              padding=SAME, bias=False))
    for name, a, b, fields in [
        ("2d", (5, 12), (12, 9), {}),
        ("3d", (2, 6, 16), (2, 16, 10), {}),
        ("adjoint_y", (1, 7, 20), (1, 11, 20), dict(adjoint_y=True)),
        ("adjoint_x", (1, 20, 7), (1, 20, 5), dict(adjoint_x=True)),
        ("4d", (1, 3, 8, 8), (1, 3, 8, 8), {}),
    ]:
        add(f"batch_matmul_{name}", _matmul("int8", a, b, fields))
    add("batch_matmul_int16", _matmul("int16", (1, 6, 16), (1, 16, 10), {}))


def _matmul(kind, a, b, fields):
    def build(seed):
        net = Net(seed)
        x, y = net.input(a, kind, 0.03), net.input(b, kind, 0.02)
        net.output(batch_matmul(net, x, y, **fields))
        return net
    return build


_convolutions()
_depthwise()
_others()
