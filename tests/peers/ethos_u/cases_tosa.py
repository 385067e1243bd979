# SPDX-License-Identifier: Apache-2.0
"""Operators as TOSA, including some that TFLite cannot express. The reference is the TOSA reference model."""

import numpy as np
import tosa_serializer as ts
from registry import add
from tosa_net import Net, Value

U85 = ("u85",)
PROPAGATE = ts.NanPropagationMode.PROPAGATE
I32, I48 = ts.DType.INT32, ts.DType.INT48


def case(name, function, **fields):
    """Returns a case whose function adds operators to a network and returns the outputs."""
    def build(seed):
        net = Net(seed)
        made = function(net)
        for value in made if isinstance(made, tuple) else (made,):
            net.output(value)
        return net
    add("tosa_" + name, build, **fields)


def to8(net, x, spread, rounding="SINGLE_ROUND", zero=3):
    """RESCALE to int8 that maps `spread` to about 60."""
    scale = 60.0 / spread
    shift = int(np.floor(30 - np.log2(scale)))
    return net.rescale(x, "int8", int(scale * 2.0 ** shift), shift, 0, zero, rounding)


def to16(net, x, scale):
    """RESCALE of a 48-bit value to int16, for which TOSA has 16-bit multipliers."""
    shift = int(np.floor(14 - np.log2(scale)))
    return net.rescale(x, "int16", int(scale * 2.0 ** shift), shift, scale32=False)


def conv(net, x, channels, kernel, op="CONV2D", stride=(1, 1), dilation=(1, 1),
         pad=(0, 0, 0, 0), low=-127):
    batch, height, width, depth = x.shape
    wide = x.kind == "int16"
    kind = "int48" if wide else "int32"
    if op == "DEPTHWISE_CONV2D":
        shape, out_depth = (*kernel, depth, channels), depth * channels
    else:
        shape, out_depth = (channels, *kernel, depth), channels
    weights = net.constant(net.random.integers(low, -low, shape), "int8")
    bias = net.constant(net.random.integers(-3000, 3000, out_depth), kind)
    zeros = [net.constant([0 if wide else -4], x.kind), net.constant([0], "int8")]
    size = [(extent + sum(pads) - ((k - 1) * d + 1)) // step + 1 for extent, pads, k, d, step in
            zip((height, width), (pad[:2], pad[2:]), kernel, dilation, stride)]
    attribute = ("Conv2dAttribute" if op == "CONV2D" else "DepthwiseConv2dAttribute")
    y = net.op(op, [x, weights, bias, *zeros], (batch, *size, out_depth), kind, list(pad),
               list(stride), list(dilation), False, I48 if wide else I32, attribute=attribute)
    terms = kernel[0] * kernel[1] * (1 if op == "DEPTHWISE_CONV2D" else depth)
    return y, (18900 if wide else 74) * 74 * terms ** 0.5


def conv_case(rounding="SINGLE_ROUND", x=(1, 7, 8, 12), kind="int8", per_channel=False, **fields):
    def make(net):
        y, spread = conv(net, net.input(x, kind), **fields)
        if kind == "int16":
            return to16(net, y, 18000 / spread)
        if not per_channel:
            return to8(net, y, spread, rounding)
        channels = y.shape[-1]
        scales = 60 / spread * net.random.uniform(0.3, 1.4, channels)
        shifts = np.floor(30 - np.log2(scales)).astype(np.int64)
        return net.rescale(y, "int8", (scales * 2.0 ** shifts).astype(np.int64), shifts, 0, -9,
                           rounding)
    return make


def transpose_conv(net):
    x = net.input((1, 5, 6, 8))
    weights = net.constant(net.random.integers(-127, 127, (10, 3, 3, 8)), "int8")
    bias = net.constant(net.random.integers(-3000, 3000, 10), "int32")
    zeros = [net.constant([5], "int8"), net.constant([0], "int8")]
    y = net.op("TRANSPOSE_CONV2D", [x, weights, bias, *zeros], (1, 11, 13, 10), "int32",
               [0, 0, 0, 0], [2, 2], False, I32, attribute="TransposeConv2dAttribute")
    return to8(net, y, 74 * 74 * 18 ** 0.5)


