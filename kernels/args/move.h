#pragma once
// Operators that only move elements, as one strided copy: clone into another order of dimensions,
// transpose, slice, expand, pad and cat differ in their strides alone. Strides count bytes;
// elements have any size.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/walk.h"

namespace thimble::kernels {

struct Move {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  int32_t element = 1;  // bytes
  Walk walk;            // operands: to, from
};

/// Strides of `t` in bytes.
void byte_strides(const Tensor& t, int32_t* out);
/// Both tensors fine and of one element type.
Status check_pair(const Tensor& from, const Tensor& to);

/// A copy in the memory order of `to`: `from_steps[d]` bytes of `from` per step along dimension d
/// of `to`.
Move gather(const Tensor& to, const Tensor& from, const int32_t* from_steps);
/// A copy in the memory order of `from`: `to_steps[d]` bytes of `to` per step along dimension d of
/// `from`.
Move scatter(const Tensor& to, const Tensor& from, const int32_t* to_steps);

void run_move(Move& move);

/// No plan of ours lets the operands overlap, but a hostile one may: the bytes are then as they
/// come.
void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t bytes);

}  // namespace thimble::kernels
