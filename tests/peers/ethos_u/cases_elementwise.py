# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators, activations, quantize: as TFLite."""

import math

import numpy as np
from registry import add
from tflite_net import ACTIVATIONS, Net

ZERO_OUT = {"int8": 7, "uint8": 120, "int16": 0, "int32": 0}
OPTIONS = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions",
           "MINIMUM": "MaximumMinimumOptions", "MAXIMUM": "MaximumMinimumOptions",
           "SQUARED_DIFFERENCE": "SquaredDifferenceOptions"}


def binary_scale(op, kind, scales):
    """Returns a scale whose range contains most results."""
    top = {"int8": 128, "uint8": 128, "int16": 32768}.get(kind, 1)
    if op in ("MUL", "SQUARED_DIFFERENCE"):
        return scales[0] * scales[1] * top / (4 if op == "MUL" else 1)
    return sum(scales) * 0.8


def binary_op(net, op, a, b, scale=None, activation=None, zero=None):
    scale = binary_scale(op, a.kind, (a.scale, b.scale)) if scale is None else scale
    shape = np.broadcast_shapes(a.shape, b.shape)
    y = net.value(shape, a.kind, scale, ZERO_OUT[a.kind] if zero is None else zero)
    fields = {}
    if op in ("ADD", "SUB", "MUL", "DIV"):
        fields["fusedActivationFunction"] = ACTIVATIONS[activation]
    if op in ("ADD", "SUB"):
        fields["potScaleInt16"] = False
    return net.op(op, [a, b], [y], OPTIONS[op], **fields)


def binary(op, a, b, kind="int8", scales=(0.04, 0.09), zeros=(None, None), swap=False,
           constant=False, **fields):
    """Two inputs, or an input and a constant if `constant`; `swap` swaps the operands."""
    def build(seed):
        net = Net(seed)
        x = net.input(a, kind, scales[0], zeros[0])
        if constant:
            info = np.iinfo(x.dtype)
            data = net.random.integers(info.min, info.max, b, endpoint=True)
            y = net.constant(data, kind, scales[1], x.zero if zeros[1] is None else zeros[1])
        else:
            y = net.input(b, kind, scales[1], zeros[1])
        net.output(binary_op(net, op, *((y, x) if swap else (x, y)), **fields))
        return net
    return build


def unary(op, shape, kind="int8", scale=0.05, zero=None, out=None, options=None, low=None,
          high=None, out_kind=None, **fields):
    """One input, one output of the same shape; `out`: its scale and zero point."""
    def build(seed):
        net = Net(seed)
        x = net.input(shape, kind, scale, zero, low, high)
        out_scale, out_zero = out or (scale, x.zero)
        y = net.value(shape, out_kind or kind, out_scale, out_zero)
        net.output(net.op(op, [x], [y], options, **fields))
        return net
    return build


def _arithmetic():
    shape = (1, 6, 7, 20)
    for op in ("ADD", "SUB", "MUL"):
        name = op.lower()
        for kind in ("int8", "uint8", "int16"):
            small = (0.0004, 0.0009) if kind == "int16" else (0.04, 0.09)
            add(f"{name}_{kind}", binary(op, shape, shape, kind, small))
            add(f"{name}_swapped_scales_{kind}", binary(op, shape, shape, kind, small[::-1]))
        add(f"{name}_equal_scales", binary(op, shape, shape, "int8", (0.05, 0.05)))
        add(f"{name}_equal_scales_int16", binary(op, shape, shape, "int16", (0.0005, 0.0005)))
        add(f"{name}_unit_scales",
            binary(op, shape, shape, "int8", (1.0, 1.0), (0, 0), scale=1.0, zero=0))
        add(f"{name}_relu", binary(op, shape, shape, activation="relu"))
        for axis, other in {"h": (1, 1, 7, 20), "w": (1, 6, 1, 20), "c": (1, 6, 7, 1),
                            "hw": (1, 1, 1, 20), "scalar": (1, 1, 1, 1)}.items():
            add(f"{name}_broadcast_{axis}", binary(op, shape, other))
            add(f"{name}_broadcast_{axis}_first", binary(op, shape, other, swap=True))
        add(f"{name}_constant", binary(op, shape, shape, constant=True))
        add(f"{name}_constant_scalar", binary(op, shape, (1,), constant=True))
        add(f"{name}_constant_scalar_first", binary(op, shape, (1,), constant=True, swap=True))
        add(f"{name}_constant_scalar_int16",
            binary(op, shape, (1,), "int16", (0.0004, 0.0009), constant=True))
        add(f"{name}_constant_channel", binary(op, shape, (20,), constant=True))
    add("add_both_broadcast", binary("ADD", (1, 6, 1, 20), (1, 1, 7, 20)))
    add("add_far_scales", binary("ADD", shape, shape, "int8", (0.001, 0.2)))
    add("add_batch", binary("ADD", (3, 4, 5, 8), (3, 4, 5, 8)))
    add("add_large", binary("ADD", (1, 40, 33, 24), (1, 40, 33, 24)))
    add("squared_difference", binary("SQUARED_DIFFERENCE", shape, shape))
    add("squared_difference_broadcast", binary("SQUARED_DIFFERENCE", shape, (1, 1, 1, 20)))
    for op in ("MINIMUM", "MAXIMUM"):
        for kind in ("int8", "uint8", "int16"):
            equal = dict(scales=(0.05, 0.05), scale=0.05,
                         zero={"int8": -3, "uint8": 121, "int16": 0}[kind])
            name = op.lower()
            add(f"{name}_{kind}", binary(op, shape, shape, kind, **equal))
            add(f"{name}_broadcast_{kind}", binary(op, shape, (1, 1, 1, 20), kind, **equal))
            add(f"{name}_constant_scalar_{kind}",
                binary(op, shape, (1,), kind, constant=True, **equal))