def matmul(kind, a, b):
    def make(net):
        x, y = net.input(a, kind), net.input(b, kind)
        zeros = [net.constant([2 if kind == "int8" else 0], kind) for _ in range(2)]
        out = "int48" if kind == "int16" else "int32"
        z = net.op("MATMUL", [x, y, *zeros], (a[0], a[1], b[2]), out, attribute="MatMulAttribute")
        if kind == "int16":
            return to16(net, z, 18000 / (18900 ** 2 * a[2] ** 0.5))
        return to8(net, z, 74 ** 2 * a[2] ** 0.5)
    return make


def binary32(op, fields=(), low=-2**30, high=2**30, second=None, shape2=None, kind="int32",
             attribute=None, shape=(1, 5, 7, 12)):
    """Two int32 inputs; `second` is the range of the second."""
    def make(net):
        a = net.input(shape, kind, low, high)
        b = net.input(shape2 or shape, kind, *(second or (low, high)))
        return net.op(op, [a, b], shape, kind, *fields, attribute=attribute)
    return make


def unary32(op, fields=(), kind="int32", low=None, high=None, shape=(1, 5, 7, 12)):
    def make(net):
        x = net.input(shape, kind, low, high)
        return net.op(op, [x], x.shape, kind, *fields)
    return make


def add_rescaled(rounding, shape=(1, 6, 7, 20)):
    def make(net):
        a, b = net.input(shape), net.input((*shape[:2], 1, shape[3]))
        x = net.rescale(a, "int32", 1 << 30, 11, 3, 0, rounding)
        y = net.rescale(b, "int32", 1610612736, 12, -5, 0, rounding)
        total = net.op("ADD", [x, y], x.shape, "int32")
        return net.rescale(total, "int8", 1342177280, 50, 0, 4, rounding)
    return make


def mul(kind, shift=0):
    def make(net):
        a = net.input((1, 6, 7, 20), kind, *((-40000, 40000) if kind == "int32" else ()))
        b = net.input((1, 6, 7, 20), kind, *((-40000, 40000) if kind == "int32" else ()))
        y = net.op("MUL", [a, b, net.constant([shift], "int8")], a.shape, "int32")
        return y if kind == "int32" else to8(net, y, 5500 if kind == "int8" else 18900 ** 2)
    return make


def rescale(source, target, scale, rounding="SINGLE_ROUND", zero_in=0, zero_out=0, low=None,
            high=None, shape=(1, 6, 7, 20)):
    def make(net):
        x = net.input(shape, source, low, high)
        shift = int(np.floor(30 - np.log2(scale)))
        return net.rescale(x, target, int(scale * 2.0 ** shift), shift, zero_in, zero_out,
                           rounding)
    return make


def rescale_channels(net):
    x = net.input((1, 5, 6, 9))
    scales = net.random.uniform(0.2, 1.9, 9)
    shifts = np.floor(30 - np.log2(scales)).astype(np.int64)
    return net.rescale(x, "int8", (scales * 2.0 ** shifts).astype(np.int64), shifts, -7, 11)


def table8(net):
    x = net.input((1, 6, 7, 20))
    table = net.constant(net.random.integers(-128, 128, 256), "int8")
    return net.op("TABLE", [x, table], x.shape, "int8")


def table16(net, shape=(1, 6, 7, 20)):
    x = net.input(shape, "int16")
    curve = 30000 * np.sin(np.arange(513) / 40.0) + net.random.integers(-200, 200, 513)
    table = net.constant(curve.astype(np.int64), "int16")
    return net.op("TABLE", [x, table], x.shape, "int32")


