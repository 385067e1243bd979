// SPDX-License-Identifier: Apache-2.0
// Contiguous rows are copied in vectors. Other int8 elements are copied along the longest axis,
// sixteen or eight at a time, by scatter or gather instructions with a fixed step. This requires
// that the steps fit the offsets in the lanes.

#include "abi/ops/movement.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/move_nest.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/loop_nest.h"

namespace thimble::kernels {
namespace {

/// Largest steps for which the offsets fit 16 lanes of 8 bits and 8 lanes of 16 bits.
constexpr uint32_t kStepMax16 = 255 / 15;
constexpr uint32_t kStepMax8 = 65535 / 7;

/// Fills with words that repeat an element. The last word may be truncated, because the check does
/// not require a multiple of 4.
void fill(const abi::Move& p, uint8_t* y) {
  const uint32x4_t words = vdupq_n_u32(p.fill);
  for (uint32_t at = 0; at < p.fill_bytes; at += 16) {
    vstrbq_p_u8(y + at, vreinterpretq_u8_u32(words), vctp8q(p.fill_bytes - at));
  }
}

void copy_rows(const abi::Move& p, const abi::LoopNest& nest, int8_t* y, const int8_t* x) {
  const uint32_t bytes = nest.extent[mve::kRow] * p.element_bytes;
  for_each_row(nest, [&](uint32_t to, uint32_t from) { mve::copy(y + to, x + from, bytes); });
}

/// Requires that one step of the row is 1 and the other one is at most kStepMax8; from_step may be
/// 0, which repeats one byte.
void copy_strided_bytes(const abi::LoopNest& nest, uint8_t* y, const uint8_t* x) {
  const uint32_t to_step = nest.step[0][mve::kRow];
  const uint32_t from_step = nest.step[1][mve::kRow];
  const uint32_t count = nest.extent[mve::kRow];
  const bool scatters = from_step == 1;
  const uint32_t step = scatters ? to_step : from_step;
  const uint8x16_t near = vmulq_n_u8(vidupq_n_u8(0, 1), static_cast<uint8_t>(step));
  const uint16x8_t far = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(step));
  for_each_row(nest, [&](uint32_t to_offset, uint32_t from_offset) {
    uint8_t* to = y + to_offset;
    const uint8_t* from = x + from_offset;
    if (step <= kStepMax16) {
      for (uint32_t left = count; left != 0; left = left > 16 ? left - 16 : 0) {
        const mve_pred16_t lanes = vctp8q(left);
        if (scatters) {
          vstrbq_scatter_offset_p_u8(to, near, vldrbq_z_u8(from, lanes), lanes);
        } else {
          vstrbq_p_u8(to, vldrbq_gather_offset_z_u8(from, near, lanes), lanes);
        }
        to += 16 * to_step;
        from += 16 * from_step;
      }
      return;
    }
    for (uint32_t left = count; left != 0; left = left > 8 ? left - 8 : 0) {
      const mve_pred16_t lanes = vctp16q(left);
      if (scatters) {
        vstrbq_scatter_offset_p_u16(to, far, vldrbq_z_u16(from, lanes), lanes);
      } else {
        vstrbq_p_u16(to, vldrbq_gather_offset_z_u16(from, far, lanes), lanes);
      }
      to += 8 * to_step;
      from += 8 * from_step;
    }
  });
}

void run(void* const* operands) {
  const abi::Move& p = packed<abi::op_info::thimble_move>(operands[1]);
  auto* const y = static_cast<uint8_t*>(operands[2]);
  const auto* const x = static_cast<const uint8_t*>(operands[0]);
  const uint32_t to_step = p.nest.step[0][mve::kRow];
  const uint32_t from_step = p.nest.step[1][mve::kRow];
  if (to_step == p.element_bytes && from_step == p.element_bytes) {
    fill(p, y);
    copy_rows(p, p.nest, reinterpret_cast<int8_t*>(y) + p.offset[0],
              reinterpret_cast<const int8_t*>(x) + p.offset[1]);
    return;
  }
  const abi::LoopNest nest = mve::with_longest_row(p.nest);
  const uint32_t to = nest.step[0][mve::kRow];
  const uint32_t from = nest.step[1][mve::kRow];
  const bool one = to == 1 || from == 1;
  if (p.element_bytes != 1 || !one || to > kStepMax8 || from > kStepMax8) {
    run_move_nest(operands);
    return;
  }
  fill(p, y);
  copy_strided_bytes(nest, y + p.offset[0], x + p.offset[1]);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_move, check_move_nest, run);

}  // namespace thimble::kernels

#endif
