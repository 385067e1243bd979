// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators that only move elements, as one strided copy. Clone into another dim_order, transpose,
// slice, expand, pad and cat differ only in their strides. Strides count bytes; elements have any
// size.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

struct Move {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  int32_t element = 1;      // bytes
  StrideIterator iterator;  // operands: to, from
};

/// Writes the strides of `t` in bytes.
void byte_strides(const Tensor& t, int32_t* out);
/// Checks that both tensors are sound and have the same element type.
Status check_pair(const Tensor& from, const Tensor& to);

/// Returns a copy in the memory order of `to`. One step along dimension d of `to` is
/// `from_steps[d]` bytes in `from`.
Move gather(const Tensor& to, const Tensor& from, const int32_t* from_steps);
/// Returns a copy in the memory order of `from`. One step along dimension d of `from` is
/// `to_steps[d]` bytes in `to`.
Move scatter(const Tensor& to, const Tensor& from, const int32_t* to_steps);

void run_move(Move& move);

/// Compiled files have no overlapping operands. In a malicious file they may overlap; the copied
/// bytes are then unspecified.
void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t bytes);

}  // namespace thimble::kernels
