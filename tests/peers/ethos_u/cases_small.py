# SPDX-License-Identifier: Apache-2.0
"""Minimal cases of features that pack_golden.py otherwise finds only in large cases."""

from cases_conv import conv2d, depthwise, fully_connected, layer, transpose_conv
from cases_elementwise import binary, unary
from cases_shape import argmax, concat, moved, pool, reduce, resize, softmax_case
from cases_tosa import add_rescaled, binary32, case, pool as tosa_pool, reduce as tosa_reduce
from cases_tosa import rescale, table16, unary32
from cases_u85 import cast, chain_of, int32_arithmetic
from registry import add
from tflite_net import SAME

U85 = ("u85",)
SMALL = (1, 3, 4, 10)


def _layers():
    add("small_conv", layer(conv2d, (1, 4, 5, 9), channels=10))
    add("small_conv_strided", layer(conv2d, (1, 6, 5, 3), channels=9, stride=(2, 2)))
    add("small_conv_int16", layer(conv2d, (1, 4, 5, 9), "int16", channels=6))
    add("small_conv_uint8", layer(conv2d, (1, 4, 5, 6), "uint8", channels=6))
    add("small_conv_deep", layer(conv2d, (1, 3, 2, 40), channels=18, kernel=(1, 1)))
    add("small_conv_dilated", layer(conv2d, (1, 6, 6, 5), channels=6, dilation=(2, 2)))
    add("small_depthwise", layer(depthwise, (1, 5, 6, 11)))
    add("small_fully_connected", layer(fully_connected, (1, 24), channels=12))
    add("small_transpose_conv",
        layer(transpose_conv, (1, 3, 4, 5), channels=6, kernel=(2, 2), stride=(2, 2),
              padding=SAME))


def _elementwise():
    for op in ("ADD", "SUB", "MUL"):
        name = op.lower()
        add(f"small_{name}", binary(op, SMALL, SMALL, scales=(0.04, 0.09)))
        add(f"small_{name}_swapped", binary(op, SMALL, SMALL, scales=(0.09, 0.04)))
        add(f"small_{name}_int16", binary(op, SMALL, SMALL, "int16", (0.0004, 0.0009)))
        add(f"small_{name}_broadcast_w", binary(op, SMALL, (1, 3, 1, 10)))
    for op in ("MINIMUM", "MAXIMUM"):
        for kind in ("int8", "int16"):
            equal = dict(scales=(0.05, 0.05), scale=0.05, zero=-3 if kind == "int8" else 0)
            add(f"small_{op.lower()}_{kind}", binary(op, SMALL, SMALL, kind, **equal))
    add("small_squared_difference", binary("SQUARED_DIFFERENCE", SMALL, SMALL))
    add("small_tanh_int16", unary("TANH", SMALL, "int16", 10 / 32768, out=(1 / 32768, 0)))
    add("small_logistic_int16", unary("LOGISTIC", SMALL, "int16", 10 / 32768, out=(1 / 32768, 0)))
    add("small_leaky_relu_int16",
        unary("LEAKY_RELU", SMALL, "int16", options="LeakyReluOptions", alpha=0.3,
              out=(0.05, 0)))
    add("small_logistic", unary("LOGISTIC", SMALL, scale=0.04, out=(1 / 256, -128)))
    add("small_relu", unary("RELU", SMALL, scale=0.06, out=(0.05, -30)))
    add("small_quantize", unary("QUANTIZE", SMALL, out=(0.03, 9), options="QuantizeOptions"))
    add("small_softmax", softmax_case((1, 16), "int8", 0.02), distinct=4)
    add("small_softmax_int16", softmax_case((1, 16), "int16", 0.0001), distinct=4)
    add("small_cast", cast("int8", "int16"), generations=U85)
    add("small_div", int32_arithmetic("DIV", (1, 90), (1, 2, 3, 5)), generations=U85)
    add("small_chain", chain_of((1, 2, 3, 20)))


def _shapes():
    add("small_maxpool", layer(pool, (1, 4, 5, 9), op="MAX_POOL_2D", kernel=(2, 2)))
    add("small_averagepool", layer(pool, (1, 4, 5, 9), op="AVERAGE_POOL_2D", kernel=(3, 3),
                                   stride=(1, 1), padding=SAME))
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        add(f"small_{op.lower()}", layer(resize, (1, 3, 2, 6), op=op, size=(6, 4)))
    add("small_resize_bilinear_row", layer(resize, (1, 1, 3, 6), op="RESIZE_BILINEAR",
                                           size=(1, 6)))
    add("small_mean", layer(reduce, (1, 4, 5, 6), op="MEAN", axes=(1, 2)), distinct=4)
    add("small_argmax", argmax((1, 3, 4, 9)), distinct=5)
    add("small_concat", concat([SMALL, SMALL], 3))
    add("small_slice", layer(moved, SMALL, op="SLICE", shape=(1, 2, 3, 5),
                             extra=[(0, 1, 1, 2), (1, 2, 3, 5)], options="SliceOptions"))


def _tosa():
    shape = (1, 2, 3, 8)
    case("small_add", add_rescaled("DOUBLE_ROUND", shape))
    case("small_rescale", rescale("int32", "int8", 0.00011, "DOUBLE_ROUND", 0, -3, -2**20, 2**20,
                                  shape))
    case("small_clz", unary32("CLZ", shape=shape), distinct=4)
    case("small_arithmetic_right_shift",
         binary32("ARITHMETIC_RIGHT_SHIFT", (True,), second=(0, 31), shape=shape))
    case("small_logical_left_shift",
         binary32("LOGICAL_LEFT_SHIFT", low=-2**31, high=2**31 - 1, second=(0, 31), shape=shape))
    case("small_logical_right_shift",
         binary32("LOGICAL_RIGHT_SHIFT", low=-2**31, high=2**31 - 1, second=(0, 31), shape=shape),
         generations=U85)
    case("small_table_int16", lambda net: table16(net, shape), generations=U85)
    case("small_reduce_sum", tosa_reduce("REDUCE_SUM", "int32", 3, -2**20, 2**20, (1, 3, 3, 6)))
    case("small_avg_pool2d", tosa_pool("AVG_POOL2D", "int8", (3, 3), (2, 2), (1, 1, 1, 1),
                                       (5, 5, 6)))


_layers()
_elementwise()
_shapes()
_tosa()
