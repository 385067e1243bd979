#pragma once
// Packed constants of operators that are neither convolution nor linear: everything that run() has
// to know besides where its operands are. Rules as in abi/native_params.h: little-endian, 4-byte
// aligned, read in place. Parameters in the words of the IR's operator are there for readers of
// the file, where run() has tables made of them.

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

/// A walk through two operands at once: axes from the outermost to the innermost one, which kernels
/// take as a plain loop; axes without use have extent 1. Extents are at least 1. Steps count
/// elements, in `move` bytes.
struct Nest {
  static constexpr uint32_t kAxes = 5;
  uint32_t extent[kAxes];
  uint32_t step[2][kAxes];
};
static_assert(sizeof(Nest) == 60);

/// softmax_rows: `rows` rows of `length` int8 codes, one behind the other, to int8 codes or, if
/// `wide` is 1, to int16 ones. exp[k] is the exponential of the difference -k in Q0.31, 0 where
/// that is left out (docs/numerics.md, "Softmax"). Of rows of two codes it is their results, where
/// k is how far they are apart: the larger one's in the low half, the other's in the upper one.
struct SoftmaxRows {
  uint32_t rows, length;
  int32_t mult, shift, diff_min;
  uint32_t exp[256];
  uint32_t wide;
};

/// avg_window, max_window: x, WindowGeometry, y. dilation is 1 in an average; zero points are 0.

/// mean_run: x is [outer][count][inner], y [outer][inner].
struct MeanRun {
  uint32_t outer, count, inner;
  MeanParams mean;
};

/// quantize_nest, dequantize_nest: operand 0 of the nest is y, operand 1 x. factor is the scale in
/// float32, or of quantize_nest its inverse. dequantize_nest may be of int16: code_bytes is 2 then,
/// else 1.
struct EdgeNest {
  Nest nest;
  uint32_t scale[2];  // the double, low word first
  int32_t zero_point;
  float factor;
  uint32_t code_bytes;
};

/// add_table: the result is written from its first to its last element; operand 0 of the nest is a,
/// operand 1 b. Entry `code & 255` of a table is twice the scaled operand, sa or sb of
/// docs/numerics.md, "Addition"; y_shift is -31 to -1.
struct AddTable {
  Nest nest;
  AddParams add;
  int32_t a[256], b[256];
};

/// mul_nest: as add_table, by arithmetic.
struct MulNest {
  Nest nest;
  MulParams mul;
};

/// lut_codes: y = table[x & 255] for `count` codes.
struct LutCodes {
  uint32_t count;
  int8_t table[256];
};

/// move: elements of 1, 2, 4 or 8 bytes go from one place to another; operand 0 of the nest is y,
/// operand 1 x, offsets and steps count bytes. Before that the first `fill_bytes` of y become
/// `fill`, a word of one or more equal elements.
struct Move {
  Nest nest;
  uint32_t element_bytes;
  uint32_t offset[2];
  uint32_t fill_bytes, fill;
};

/// concat2, concat3, concat4: `outer` times bytes[i] of each operand in turn.
struct Concat {
  uint32_t outer;
  uint32_t bytes[4];
};

}  // namespace thimble::abi
