# SPDX-License-Identifier: Apache-2.0
"""Pools, reductions, softmax, resizes, and operators that move data: as TFLite."""

import numpy as np
from cases_conv import layer, spatial
from registry import add
from tflite_net import ACTIVATIONS, SAME, VALID, Net

U85 = ("u85",)


def pool(net, x, op, kernel, stride=None, padding=VALID, activation=None):
    stride = stride or kernel
    batch, height, width, depth = x.shape
    y = net.value((batch, spatial(height, kernel[0], stride[0], 1, padding),
                   spatial(width, kernel[1], stride[1], 1, padding), depth),
                  x.kind, x.scale, x.zero)
    return net.op(op, [x], [y], "Pool2DOptions", padding=padding, strideH=stride[0],
                  strideW=stride[1], filterHeight=kernel[0], filterWidth=kernel[1],
                  fusedActivationFunction=ACTIVATIONS[activation])


def reduce(net, x, op, axes, keep=True, out=None):
    shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
    if not keep:
        shape = [size for i, size in enumerate(x.shape) if i not in axes]
    scale, zero = out or (x.scale, x.zero)
    y = net.value(shape, x.kind, scale, zero)
    return net.op(op, [x, net.constant(sorted(axes))], [y], "ReducerOptions", keepDims=keep)


def softmax(net, x, beta=1.0):
    out = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}[x.kind]
    y = net.value(x.shape, x.kind, *out)
    return net.op("SOFTMAX", [x], [y], "SoftmaxOptions", beta=beta)


def resize(net, x, op, size, align=False, half=False):
    y = net.value((x.shape[0], *size, x.shape[3]), x.kind, x.scale, x.zero)
    options = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    return net.op(op, [x, net.constant(size)], [y], options, alignCorners=align,
                  halfPixelCenters=half)


def moved(net, x, op, shape, extra=(), options=None, out=None, **fields):
    """An operator that copies elements: same quantization, different shape."""
    scale, zero = out or (x.scale, x.zero)
    y = net.value(shape, x.kind, scale, zero)
    constants = [net.constant(data) for data in extra]
    return net.op(op, [x, *constants], [y], options, **fields)


def transpose(net, x, order):
    return moved(net, x, "TRANSPOSE", [x.shape[i] for i in order], [order], "TransposeOptions")


def pad(net, x, pads, op="PAD", value=None):
    shape = [size + sum(sides) for size, sides in zip(x.shape, pads)]
    y = net.value(shape, x.kind, x.scale, x.zero)
    inputs = [x, net.constant(pads)]
    if op == "MIRROR_PAD":
        return net.op(op, inputs, [y], "MirrorPadOptions", mode=value)
    if op == "PADV2":
        inputs.append(net.constant([value], x.kind, x.scale, x.zero))
    return net.op(op, inputs, [y], "PadOptions" if op == "PAD" else "PadV2Options")


def concat(shapes, axis, kind="int8", scales=None):
    def build(seed):
        net = Net(seed)
        scales_ = scales or [0.05] * len(shapes)
        xs = [net.input(shape, kind, scale) for shape, scale in zip(shapes, scales_)]
        shape = list(shapes[0])
        shape[axis] = sum(part[axis] for part in shapes)
        y = net.value(shape, kind, scales_[0], xs[0].zero)
        net.output(net.op("CONCATENATION", xs, [y], "ConcatenationOptions", axis=axis))
        return net
    return build


