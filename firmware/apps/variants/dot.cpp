// Compares the loops that matrix kernels share (kernels/portable/dot.h) with their formula. A core
// has one version of these loops.

#include "firmware/apps/variants/case.h"

#include <cstring>

#include "kernels/portable/dot.h"

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

}  // namespace

const kernels::Kernel dot_loops = {"accumulate", "",      0,        nullptr,
                                             nullptr,      nullptr, run_loops};
const kernels::Kernel dot_formula = {"accumulate", "",      0,          nullptr,
                                               nullptr,      nullptr, run_formula};

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

}  // namespace thimble::firmware