def _activations():
    shape = (1, 5, 9, 18)
    add("abs_int8", unary("ABS", shape, options="AbsOptions"))
    add("abs_int16", unary("ABS", shape, "int16", options="AbsOptions"))
    add("abs_rescaled", unary("ABS", shape, out=(0.03, -128), options="AbsOptions"))
    for kind in ("int8", "uint8", "int16"):
        add(f"leaky_relu_{kind}",
            unary("LEAKY_RELU", shape, kind, options="LeakyReluOptions", alpha=0.13,
                  out=(0.04, {"int8": -20, "uint8": 100, "int16": 0}[kind])))
    for scale in (0.05, 0.03):
        add(f"leaky_relu_int16_{scale}",
            unary("LEAKY_RELU", shape, "int16", 0.05, options="LeakyReluOptions", alpha=0.3,
                  out=(scale, 0)))
    for kind, tanh, logistic in [("int8", (1 / 128, 0), (1 / 256, -128)),
                                 ("uint8", (1 / 128, 128), (1 / 256, 0)),
                                 ("int16", (1 / 32768, 0), (1 / 32768, 0))]:
        scale = 10 / 32768 if kind == "int16" else 0.04
        add(f"tanh_{kind}", unary("TANH", shape, kind, scale, out=tanh))
        add(f"logistic_{kind}", unary("LOGISTIC", shape, kind, scale, out=logistic))
    add("tanh_int16_every", _every("TANH"))
    add("logistic_int16_every", _every("LOGISTIC"))
    add("tanh_int16_pot", unary("TANH", shape, "int16", 1 / 4096, out=(1 / 32768, 0)))
    add("logistic_int16_pot", unary("LOGISTIC", shape, "int16", 1 / 2048, out=(1 / 32768, 0)))
    add("hard_swish_int8",
        unary("HARD_SWISH", shape, scale=0.06, out=(0.03, -110), options="HardSwishOptions"))
    add("hard_swish_uint8", unary("HARD_SWISH", shape, "uint8", scale=0.06, out=(0.03, 20),
                                  options="HardSwishOptions"))
    add("exp_int8", unary("EXP", shape, scale=0.02, out=(0.05, -128), options="ExpOptions"))
    add("exp_int16", unary("EXP", shape, "int16", scale=0.0001, out=(0.001, 0),
                           options="ExpOptions"))
    add("rsqrt_int8", unary("RSQRT", shape, scale=0.02, zero=-128, out=(0.03, -120)))
    add("log_int8", unary("LOG", shape, scale=0.02, zero=-128, out=(0.05, 10)))
    add("log_int16", unary("LOG", shape, "int16", scale=0.001, zero=0, out=(0.0005, 0), low=1))
    add("gelu_int8", unary("GELU", shape, scale=0.04, out=(0.03, -110), options="GeluOptions"))
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
        add(f"{op.lower()}_int8", unary(op, shape, scale=0.06, out=(0.05, -30)))
    add("relu_int16", unary("RELU", shape, "int16", scale=0.0006, out=(0.0005, 0)))
    # LiteRT negates quantized values directly, which is correct only with zero point 0.
    add("neg_int8", unary("NEG", shape, zero=0, low=-127, options="NegOptions"))
    add("prelu_int8", _prelu(shape, "int8"))
    for kind, out in [("int8", ("int8", 0.03, 9)), ("int16", ("int8", 30.0, 3)),
                      ("uint8", ("int8", 0.05, -7)), ("int8_up", ("int16", 0.001, 0)),
                      ("int8_to_uint8", ("uint8", 0.05, 125)), ("int16_again", ("int16", 0.06, 0))]:
        source = kind.split("_")[0]
        add(f"quantize_{kind}", unary("QUANTIZE", shape, source, out=out[1:], out_kind=out[0],
                                      options="QuantizeOptions"))


def _every(op):
    """All 65,536 values once, with a scale whose range reaches far into saturation."""
    def build(seed):
        net = Net(seed)
        x = net.input((1, 64, 64, 16), "int16", 10 / 32768, 0)
        y = net.value(x.shape, "int16", 1 / 32768, 0)
        net.output(net.op(op, [x], [y]))
        every = np.arange(-32768, 32768, dtype=np.int16).reshape(x.shape)
        net.test_inputs = lambda: [every]
        return net
    return build


def _prelu(shape, kind):
    def build(seed):
        net = Net(seed)
        x = net.input(shape, kind)
        alpha = net.constant(net.random.integers(-100, 100, (1, 1, shape[-1])), kind, 0.004, 3)
        y = net.value(shape, kind, 0.04, -20)
        net.output(net.op("PRELU", [x, alpha], [y]))
        return net
    return build


_arithmetic()
_activations()
