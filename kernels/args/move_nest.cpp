// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/move_nest.h"

#include <string.h>

#include "abi/ops/movement.h"
#include "kernels/args/flat.h"
#include "kernels/args/loop_nest.h"
#include "kernels/args/move.h"

namespace thimble::kernels {
namespace {

/// Returns true if every element of operand `which` is inside its first `bytes` bytes.
bool is_inside(const abi::Move& p, uint32_t which, uint32_t bytes) {
  const uint32_t taken = p.element_bytes - 1;
  if (bytes <= taken || p.offset[which] >= bytes - taken) return false;
  return is_within(p.nest, which, bytes - taken - p.offset[which]);
}

void fill(uint8_t* y, uint32_t bytes, uint32_t word) {
  for (; (reinterpret_cast<uintptr_t>(y) & 3) == 0 && bytes >= 4; bytes -= 4) {
    store_word(y, word);
    y += 4;
  }
  for (uint32_t i = 0; i < bytes; ++i) y[i] = static_cast<uint8_t>(word >> i % 4 * 8);
}

template <class Element>
void copy_strided_row(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t to_step,
                      uint32_t from_step) {
#pragma GCC unroll 4
  for (; count != 0; --count) {
    // In a malicious constant, steps may not be multiples of the element size.
    memcpy(to, from, sizeof(Element));
    to += to_step;
    from += from_step;
  }
}

void copy_row(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  // For short rows a call of memcpy costs more than a byte loop.
  if (bytes >= 16) {
    copy_bytes(to, from, bytes);
  } else {
    for (uint32_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace

Status check_move_nest(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 1), sizeof(abi::ParamsOf<abi::op_info::thimble_move>)));
  const auto& p = packed<abi::op_info::thimble_move>(tensor(call, 1));
  const uint32_t element = p.element_bytes;
  if (element != 1 && element != 2 && element != 4 && element != 8) return Status::kBadParameter;
  // Steps may be 0, but the nest may not have more elements than y has bytes.
  const uint32_t count = element_count(p.nest);
  const bool inside = is_inside(p, 0, y.bytes) && is_inside(p, 1, x.bytes) && count != 0 &&
                      count <= y.bytes && p.fill_bytes <= y.bytes;
  return inside ? Status::kOk : Status::kBadShape;
}

void run_move_nest(void* const* operands) {
  const abi::Move& p = packed<abi::op_info::thimble_move>(operands[1]);
  auto* const y = static_cast<uint8_t*>(operands[2]);
  const auto* const x = static_cast<const uint8_t*>(operands[0]);
  if (p.fill_bytes != 0) fill(y, p.fill_bytes, p.fill);
  constexpr uint32_t kRow = abi::LoopNest::kAxes - 1;
  const uint32_t count = p.nest.extent[kRow];
  const uint32_t to_step = p.nest.step[0][kRow];
  const uint32_t from_step = p.nest.step[1][kRow];
  const uint32_t element = p.element_bytes;
  const bool runs = to_step == element && from_step == element;
  for_each_row(p.nest, [&](uint32_t to_offset, uint32_t from_offset) {
    uint8_t* const to = y + p.offset[0] + to_offset;
    const uint8_t* const from = x + p.offset[1] + from_offset;
    if (runs) {
      copy_row(to, from, count * element);
    } else if (element == 1) {
      copy_strided_row<uint8_t>(to, from, count, to_step, from_step);
    } else if (element == 2) {
      copy_strided_row<uint16_t>(to, from, count, to_step, from_step);
    } else if (element == 4) {
      copy_strided_row<uint32_t>(to, from, count, to_step, from_step);
    } else {
      copy_strided_row<uint64_t>(to, from, count, to_step, from_step);
    }
  });
}

}  // namespace thimble::kernels