def split(shape, axis, parts, kind="int8"):
    """`parts`: their number, or their sizes for SPLIT_V."""
    def build(seed):
        net = Net(seed)
        x = net.input(shape, kind)
        even = isinstance(parts, int)
        sizes = [shape[axis] // parts] * parts if even else parts
        ys = [net.value([*shape[:axis], size, *shape[axis + 1:]], kind, x.scale, x.zero)
              for size in sizes]
        where = net.constant(axis)
        if even:
            net.op("SPLIT", [where, x], ys, "SplitOptions", numSplits=parts)
        else:
            net.op("SPLIT_V", [x, net.constant(sizes), where], ys, "SplitVOptions",
                   numSplits=len(sizes))
        net.output(*ys)
        return net
    return build


def packed(shapes, axis):
    def build(seed):
        net = Net(seed)
        xs = [net.input(shape) for shape in shapes]
        shape = list(shapes[0])
        shape.insert(axis, len(shapes))
        y = net.value(shape, "int8", xs[0].scale, xs[0].zero)
        net.output(net.op("PACK", xs, [y], "PackOptions", valuesCount=len(xs), axis=axis))
        return net
    return build


def unpacked(shape, axis):
    def build(seed):
        net = Net(seed)
        x = net.input(shape)
        rest = [*shape[:axis], *shape[axis + 1:]]
        ys = [net.value(rest, "int8", x.scale, x.zero) for _ in range(shape[axis])]
        net.op("UNPACK", [x], ys, "UnpackOptions", num=shape[axis], axis=axis)
        net.output(*ys)
        return net
    return build


def argmax(shape, kind="int8", axis=-1, out="int32", values=(None, None)):
    def build(seed):
        net = Net(seed)
        x = net.input(shape, kind, 0.05, None, *values)
        rest = [size for i, size in enumerate(shape) if i != axis % len(shape)]
        y = net.value(rest, out)
        number = {"int32": 2, "int64": 4}[out]
        net.output(net.op("ARG_MAX", [x, net.constant(axis)], [y], "ArgMaxOptions",
                          outputType=number))
        return net
    return build


def _pools():
    for op in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        name = op.lower().replace("_pool_2d", "pool")
        for kind in ("int8", "uint8", "int16"):
            add(f"{name}_2x2_{kind}", layer(pool, (1, 8, 10, 20), kind, op=op, kernel=(2, 2)))
            add(f"{name}_3x3_same_{kind}",
                layer(pool, (1, 9, 7, 18), kind, op=op, kernel=(3, 3), stride=(1, 1),
                      padding=SAME))
        add(f"{name}_3x3_stride2_same",
            layer(pool, (1, 11, 12, 16), op=op, kernel=(3, 3), stride=(2, 2), padding=SAME))
        add(f"{name}_5x4_stride_2x3",
            layer(pool, (1, 12, 13, 8), op=op, kernel=(5, 4), stride=(2, 3)))
        add(f"{name}_global", layer(pool, (1, 7, 7, 40), op=op, kernel=(7, 7), stride=(1, 1)))
        add(f"{name}_relu", layer(pool, (1, 8, 8, 8), op=op, kernel=(2, 2), activation="relu"))
        add(f"{name}_large_kernel",
            layer(pool, (1, 24, 20, 8), op=op, kernel=(12, 14), stride=(1, 2)))
        add(f"{name}_1x8_same", layer(pool, (1, 3, 30, 8), op=op, kernel=(1, 8), stride=(1, 2),
                                      padding=SAME))
        add(f"{name}_stride4", layer(pool, (1, 16, 16, 8), op=op, kernel=(4, 4)))
        add(f"{name}_deep", layer(pool, (1, 4, 4, 300), op=op, kernel=(2, 2)))


def _reductions():
    for kind in ("int8", "uint8", "int16"):
        add(f"mean_hw_{kind}", layer(reduce, (1, 7, 9, 20), kind, op="MEAN", axes=(1, 2)))
    rescaled = dict(op="MEAN", axes=(1, 2), out=(0.021, 9))
    add("mean_hw_rescaled", layer(reduce, (1, 8, 8, 12), **rescaled))
    add("mean_h", layer(reduce, (1, 7, 9, 20), op="MEAN", axes=(1,)))
    add("mean_w", layer(reduce, (1, 7, 9, 20), op="MEAN", axes=(2,)))
    add("mean_c", layer(reduce, (1, 1, 9, 20), op="MEAN", axes=(3,)))
    add("mean_no_keep", layer(reduce, (1, 5, 6, 8), op="MEAN", axes=(1, 2), keep=False))
    add("mean_large", layer(reduce, (1, 40, 50, 8), op="MEAN", axes=(1, 2), out=(0.003, -3)))
    # Not two axes: Vela 5.1.0 sums over the first axis only.
    for axes in ((3,), (1,), (2,)):
        name = "".join("nhwc"[axis] for axis in axes)
        add(f"sum_{name}", layer(reduce, (1, 5, 6, 16), op="SUM", axes=axes, out=(0.35, 4)),
            reference=False)
    for op in ("REDUCE_MAX", "REDUCE_MIN"):
        for axes in ((1, 2), (3,), (2,)):
            name = "".join("nhwc"[axis] for axis in axes)
            add(f"{op.lower()}_{name}", layer(reduce, (1, 5, 3, 9), op=op, axes=axes))
    add("argmax_int8", argmax((1, 6, 7, 21)))
    add("argmax_ties", argmax((1, 6, 7, 9), values=(-2, 2)), distinct=5)
    add("argmax_uint8", argmax((1, 6, 7, 21), "uint8"))
    add("argmax_row", argmax((1, 100)), distinct=1)
    add("argmax_int64", argmax((1, 5, 5, 12), out="int64"))
    add("argmax_height", argmax((1, 9, 7, 8), axis=1), generations=U85, distinct=4)
    add("argmax_width", argmax((1, 9, 7, 8), axis=2), generations=U85, distinct=4)
    add("argmax_deep", argmax((1, 3, 4, 500)), generations=U85)


def _softmaxes():
    for kind in ("int8", "uint8", "int16"):
        scale = 0.0004 if kind == "int16" else 0.05
        add(f"softmax_{kind}", softmax_case((1, 40), kind, scale))
        add(f"softmax_rows_{kind}", softmax_case((1, 9, 12), kind, scale))
    add("softmax_map", softmax_case((1, 5, 6, 21), "int8", 0.08))
    add("softmax_sharp", softmax_case((1, 4, 30), "int8", 0.5), distinct=4)
    add("softmax_beta", softmax_case((1, 4, 30), "int8", 0.05, beta=0.4), distinct=4)
    add("softmax_1000", softmax_case((1, 1000), "int8", 0.1), distinct=5)
    add("softmax_two", softmax_case((1, 60, 2), "int8", 0.03))


def softmax_case(shape, kind, scale, beta=1.0):
    def build(seed):
        net = Net(seed)
        net.output(softmax(net, net.input(shape, kind, scale), beta))
        return net
    return build


def _resizes():
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        name = op.lower().replace("_neighbor", "")
        for kind in ("int8", "uint8", "int16"):
            add(f"{name}_2x_{kind}", layer(resize, (1, 5, 6, 12), kind, op=op, size=(10, 12)))
        for factor in (4, 8):
            add(f"{name}_{factor}x",
                layer(resize, (1, 4, 3, 8), op=op, size=(4 * factor, 3 * factor)))
        add(f"{name}_half_pixel", layer(resize, (1, 5, 6, 12), op=op, size=(10, 12), half=True))
        add(f"{name}_align_corners",
            layer(resize, (1, 5, 6, 12), op=op, size=(9, 11), align=True))
        add(f"{name}_align_corners_4x",
            layer(resize, (1, 3, 4, 8), op=op, size=(9, 13), align=True))
        add(f"{name}_from_1x1", layer(resize, (1, 1, 1, 24), op=op, size=(6, 5)))
        add(f"{name}_one_row", layer(resize, (1, 1, 7, 8), op=op, size=(1, 14)))
        add(f"{name}_half_pixel_4x",
            layer(resize, (1, 4, 5, 20), op=op, size=(16, 20), half=True), generations=U85)
        add(f"{name}_uneven",
            layer(resize, (1, 4, 5, 20), op=op, size=(8, 20)), generations=U85)
    add("resize_nearest_3x",
        layer(resize, (1, 4, 5, 8), op="RESIZE_NEAREST_NEIGHBOR", size=(12, 15)),
        generations=U85)
    # Only with half pixels: without them, Vela 5.1.0 and LiteRT select different elements.
    add("resize_nearest_down",
        layer(resize, (1, 12, 15, 8), op="RESIZE_NEAREST_NEIGHBOR", size=(4, 5), half=True),
        generations=U85)
    add("resize_bilinear_down",
        layer(resize, (1, 12, 16, 8), op="RESIZE_BILINEAR", size=(6, 8)), generations=U85)
    add("resize_bilinear_deep",
        layer(resize, (1, 6, 6, 40), op="RESIZE_BILINEAR", size=(12, 12), half=True))


def _moves():
    for axis in (1, 2, 3):
        shapes = [[1, 4, 5, 12], [1, 4, 5, 12]]
        shapes[1][axis] += 3
        add(f"concat_{'nhwc'[axis]}", concat([tuple(s) for s in shapes], axis))
    add("concat_three_int16", concat([(1, 4, 5, 8)] * 3, 3, "int16", [0.0005] * 3))
    add("concat_int32", concat([(1, 4, 5, 8), (1, 4, 5, 4)], 3, "int32", [1.0, 1.0]),
        generations=U85)
    add("split_c", split((1, 4, 5, 24), 3, 3))
    add("split_h", split((1, 6, 5, 8), 1, 2))
    add("split_v_c", split((1, 4, 5, 24), 3, [5, 16, 3]))
    add("split_int16", split((1, 4, 5, 32), 3, 2, "int16"))
    add("pack_last", packed([(1, 4, 6), (1, 4, 6)], 3))
    add("unpack_2", unpacked((1, 5, 3, 8), 2))
    for kind in ("int8", "int16"):
        add(f"slice_{kind}", layer(moved, (1, 7, 9, 20), kind, op="SLICE", shape=(1, 4, 5, 11),
                                   extra=[(0, 2, 1, 7), (1, 4, 5, 11)], options="SliceOptions"))
        add(f"pad_{kind}",
            layer(pad, (1, 5, 6, 12), kind, pads=[(0, 0), (1, 2), (3, 1), (0, 0)]))
    add("strided_slice", layer(moved, (1, 9, 10, 16), op="STRIDED_SLICE", shape=(1, 7, 6, 16),
                               extra=[(0, 1, 2, 0), (1, 8, 8, 16), (1, 1, 1, 1)],
                               options="StridedSliceOptions"))
    add("strided_slice_2", layer(moved, (1, 9, 10, 16), op="STRIDED_SLICE", shape=(1, 4, 5, 16),
                                 extra=[(0, 1, 0, 0), (1, 9, 10, 16), (1, 2, 2, 1)],
                                 options="StridedSliceOptions"))
    add("strided_slice_end", layer(moved, (1, 9, 10, 16), op="STRIDED_SLICE",
                                   shape=(1, 9, 10, 6),
                                   extra=[(0, 0, 0, -6), (1, 9, 10, 0), (1, 1, 1, 1)],
                                   options="StridedSliceOptions", endMask=8))
    add("pad_channels", layer(pad, (1, 5, 6, 12), pads=[(0, 0), (0, 0), (0, 0), (2, 5)]))
    add("pad_v2", layer(pad, (1, 5, 6, 12), pads=[(0, 0), (1, 1), (2, 0), (0, 0)], op="PADV2",
                        value=77))
    for mode, name in enumerate(("reflect", "symmetric")):
        add(f"mirror_pad_{name}", layer(pad, (1, 6, 7, 8), op="MIRROR_PAD", value=mode,
                                        pads=[(0, 0), (2, 1), (1, 3), (0, 0)]))
    add("reshape", layer(moved, (1, 6, 8, 10), op="RESHAPE", shape=(1, 12, 40),
                         extra=[(1, 12, 40)], options="ReshapeOptions", newShape=[1, 12, 40]))
    add("tile", layer(moved, (1, 4, 5, 8), op="TILE", shape=(1, 8, 15, 8), extra=[(1, 2, 3, 1)]))
    for axis in (1, 2):
        add(f"reverse_{'nhwc'[axis]}", layer(moved, (1, 5, 7, 12), op="REVERSE_V2",
                                             shape=(1, 5, 7, 12), extra=[(axis,)],
                                             options="ReverseV2Options"))
    add("reverse_c", layer(moved, (1, 5, 7, 12), op="REVERSE_V2", shape=(1, 5, 7, 12),
                           extra=[(3,)], options="ReverseV2Options"))


def _transposes():
    for kind in ("int8", "int16"):
        for order in ((0, 2, 1, 3), (0, 1, 3, 2), (0, 3, 1, 2), (0, 3, 2, 1), (0, 2, 3, 1)):
            name = "".join("nhwc"[axis] for axis in order)
            add(f"transpose_{name}_{kind}", layer(transpose, (1, 5, 7, 12), kind, order=order))
    add("transpose_2d", layer(transpose, (18, 33), order=(1, 0)))
    add("transpose_batch", layer(transpose, (3, 4, 5, 16), order=(1, 0, 2, 3)))
    add("transpose_int32", layer(transpose, (1, 5, 7, 12), "int32", order=(0, 2, 1, 3)))
    add("transpose_wide", layer(transpose, (1, 20, 18, 33), order=(0, 3, 1, 2)))


_pools()
_reductions()
_softmaxes()
_resizes()
_moves()
_transposes()
