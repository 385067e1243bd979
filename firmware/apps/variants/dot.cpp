// SPDX-License-Identifier: Apache-2.0
// Compares the loops that matrix kernels share (kernels/portable/dot.h, dot_int4.h) with their
// formulas. A core has one version of these loops.

#include "firmware/apps/variants/case.h"

#include <cstring>

#include "abi/int4.h"
#include "kernels/portable/dot.h"
#include "kernels/portable/dot_int4.h"

namespace thimble::firmware {
namespace {

constexpr int32_t kRows = 5;  // one block of four rows and a single row
struct Lengths {
  int32_t n, w_step, x_offset;
};

void run_loops(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* w = static_cast<const int8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  uint32_t four[4];
  uint32_t one[1];
  for (uint32_t row = 0; row < 4; ++row) four[row] = row << 30;
  one[0] = 4U << 28;
  kernels::accumulate(x, w, of.w_step, of.n, of.x_offset, four);
  kernels::accumulate(x, w + 4 * of.w_step, of.w_step, of.n, of.x_offset, one);
  auto* y = static_cast<uint8_t*>(operands[3]);
  std::memcpy(y, four, sizeof four);
  std::memcpy(y + sizeof four, one, sizeof one);
}

void run_formula(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* w = static_cast<const int8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  uint32_t sums[kRows];
  for (int32_t row = 0; row < kRows; ++row) {
    sums[row] = row < 4 ? static_cast<uint32_t>(row) << 30 : 4U << 28;
    for (int32_t i = 0; i < of.n; ++i) {
      sums[row] += static_cast<uint32_t>((x[i] + of.x_offset) * w[row * of.w_step + i]);
    }
  }
  std::memcpy(operands[3], sums, sizeof sums);
}

constexpr int32_t kInt4Rows = 6;  // two pairs and a single pair

void run_int4_loops(void* const* operands) {
  const auto* w = static_cast<const uint8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  const kernels::Int4Operand x =
      kernels::int4_operand(static_cast<const int8_t*>(operands[0]), of.n, of.x_offset);
  uint32_t four[4];
  uint32_t two[2];
  kernels::multiply_int4(x, w, four);
  kernels::multiply_int4(x, w + 2 * of.n, two);
  auto* y = static_cast<uint8_t*>(operands[3]);
  std::memcpy(y, four, sizeof four);
  std::memcpy(y + sizeof four, two, sizeof two);
}

void run_int4_formula(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* w = static_cast<const uint8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  int32_t sums[kInt4Rows] = {};
  for (int32_t row = 0; row < kInt4Rows; ++row) {
    for (int32_t i = 0; i < of.n; ++i) {
      const uint8_t pair = w[row / 2 * of.n + i];
      const int32_t weight = row % 2 == 0 ? abi::int4_offset_low(pair) : abi::int4_high(pair);
      sums[row] += (x[i] + of.x_offset) * weight;
    }
  }
  std::memcpy(operands[3], sums, sizeof sums);
}

}  // namespace

const kernels::Kernel dot_int4_loops = {"multiply_int4", "", 0, nullptr, nullptr, nullptr,
                                        run_int4_loops};
const kernels::Kernel dot_int4_formula = {"multiply_int4", "", 0, nullptr, nullptr, nullptr,
                                          run_int4_formula};
const kernels::Kernel dot_loops = {"accumulate", "", 0, nullptr, nullptr, nullptr, run_loops};
const kernels::Kernel dot_formula = {"accumulate", "", 0, nullptr, nullptr, nullptr, run_formula};

void make_dot(uint32_t index, Case& c) {
  const int32_t n = c.uniform(0, index % 4 == 0 ? 300 : 40);
  const int32_t w_step = n + c.uniform(0, 3);
  c.input<int8_t>(n);
  c.input<int8_t>(4 * w_step + n);
  auto& of = *c.input<Lengths>(1);
  of = {n, w_step, c.one_of({-127, 0, 1, 5, 128})};
  c.output(kRows * 4);
  c.text() << n << " products, rows " << w_step << " apart, offset " << of.x_offset;
}

void make_dot_int4(uint32_t index, Case& c) {
  const int32_t n = c.uniform(0, index % 4 == 0 ? 300 : 40);
  c.input<int8_t>(n);
  c.input<uint8_t>(kInt4Rows / 2 * n);
  *c.input<Lengths>(1) = {n, n, c.one_of({-127, 0, 1, 5, 128})};
  c.output(kInt4Rows * 4);
  c.text() << n << " products";
}

}  // namespace thimble::firmware