def pool(op, kind, kernel, stride, pad, shape=(9, 11, 18)):
    def make(net):
        x = net.input((1, *shape), kind)
        size = [(extent + sum(pads) - k) // step + 1 for extent, pads, k, step in
                zip(shape, (pad[:2], pad[2:]), kernel, stride)]
        if op == "MAX_POOL2D":
            return net.op(op, [x], (1, *size, shape[2]), kind, list(kernel), list(stride),
                          list(pad), PROPAGATE, attribute="MaxPool2dAttribute")
        zeros = [net.constant([0], kind) for _ in range(2)]
        return net.op(op, [x, *zeros], (1, *size, shape[2]), kind, list(kernel), list(stride),
                      list(pad), I32, attribute="AvgPool2dAttribute")
    return make


def reduce(op, kind, axis, low=None, high=None, shape=(1, 6, 5, 14)):
    def make(net):
        x = net.input(shape, kind, low, high)
        reduced = [1 if i == axis else size for i, size in enumerate(x.shape)]
        fields = (axis,) if op == "REDUCE_SUM" else (axis, PROPAGATE)
        return net.op(op, [x], reduced, kind, *fields)
    return make


def resize(mode, scale, offset, border, kind="int8", size=(5, 6)):
    def make(net):
        x = net.input((1, *size, 12), kind)
        out = [((extent - 1) * scale[2 * i] - offset[i] + border[i]) // scale[2 * i + 1] + 1
               for i, extent in enumerate(size)]
        wide = {"int8": "int32", "int16": "int48"}[kind]
        result = kind if mode == "NEAREST" else wide
        y = net.op("RESIZE", [x, net.shape(*scale), net.shape(*offset), net.shape(*border)],
                   (1, *out, 12), result, getattr(ts.ResizeMode, mode))
        if mode == "NEAREST":
            return y
        if kind == "int16":
            return to16(net, y, 1 / (scale[0] * scale[2]))
        return net.rescale(y, kind, 1 << 30, 30 + int(np.log2(scale[0] * scale[2])))
    return make


def moved(op, shape, kind="int8", x=(1, 5, 6, 12), sizes=(), fields=(), constant=None):
    def make(net):
        value = net.input(x, kind)
        inputs = [value, *(net.shape(*numbers) for numbers in sizes)]
        if constant is not None:
            inputs.append(net.constant([constant], kind))
        return net.op(op, inputs, shape, kind, *fields)
    return make


def compare(op, kind):
    def make(net):
        a, b = net.input((1, 5, 6, 20), kind, -9, 9), net.input((1, 5, 6, 20), kind, -9, 9)
        return net.op(op, [a, b], a.shape, "bool")
    return make


def select(kind, condition=(1, 5, 6, 20)):
    def make(net):
        c = net.input(condition, "bool")
        a, b = net.input((1, 5, 6, 20), kind), net.input((1, 5, 6, 20), kind)
        return net.op("SELECT", [c, a, b], a.shape, kind)
    return make


def gather(kind, batch, rows, width, count):
    def make(net):
        x = net.input((batch, rows, width), kind)
        where = net.input((batch, count), "int32", 0, rows - 1)
        return net.op("GATHER", [x, where], (batch, count, width), kind)
    return make


def scatter(kind, batch, rows, width, count):
    def make(net):
        x = net.input((batch, rows, width), kind)
        unique = [net.random.permutation(rows)[:count] for _ in range(batch)]
        where = net.input((batch, count), "int32", 0, rows - 1, data=np.array(unique))
        new = net.input((batch, count, width), kind)
        return net.op("SCATTER", [x, where, new], (batch, rows, width), kind)
    return make


