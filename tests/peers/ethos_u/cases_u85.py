# SPDX-License-Identifier: Apache-2.0
"""TFLite operators that only the U85 runs."""

from cases_conv import conv2d
from cases_elementwise import binary_op
from registry import add
from tflite_net import Net

U85 = ("u85",)


def compare(op, kind="int8", constant=False, zeros=(None, None)):
    def build(seed):
        net = Net(seed)
        shape = (1, 5, 6, 20)
        scale = {"int8": 0.05, "int16": 0.001, "int32": 1.0}[kind]
        a = net.input(shape, kind, scale, zeros[0], -8, 8)
        if constant:
            b = net.constant([3], kind, scale, a.zero)
        else:
            b = net.input(shape, kind, scale, zeros[1], -8, 8)
        y = net.value(shape, "bool", 1.0, 0)
        net.output(net.op(op, [a, b], [y]))
        return net
    return build


def logical(op):
    def build(seed):
        net = Net(seed)
        shape = (1, 5, 6, 20)
        count = 1 if op == "LOGICAL_NOT" else 2
        xs = [net.input(shape, "bool", 1.0, 0) for _ in range(count)]
        net.output(net.op(op, xs, [net.value(shape, "bool", 1.0, 0)]))
        return net
    return build


def select(op, kind="int8", condition=(1, 5, 6, 20)):
    def build(seed):
        net = Net(seed)
        shape = (1, 5, 6, 20)
        c = net.input(condition, "bool", 1.0, 0)
        a, b = net.input(shape, kind, 0.05), net.input(shape, kind, 0.05)
        y = net.value(shape, kind, 0.05, a.zero)
        net.output(net.op(op, [c, a, b], [y], "SelectOptions" if op == "SELECT"
                          else "SelectV2Options"))
        return net
    return build


def gather(kind, shape, count, axis=0):
    def build(seed):
        net = Net(seed)
        x = net.input(shape, kind, 0.05)
        rows = net.input((count,), "int32", 1.0, 0, 0, shape[axis] - 1)
        y = net.value((*shape[:axis], count, *shape[axis + 1:]), kind, 0.05, x.zero)
        net.output(net.op("GATHER", [x, rows], [y], "GatherOptions", axis=axis))
        return net
    return build


def scatter(kind, rows, width):
    def build(seed):
        net = Net(seed)
        where = net.constant(net.random.permutation(rows * 2)[:rows].reshape(rows, 1))
        x = net.input((rows, width), kind, 0.05, 0)
        shape = net.constant((rows * 2, width))
        y = net.value((rows * 2, width), kind, 0.05, 0)
        net.output(net.op("SCATTER_ND", [where, x, shape], [y], "ScatterNdOptions"))
        return net
    return build


def reduce_bool(op):
    def build(seed):
        net = Net(seed)
        x = net.input((1, 9, 4, 2), "bool", 1.0, 0)
        y = net.value((1, 9, 4, 1), "bool", 1.0, 0)
        net.output(net.op(op, [x, net.constant((3,))], [y], "ReducerOptions", keepDims=True))
        return net
    return build


def cast(source, target):
    def build(seed):
        net = Net(seed)
        limit = 100 if "8" in target else None
        x = net.input((1, 5, 6, 20), source, 1.0, 0, None if limit is None else -limit, limit)
        y = net.value(x.shape, target, 1.0, 0)
        kinds = {"int8": 9, "int16": 7, "int32": 2, "bool": 6}
        net.output(net.op("CAST", [x], [y], "CastOptions", inDataType=kinds[source],
                          outDataType=kinds[target]))
        return net
    return build


def chain_of(shape):
    """Consecutive elementwise operators, whose values the U85 keeps in its chaining buffer."""
    def build(seed):
        net = Net(seed)
        a, b, c = (net.input(shape, "int8", scale) for scale in (0.03, 0.05, 0.02))
        first = binary_op(net, "ADD", a, b)
        second = binary_op(net, "MUL", first, c)
        third = binary_op(net, "SUB", second, a)
        net.output(binary_op(net, "MAXIMUM", third, third, third.scale, zero=third.zero))
        return net
    return build


def chain_after_conv(seed):
    net = Net(seed)
    x = net.input((1, 8, 9, 16))
    y = conv2d(net, x, 16)
    z = binary_op(net, "ADD", y, x)
    out = net.value(z.shape, "int8", 1 / 256, -128)
    net.output(net.op("LOGISTIC", [z], [out]))
    return net


def chain_fork(seed):
    net = Net(seed)
    a, b = net.input((1, 7, 6, 40), "int8", 0.03), net.input((1, 7, 6, 40), "int8", 0.04)
    total = binary_op(net, "ADD", a, b)
    product = binary_op(net, "MUL", total, b)
    net.output(total, binary_op(net, "SUB", product, total))
    return net


def int32_arithmetic(op, divisor=(-30000, 30000), shape=(1, 5, 6, 20)):
    def build(seed):
        net = Net(seed)
        a = net.input(shape, "int32", 1.0, 0, -30000, 30000)
        b = net.input(shape, "int32", 1.0, 0, *divisor)
        net.output(binary_op(net, op, a, b, 1.0))
        return net
    return build


for _op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
    add(_op.lower(), compare(_op), generations=U85, distinct=2)
add("greater_int16", compare("GREATER", "int16"), generations=U85, distinct=2)
add("equal_int32", compare("EQUAL", "int32"), generations=U85, distinct=2)
add("less_constant", compare("LESS", constant=True), generations=U85, distinct=2)
for _op in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"):
    add(_op.lower(), logical(_op), generations=U85, distinct=2)
for _op in ("SELECT", "SELECT_V2"):
    add(f"{_op.lower()}_int8", select(_op), generations=U85)
add("select_v2_int16", select("SELECT_V2", "int16"), generations=U85)
add("select_v2_broadcast", select("SELECT_V2", condition=(1, 5, 6, 1)), generations=U85)
add("gather_int8", gather("int8", (12, 20), 9), generations=U85)
add("gather_int16", gather("int16", (16, 6, 8), 5), generations=U85)
add("gather_int32", gather("int32", (10, 7), 14), generations=U85)
add("scatter_int8", scatter("int8", 7, 18), generations=U85)
add("scatter_int32", scatter("int32", 5, 9), generations=U85)
add("reduce_any", reduce_bool("REDUCE_ANY"), generations=U85, distinct=2)
add("reduce_all", reduce_bool("REDUCE_ALL"), generations=U85, distinct=2)
for _pair in (("int8", "int32"), ("int16", "int32"), ("int8", "int16"), ("int32", "int16"),
              ("bool", "int8"), ("int8", "bool")):
    add(f"cast_{_pair[0]}_to_{_pair[1]}", cast(*_pair), generations=U85, distinct=2)
# Not MUL: Vela 5.1.0 writes (2^30, 30) as the scale of a 32-bit product. The hardware uses only the shift, as Vela's own
# constraint of the U85 states.
for _op in ("ADD", "SUB"):
    add(f"{_op.lower()}_int32", int32_arithmetic(_op))
add("div_int32", int32_arithmetic("DIV", (1, 90)), generations=U85)
add("chain_elementwise", chain_of((1, 8, 9, 24)))
add("chain_after_conv", chain_after_conv)
add("chain_fork", chain_fork)
