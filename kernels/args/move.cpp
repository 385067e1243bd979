// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/move.h"

#include <string.h>

namespace thimble::kernels {

namespace {

/// The axes may have any order, because the operands do not overlap.
void make_longest_axis_innermost(StrideIterator& iterator) {
  StrideIterator::Axis& row = iterator.axes[iterator.rank - 1];
  StrideIterator::Axis* longest = &row;
  for (uint32_t i = 0; i < iterator.rank; ++i) {
    if (iterator.axes[i].extent > longest->extent) longest = &iterator.axes[i];
  }
  const StrideIterator::Axis other = *longest;
  *longest = row;
  row = other;
}

}  // namespace

void byte_strides(const Tensor& t, int32_t* out) {
  strides(t, out);
  const int32_t element = static_cast<int32_t>(element_bytes(t.dtype));
  for (uint32_t d = 0; d < t.rank; ++d) out[d] *= element;
}

Status check_pair(const Tensor& from, const Tensor& to) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(from));
  return check_tensor(to, from.dtype);
}

Move gather(const Tensor& to, const Tensor& from, const int32_t* from_steps) {
  Move move;
  move.to = static_cast<uint8_t*>(to.data);
  move.from = static_cast<const uint8_t*>(from.data);
  move.element = static_cast<int32_t>(element_bytes(to.dtype));
  int32_t to_steps[abi::kMaxRank];
  byte_strides(to, to_steps);
  for (uint32_t p = 0; p < to.rank; ++p) {
    const uint32_t d = to.dim_order[p];
    move.iterator.push(to.sizes[d], to_steps[d], from_steps[d]);
  }
  return move;
}

Move scatter(const Tensor& to, const Tensor& from, const int32_t* to_steps) {
  Move move;
  move.to = static_cast<uint8_t*>(to.data);
  move.from = static_cast<const uint8_t*>(from.data);
  move.element = static_cast<int32_t>(element_bytes(from.dtype));
  int32_t from_steps[abi::kMaxRank];
  byte_strides(from, from_steps);
  for (uint32_t p = 0; p < from.rank; ++p) {
    const uint32_t d = from.dim_order[p];
    move.iterator.push(from.sizes[d], to_steps[d], from_steps[d]);
  }
  return move;
}

void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  const uintptr_t ahead = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  if (ahead >= bytes && 0 - ahead >= bytes) {
    memcpy(to, from, bytes);
  } else {
    for (uint32_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

void run_move(Move& move) {
  StrideIterator& iterator = move.iterator;
  if (iterator.row().step[0] != move.element || iterator.row().step[1] != move.element) {
    make_longest_axis_innermost(iterator);
  }
  do {
    const StrideIterator::Axis& row = iterator.row();
    uint8_t* to = move.to + iterator.offset[0];
    const uint8_t* from = move.from + iterator.offset[1];
    if (row.step[0] == move.element && row.step[1] == move.element) {
      copy_bytes(to, from, static_cast<uint32_t>(row.extent * move.element));
    } else if (move.element == 1) {
#pragma GCC unroll 4
      for (int32_t left = row.extent; left != 0; --left) {
        *to = *from;
        to += row.step[0];
        from += row.step[1];
      }
    } else {
      for (int32_t i = 0; i < row.extent; ++i) {
        copy_bytes(to + i * row.step[0], from + i * row.step[1],
                   static_cast<uint32_t>(move.element));
      }
    }
  } while (iterator.next());
}

}  // namespace thimble::kernels