def conditional(taken, work="simple"):
    """COND_IF: one of two regions runs, each with other operators."""
    def build(seed):
        net = Net(seed)
        ser = net.serializer
        condition = net.input((1,), "bool", data=[taken])
        a, b = net.input((1, 5, 6, 16), "int32", -9999, 9999), net.input((1, 5, 6, 16), "int32",
                                                                        -9999, 9999)
        y = net.op("COND_IF", [condition, a, b], a.shape, "int32", "then_region", "else_region",
                   attribute="CondIfAttribute")
        net.output(y)
        for region, op in (("then_region", "ADD"), ("else_region", "SUB")):
            ser.startRegion(region)
            ser.addBasicBlock(region)
            inner = []
            for _ in range(2):
                name = net._name()
                ser.addInputTensor(ts.TosaSerializerTensor(name, [1, 5, 6, 16], I32))
                inner.append(name)
            values = [Value(name, (1, 5, 6, 16), "int32") for name in inner]
            z = net.op(op, values, a.shape, "int32")
            if work == "long":
                z = net.op("MAXIMUM", [z, values[1]], a.shape, "int32", PROPAGATE)
                if op == "SUB":
                    z = net.op("ABS", [z], a.shape, "int32")
            net.output(z)
        return net
    return build


def _convolutions():
    for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        short = rounding.split("_")[0].lower()
        case(f"conv2d_{short}", conv_case(rounding, channels=20, kernel=(3, 3),
                                          pad=(1, 1, 1, 1)))
        case(f"conv2d_{short}_per_channel", conv_case(rounding, channels=20, kernel=(1, 1),
                                                      per_channel=True))
        case(f"add_{short}", add_rescaled(rounding))
        case(f"rescale_{short}", rescale("int8", "int8", 0.731, rounding, 5, -3))
        case(f"rescale_32_to_8_{short}",
             rescale("int32", "int8", 0.00011, rounding, 0, -3, -2**20, 2**20))
        case(f"rescale_32_to_16_{short}",
             rescale("int32", "int16", 0.0311, rounding, 0, 0, -2**20, 2**20))
    case("conv2d_int16", conv_case(x=(1, 6, 7, 12), kind="int16", channels=10, kernel=(3, 3)))
    case("conv2d_stride3_dilated2",
         conv_case(x=(1, 16, 17, 6), channels=9, kernel=(3, 2), stride=(3, 3), dilation=(2, 2),
                   pad=(1, 3, 0, 1)))
    case("depthwise_conv2d",
         conv_case(op="DEPTHWISE_CONV2D", x=(1, 9, 8, 12), channels=1, kernel=(3, 3),
                   pad=(1, 1, 1, 1)))
    case("transpose_conv2d", transpose_conv)
    case("matmul_int8", matmul("int8", (2, 5, 16), (2, 16, 9)))
    case("matmul_int16", matmul("int16", (2, 5, 16), (2, 16, 9)), generations=U85)


