// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of quantize_nest and dequantize_nest that all cores share; a variant supplies the float
// arithmetic. Operands: x, QuantizeNest constant, y.

#include <cstdint>

#include "abi/ops/conversion.h"
#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

Status check_quantize_nest(const Call& call);
Status check_dequantize_nest(const Call& call);

/// Quantizes all elements: code_of(address of a float32) returns the quantized value.
template <class CodeOf>
void quantize_rows(void* const* operands, CodeOf code_of) {
  const abi::QuantizeNest& p =
      packed<abi::op_info::thimble_quantize_nest, abi::op_info::thimble_dequantize_nest>(
          operands[1]);
  const uint32_t y_step = p.nest.step[0][abi::LoopNest::kAxes - 1];
  const uint32_t x_step = p.nest.step[1][abi::LoopNest::kAxes - 1];
  for_each_row(p.nest, [&](uint32_t y_offset, uint32_t x_offset) {
    auto* y = static_cast<int8_t*>(operands[2]) + y_offset;
    const auto* x = static_cast<const uint32_t*>(operands[0]) + x_offset;
    for (uint32_t left = p.nest.extent[abi::LoopNest::kAxes - 1]; left != 0; --left) {
      *y = static_cast<int8_t>(code_of(x));
      x += x_step;
      y += y_step;
    }
  });
}

/// Dequantizes all elements: scaled(value minus zero point, address of a float32) writes the
/// result.
template <class Code, class Scaled>
void dequantize_rows(const abi::QuantizeNest& p, const Code* codes, uint32_t* reals,
                     Scaled scaled) {
  const uint32_t y_step = p.nest.step[0][abi::LoopNest::kAxes - 1];
  const uint32_t x_step = p.nest.step[1][abi::LoopNest::kAxes - 1];
  for_each_row(p.nest, [&](uint32_t y_offset, uint32_t x_offset) {
    uint32_t* y = reals + y_offset;
    const Code* x = codes + x_offset;
    for (uint32_t left = p.nest.extent[abi::LoopNest::kAxes - 1]; left != 0; --left) {
      scaled(*x - p.zero_point, y);
      x += x_step;
      y += y_step;
    }
  });
}

}  // namespace thimble::kernels
