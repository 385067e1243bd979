// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed constants of operators that are neither convolution nor linear. They contain everything
// that run() needs except the addresses of its operands. The rules of abi/kernel_layout.h apply:
// little-endian, 4-byte aligned, read in place. Parameters with the names of the IR operator serve
// readers of the file; run() uses tables computed from them.

#include <cstddef>
#include <cstdint>

#include "abi/params/arithmetic.h"
#include "abi/params/reduction.h"

namespace thimble::abi {

/// A loop nest over two operands. Axes are ordered from the outermost to the innermost; kernels
/// execute the innermost axis as a plain loop. Unused axes have extent 1; no extent is 0. Steps
/// count elements; in `move` they count bytes.
struct LoopNest {
  static constexpr uint32_t kAxes = 5;
  uint32_t extent[kAxes];
  uint32_t step[2][kAxes];
};
static_assert(sizeof(LoopNest) == 60);

/// Constant of softmax_rows: `rows` consecutive rows of `length` int8 values. Results are int8, or
/// int16 if `wide` is 1. exp[k] is the exponential of the difference -k in Q0.31, and 0 if the
/// element is skipped (docs/numerics.md, "Softmax"). For rows of two elements exp[k] contains the
/// two results for values that differ by k: the larger value's result in the low half, the other
/// one in the high half.
struct SoftmaxRows {
  uint32_t rows, length;
  int32_t mult, shift, diff_min;
  uint32_t exp[256];
  uint32_t wide;
};
static_assert(sizeof(SoftmaxRows) == 1048 && offsetof(SoftmaxRows, exp) == 20);

/// Constant of mean_run. x is [outer][count][inner], y is [outer][inner].
struct MeanRun {
  uint32_t outer, count, inner;
  MeanParams mean;
};
static_assert(sizeof(MeanRun) == 40 && offsetof(MeanRun, mean) == 12);

/// Constant of quantize_nest and dequantize_nest. Operand 0 of the nest is y, operand 1 is x.
/// `scale` is for readers of the file. `factor` is the float32 with which the kernel multiplies:
/// the scale (dequantize_nest) or 1 / scale (quantize_nest). quantized_bytes is 1 for int8, or 2
/// for int16 (dequantize_nest only).
struct QuantizeNest {
  LoopNest nest;
  uint32_t scale[2];  // the double, low word first
  int32_t zero_point;
  float factor;
  uint32_t quantized_bytes;
};
static_assert(sizeof(QuantizeNest) == 80 && offsetof(QuantizeNest, zero_point) == 68);

/// Constant of add_table. The result is written from its first to its last element. Operand 0 of
/// the nest is a, operand 1 is b. Entry `value & 255` of a table is twice the scaled operand, sa or
/// sb of docs/numerics.md, "Addition". y_shift is -31 to -1.
struct AddTable {
  LoopNest nest;
  AddParams add;
  int32_t a[256], b[256];
};
static_assert(sizeof(AddTable) == 2156 && offsetof(AddTable, a) == 108);

/// Constant of add_flat: addition without broadcasting and without tables. a and b have one shape
/// and one memory order, with `count` elements. a is the operand with the larger scale (a_mult
/// 2^30, a_shift 0 in the formula of qadd):
///   y = requantize(+-(a - a_zp) * 2^19 + requantize(+-(b - b_zp) * 2^20, b_mult, b_shift),
///                  y_mult, y_shift)
/// Shifts are -31 to 0; y_shift is below 0.
struct AddFlat {
  uint32_t count;
  int32_t b_mult, y_mult;
  int16_t a_zero_point, b_zero_point, y_zero_point;
  int16_t min, max;
  int8_t b_shift, y_shift;
  uint8_t a_negate, b_negate;
  uint8_t reserved[2];
};
static_assert(sizeof(AddFlat) == 28);

/// Constant of mul_nest. The nest is as in AddTable; products are computed without tables.
struct MulNest {
  LoopNest nest;
  MulParams mul;
};
static_assert(sizeof(MulNest) == 88 && offsetof(MulNest, mul) == 60);

/// Constant of lut_packed: y = table[x & 255] for `count` elements.
struct LutTable {
  uint32_t count;
  int8_t table[256];
};
static_assert(sizeof(LutTable) == 260 && offsetof(LutTable, table) == 4);

/// Constant of move: a strided copy of elements of 1, 2, 4 or 8 bytes. Operand 0 of the nest is y,
/// operand 1 is x; offsets and steps count bytes. The kernel first fills `fill_bytes` bytes at the
/// start of y with `fill`, a word that repeats one element.
struct Move {
  LoopNest nest;
  uint32_t element_bytes;
  uint32_t offset[2];
  uint32_t fill_bytes, fill;
};
static_assert(sizeof(Move) == 80 && offsetof(Move, offset) == 64);

/// Constant of concat2, concat3, concat4: `outer` times, bytes[i] of each operand i in order.
struct Concat {
  uint32_t outer;
  uint32_t bytes[4];
};
static_assert(sizeof(Concat) == 20 && offsetof(Concat, bytes) == 4);

}  // namespace thimble::abi