def _arithmetic():
    for op in ("ADD", "SUB"):
        case(f"{op.lower()}_int32", binary32(op))
        case(f"{op.lower()}_int32_broadcast", binary32(op, shape2=(1, 1, 7, 1)))
    for op in ("MAXIMUM", "MINIMUM"):
        case(f"{op.lower()}_int32", binary32(op, (PROPAGATE,)))
    case("arithmetic_right_shift_round",
         binary32("ARITHMETIC_RIGHT_SHIFT", (True,), second=(0, 31)))
    case("arithmetic_right_shift",
         binary32("ARITHMETIC_RIGHT_SHIFT", (False,), second=(0, 31)), generations=U85)
    case("logical_left_shift",
         binary32("LOGICAL_LEFT_SHIFT", low=-2**31, high=2**31 - 1, second=(0, 31)))
    case("logical_right_shift",
         binary32("LOGICAL_RIGHT_SHIFT", low=-2**31, high=2**31 - 1, second=(0, 31)),
         generations=U85)
    for name, divisors in (("intdiv", (1, 5000)), ("intdiv_negative", (-5000, -1))):
        case(name, binary32("INTDIV", second=divisors, attribute="IntDivAttribute"),
             generations=U85)
    case("clz", unary32("CLZ"))
    case("abs_int32", unary32("ABS", low=-2**31 + 1))
    for kind in ("int8", "int16", "int32"):
        case(f"mul_{kind}", mul(kind))
        for op in ("BITWISE_AND", "BITWISE_OR", "BITWISE_XOR"):
            case(f"{op.lower()}_{kind}", binary32(op, kind=kind, low=None, high=None),
                 generations=U85)
        case(f"bitwise_not_{kind}", unary32("BITWISE_NOT", kind=kind), generations=U85)
    case("mul_int32_shift", mul("int32", 5))
    for op in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR"):
        case(op.lower(), binary32(op, kind="bool"), generations=U85, distinct=2)
    case("logical_not", unary32("LOGICAL_NOT", kind="bool"), generations=U85, distinct=2)
    for kind in ("int8", "int16", "int32"):
        if kind != "int8":
            case(f"rescale_8_to_{kind[3:]}", rescale("int8", kind, 37.25, zero_in=4))
        case(f"select_{kind}", select(kind), generations=U85)
    case("equal", compare("EQUAL", "int32"), generations=U85, distinct=2)
    case("greater", compare("GREATER", "int32"), generations=U85, distinct=2)
    case("greater_equal", compare("GREATER_EQUAL", "int32"), generations=U85, distinct=2)
    case("select_broadcast", select("int8", (1, 1, 6, 1)), generations=U85)
    case("rescale_16_to_8", rescale("int16", "int8", 0.0041, zero_out=6))
    case("rescale_channels", rescale_channels)
    case("table_int8", table8)
    case("table_int16", table16, generations=U85)
    case("negate_int8", _negate)
    case("clamp_int8", lambda net: _clamp(net, "int8", -60, 40))
    case("clamp_int16", lambda net: _clamp(net, "int16", -6000, 14000))


def _negate(net):
    x = net.input((1, 5, 7, 12))
    zeros = [net.constant([4], "int8"), net.constant([-6], "int8")]
    return net.op("NEGATE", [x, *zeros], x.shape, "int8")


def _clamp(net, kind, low, high):
    x = net.input((1, 5, 7, 12), kind)
    dtype = np.int8 if kind == "int8" else np.int16
    edges = [list(np.array([edge], dtype).tobytes()) for edge in (low, high)]
    return net.op("CLAMP", [x], x.shape, kind, *edges, PROPAGATE)


def _cast(source, target):
    def make(net):
        x = net.input((1, 5, 7, 12), source)
        return net.op("CAST", [x], x.shape, target)
    return make


