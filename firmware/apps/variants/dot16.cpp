// SPDX-License-Identifier: Apache-2.0
// Compares the loops of kernels with 16-bit activations (kernels/portable/dot16.h) with their
// formulas. A core has one version of these loops.

#include "firmware/apps/variants/case.h"

#include <cstring>

#include "kernels/portable/dot16.h"

namespace thimble::firmware {
namespace {

using kernels::kDepthwise16Channels;

constexpr int32_t kRows = 5;                   // one block of four rows and a single row
constexpr int64_t kStart = int64_t{1} << 33U;  // sums have 64 bits
struct Lengths {
  int32_t filter, rows, x_row, w_row, length;
};

void run_loops(void* const* operands) {
  const auto* x = static_cast<const int16_t*>(operands[0]);
  const auto* w = static_cast<const int8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  int64_t four[4];
  int64_t one[1];
  for (int32_t row = 0; row < 4; ++row) four[row] = row * kStart;
  one[0] = 4 * kStart;
  kernels::Rows16 rows = {x, w, of.filter, of.rows, of.x_row, of.w_row, of.length};
  kernels::accumulate16(rows, four);
  rows.w += 4 * of.filter;
  kernels::accumulate16(rows, one);
  auto* y = static_cast<uint8_t*>(operands[3]);
  std::memcpy(y, four, sizeof four);
  std::memcpy(y + sizeof four, one, sizeof one);
}

void run_formula(void* const* operands) {
  const auto* x = static_cast<const int16_t*>(operands[0]);
  const auto* w = static_cast<const int8_t*>(operands[1]);
  const Lengths& of = *static_cast<const Lengths*>(operands[2]);
  int64_t sums[kRows];
  for (int32_t row = 0; row < kRows; ++row) {
    sums[row] = row * kStart;
    for (int32_t r = 0; r < of.rows; ++r) {
      for (int32_t i = 0; i < of.length; ++i) {
        sums[row] += int64_t{x[r * of.x_row + i]} * w[row * of.filter + r * of.w_row + i];
      }
    }
  }
  std::memcpy(operands[3], sums, sizeof sums);
}

struct Depthwise {
  int32_t filter, rows, x_row, w_row, taps, x_tap, channels;
};

void run_depthwise_loops(void* const* operands) {
  const Depthwise& of = *static_cast<const Depthwise*>(operands[2]);
  int32_t sums[kDepthwise16Channels];
  kernels::multiply_depthwise16(
      {static_cast<const int16_t*>(operands[0]), static_cast<const int8_t*>(operands[1]), of.filter,
       of.rows, of.x_row, of.w_row, of.taps, of.x_tap},
      of.channels, sums);
  std::memcpy(operands[3], sums, static_cast<uint32_t>(of.channels) * sizeof sums[0]);
}

void run_depthwise_formula(void* const* operands) {
  const auto* x = static_cast<const int16_t*>(operands[0]);
  const auto* w = static_cast<const int8_t*>(operands[1]);
  const Depthwise& of = *static_cast<const Depthwise*>(operands[2]);
  int32_t sums[kDepthwise16Channels] = {};
  for (int32_t c = 0; c < of.channels; ++c) {
    for (int32_t r = 0; r < of.rows; ++r) {
      for (int32_t t = 0; t < of.taps; ++t) {
        sums[c] += x[r * of.x_row + t * of.x_tap + c] * w[c * of.filter + r * of.w_row + t];
      }
    }
  }
  std::memcpy(operands[3], sums, static_cast<uint32_t>(of.channels) * sizeof sums[0]);
}

constexpr int32_t kBlocks = 2;  // of four channels
struct Narrow {
  int32_t rows, x_row, length, mult_step, shift_step, min, max;
};

kernels::Rows16 narrow_rows(void* const* operands) {
  const Narrow& of = *static_cast<const Narrow*>(operands[2]);
  return {static_cast<const int16_t*>(operands[0]),
          static_cast<const int8_t*>(operands[1]),
          of.rows * of.length,
          of.rows,
          of.x_row,
          of.length,
          of.length};
}
kernels::Requant16 narrow_requant(void* const* operands) {
  const Narrow& of = *static_cast<const Narrow*>(operands[2]);
  return {static_cast<const int64_t*>(operands[3]),
          static_cast<const int32_t*>(operands[4]),
          static_cast<const int32_t*>(operands[5]),
          of.mult_step,
          of.shift_step,
          of.min,
          of.max};
}

void run_narrow_loops(void* const* operands) {
  kernels::multiply16_narrow(narrow_rows(operands), narrow_requant(operands), 0, kBlocks,
                             static_cast<int16_t*>(operands[6]));
}

void run_narrow_formula(void* const* operands) {
  const kernels::Rows16 rows = narrow_rows(operands);
  const kernels::Requant16 requant = narrow_requant(operands);
  auto* y = static_cast<int16_t*>(operands[6]);
  for (int32_t c = 0; c < 4 * kBlocks; ++c) {
    int64_t sum = requant.start(c);
    for (int32_t r = 0; r < rows.rows; ++r) {
      for (int32_t i = 0; i < rows.length; ++i) {
        sum += int64_t{rows.x[r * rows.x_row + i]} * rows.w[c * rows.filter + r * rows.w_row + i];
      }
    }
    const int32_t code = numerics::requantize64(sum, requant.mult[c * requant.mult_step],
                                                requant.shift[c * requant.shift_step]);
    y[c] = static_cast<int16_t>(numerics::clamp(code, requant.min, requant.max));
  }
}

}  // namespace

const kernels::Kernel dot16_loops = {"accumulate16", "", 0, nullptr, nullptr, nullptr, run_loops};
const kernels::Kernel dot16_formula = {"accumulate16", "",      0,          nullptr,
                                       nullptr,        nullptr, run_formula};
const kernels::Kernel depthwise16_loops = {"multiply_depthwise16", "", 0, nullptr, nullptr, nullptr,
                                           run_depthwise_loops};
const kernels::Kernel depthwise16_formula = {
    "multiply_depthwise16", "", 0, nullptr, nullptr, nullptr, run_depthwise_formula};
const kernels::Kernel narrow16_loops = {"multiply16_narrow", "", 0, nullptr, nullptr, nullptr,
                                        run_narrow_loops};
const kernels::Kernel narrow16_formula = {"multiply16_narrow", "", 0, nullptr, nullptr, nullptr,
                                          run_narrow_formula};

void make_dot16(uint32_t index, Case& c) {
  Lengths of = {};
  of.length = c.uniform(0, index % 4 == 0 ? 700 : 40);
  of.rows = c.uniform(0, index % 4 == 0 ? 2 : 9);
  of.x_row = of.length + c.uniform(0, 5);
  of.w_row = of.length + c.uniform(0, 3);
  of.filter = of.rows * of.w_row + c.uniform(0, 3);
  const int32_t x_count = of.rows * of.x_row + 1;
  const int32_t w_count = 5 * of.filter + 1;
  auto* x = c.input<int16_t>(x_count);
  auto* w = c.input<int8_t>(w_count);
  if (index % 8 == 0) {  // the largest sums
    for (int32_t i = 0; i < x_count; ++i) x[i] = INT16_MIN;
    for (int32_t i = 0; i < w_count; ++i) w[i] = INT8_MIN;
  }
  *c.input<Lengths>(1) = of;
  c.output(kRows * 8);
  c.text() << of.rows << " rows of " << of.length << " products, " << of.x_row << " and "
           << of.w_row << " apart";
}

void make_depthwise16(uint32_t index, Case& c) {
  Depthwise of = {};
  of.channels = c.uniform(1, kDepthwise16Channels);
  of.rows = c.uniform(0, index % 4 == 0 ? 16 : 5);
  of.taps = c.uniform(0, index % 4 == 0 ? 16 : 5);
  of.x_tap = of.channels + c.uniform(0, 9);
  of.x_row = of.taps * of.x_tap + c.uniform(0, 5);
  of.w_row = of.taps + c.uniform(0, 16 - of.taps);
  of.filter = of.rows * of.w_row;
  c.input<int16_t>(of.rows * of.x_row + of.taps * of.x_tap + of.channels);
  c.input<int8_t>(of.filter * of.channels + 1);
  *c.input<Depthwise>(1) = of;
  c.output(of.channels * 4);
  c.text() << of.rows << " rows of " << of.taps << " taps, " << of.channels << " channels";
}

void make_narrow16(uint32_t index, Case& c) {
  constexpr int32_t kChannels = 4 * kBlocks;
  Narrow of = {};
  of.rows = c.uniform(0, 5);
  of.length = c.uniform(1, index % 4 == 0 ? 50 : 12);
  of.x_row = of.length + c.uniform(0, 5);
  of.mult_step = c.uniform(0, 1);
  of.shift_step = c.uniform(0, 1);
  of.min = c.uniform(-40000, 0) < -32768 ? -32768 : c.uniform(-32768, 0);
  of.max = c.uniform(of.min, 32767);
  c.input<int16_t>(of.rows * of.x_row + of.length);
  c.input<int8_t>(kChannels * of.rows * of.length + 1);
  *c.input<Narrow>(1) = of;
  auto* bias = c.input<int64_t>(kChannels);
  const int32_t most = INT32_MAX - of.rows * of.length * 32768 * 128;
  for (int32_t k = 0; k < kChannels; ++k) bias[k] = c.uniform(-most, most);
  auto* mult = c.input<int32_t>(kChannels);
  auto* shift = c.input<int32_t>(kChannels);
  for (int32_t k = 0; k < kChannels; ++k) {
    mult[k] = c.one_of({0, 1, 1 << 30, 0x7FFEFFFF, 0x7FFF0000, 0x7FFF8000, INT32_MAX});
    if (index % 2 == 0) mult[k] = c.uniform(1 << 30, INT32_MAX);
    shift[k] = index % 3 == 0 ? c.uniform(-31, 14) : c.uniform(-12, 0);
  }
  c.output(kChannels * 2);
  c.text() << of.rows << " rows of " << of.length << " products, " << of.x_row << " apart";
}

}  // namespace thimble::firmware