def _shapes():
    for op in ("MAX_POOL2D", "AVG_POOL2D"):
        for kind in ("int8", "int16"):
            case(f"{op.lower()}_{kind}", pool(op, kind, (3, 3), (2, 2), (1, 1, 1, 1)))
        case(f"{op.lower()}_2x4", pool(op, "int8", (2, 5), (1, 3), (0, 0, 0, 0)))
    for axis in (1, 2, 3):
        name = "nhwc"[axis]
        case(f"reduce_sum_{name}", reduce("REDUCE_SUM", "int32", axis, -2**20, 2**20))
        case(f"reduce_max_{name}", reduce("REDUCE_MAX", "int8", axis))
        case(f"reduce_min_{name}", reduce("REDUCE_MIN", "int8", axis))
        case(f"reverse_{name}", moved("REVERSE", (1, 5, 6, 12), fields=(axis,)))
    case("reverse_int16", moved("REVERSE", (1, 5, 6, 12), "int16", fields=(2,)))
    case("reverse_int32", moved("REVERSE", (1, 5, 6, 12), "int32", fields=(1,)), generations=U85)
    for op in ("REDUCE_ALL", "REDUCE_ANY"):
        case(op.lower(), _reduce_bool(op), generations=U85, distinct=2)
    for mode in ("NEAREST", "BILINEAR"):
        case(f"resize_{mode.lower()}_2x", resize(mode, (2, 1, 2, 1), (0, 0), (1, 1)))
        case(f"resize_{mode.lower()}_4_2", resize(mode, (4, 2, 4, 2), (0, 0), (2, 2)))
        case(f"resize_{mode.lower()}_4x", resize(mode, (4, 1, 4, 1), (0, 0), (3, 3)),
             generations=U85)
    case("resize_bilinear_half", resize("BILINEAR", (4, 2, 4, 2), (-1, -1), (1, 1)))
    case("resize_bilinear_int16", resize("BILINEAR", (4, 2, 4, 2), (0, 0), (2, 2), "int16"),
         generations=U85)
    case("resize_nearest_down", resize("NEAREST", (2, 4, 2, 4), (0, 0), (0, 0), size=(9, 7)),
         generations=U85)
    case("pad_int8", moved("PAD", (1, 8, 7, 12), sizes=[(0, 0, 1, 2, 0, 1, 0, 0)], constant=-33))
    case("pad_int32", moved("PAD", (1, 8, 7, 12), "int32", sizes=[(0, 0, 1, 2, 0, 1, 0, 0)],
                            constant=7777))
    case("slice_int32", moved("SLICE", (1, 3, 4, 5), "int32",
                              sizes=[(0, 1, 2, 3), (1, 3, 4, 5)]))
    case("tile_int32", moved("TILE", (1, 10, 6, 24), "int32", sizes=[(1, 2, 1, 2)]))
    case("reshape_int8", moved("RESHAPE", (1, 15, 24), sizes=[(1, 15, 24)]))
    for kind in ("int8", "int16", "int32"):
        orders = [(0, 2, 1, 3)] if kind == "int32" else [(0, 2, 1, 3), (0, 3, 1, 2), (0, 3, 2, 1)]
        for order in orders:
            name = "".join("nhwc"[axis] for axis in order)
            case(f"transpose_{name}_{kind}",
                 moved("TRANSPOSE", [(1, 5, 6, 12)[axis] for axis in order], kind,
                       fields=(list(order),)))
    case("cast_8_to_32", _cast("int8", "int32"))
    case("cast_8_to_16", _cast("int8", "int16"))
    case("cast_32_to_8", _cast("int32", "int8"), generations=U85)
    case("cast_bool_to_8", _cast("bool", "int8"), generations=U85, distinct=2)
    for kind in ("int8", "int16", "int32"):
        case(f"concat_{kind}", _concat(kind))
        case(f"gather_{kind}", gather(kind, 1, 11, 9, 7), generations=U85)
        case(f"scatter_{kind}", scatter(kind, 1, 11, 9, 6), generations=U85)
    case("gather_batch", gather("int8", 3, 8, 16, 5), generations=U85)
    case("scatter_batch", scatter("int16", 2, 9, 8, 4), generations=U85)
    case("argmax", _argmax(3), generations=("u55", "u65", "u85"))
    case("argmax_w", _argmax(2), generations=U85, distinct=4)
    case("argmax_h", _argmax(1), generations=U85, distinct=4)


def _concat(kind):
    def make(net):
        a, b = net.input((1, 4, 5, 8), kind), net.input((1, 4, 5, 3), kind)
        return net.op("CONCAT", [a, b], (1, 4, 5, 11), kind, 3)
    return make


def _argmax(axis):
    def make(net):
        x = net.input((1, 6, 7, 19))
        shape = [size for i, size in enumerate(x.shape) if i != axis]
        return net.op("ARGMAX", [x], shape, "int32", axis, PROPAGATE, attribute="ArgMaxAttribute")
    return make


def _reduce_bool(op):
    def make(net):
        x = net.input((1, 9, 5, 2), "bool")
        return net.op(op, [x], (1, 9, 5, 1), "bool", 3)
    return make


_convolutions()
_arithmetic()
_shapes()
for _taken in (True, False):
    add(f"tosa_cond_if_{str(_taken).lower()}", conditional(_taken), generations=U85)
    add(f"tosa_cond_if_long_{str(_taken).lower()}", conditional(_taken, "long"), generations=U85)
