// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/packed_filters.h"

#include <algorithm>
#include <cstdlib>

#include "abi/matmul_mve.h"
#include "abi/matmul_scalar.h"

namespace thimble::engine::cortex_m {

using abi::ScalarChannel;

namespace {

/// Returns the right shift; with a multiplier of 0 any shift is correct.
int32_t right_shift(const Filter& filter) {
  return filter.mult == 0 ? 1 : -filter.shift;
}

}  // namespace

bool fits_mve(const std::vector<Filter>& all, const ir::Op& op) {
  const bool relu = op.get(ir::attr::min) >= op.get(ir::attr::y_zp);
  const int32_t most = relu ? 0 : -1;
  return std::all_of(all.begin(), all.end(), [&](const Filter& filter) {
    return filter.mult == 0 || filter.shift <= most;
  });
}

void put_matmul_quads(const std::vector<Filter>& all, PackedWriter* writer) {
  const auto channels = static_cast<uint32_t>(all.size());
  const uint32_t quads = abi::matmul_quads(channels);
  for (uint32_t q = 0; q < quads; ++q) {
    abi::MatmulQuad quad = {};
    for (uint32_t lane = 0; lane < 4 && 4 * q + lane < channels; ++lane) {
      const Filter& filter = all[4 * q + lane];
      quad.bias[lane] = static_cast<int32_t>(filter.bias);
      quad.mult[lane] = filter.mult;
      // With a multiplier of 0 any shift is correct.
      quad.shift[lane] = static_cast<int8_t>(filter.mult == 0 ? -1 : filter.shift);
    }
    writer->put(quad);
  }
}

int32_t dsp_scale(const Filter& filter) {
  return filter.mult == 0 ? 2 : static_cast<int32_t>(int64_t{1} << (32 + filter.shift));
}

bool fits_dsp(const Filter& filter) {
  const bool shifts = filter.mult == 0 || filter.shift <= -2;
  return shifts && std::abs(filter.bias) + 128 * filter.magnitude() < 1 << 30;
}

void put_dsp_scales(const Filter& a, const Filter& b, PackedWriter* writer) {
  writer->put(static_cast<int32_t>(2 * b.bias));
  for (const Filter* filter : {&a, &b}) {
    writer->put(filter->mult);
    writer->put(dsp_scale(*filter));
  }
}

bool fits_scalar(const Filter& filter) {
  const int32_t shift = right_shift(filter);
  return filter.mult >= 0 && shift >= 1 && shift <= abi::kScalarShiftMax &&
         std::abs(filter.bias) + 128 * filter.magnitude() < abi::kScalarAccLimit;
}

void put_scalar_channels(const std::vector<Filter>& filters, int64_t y_zero_point,
                         PackedWriter* writer) {
  put_scalar_channels(filters, y_zero_point, 0, writer);
}

void put_scalar_channels(const std::vector<Filter>& filters, int64_t y_zero_point, int32_t flags,
                         PackedWriter* writer) {
  for (const Filter& filter : filters) {
    const int32_t shift = right_shift(filter);
    const int64_t round = (2 * y_zero_point + 1) * (int64_t{1} << (shift - 1));
    writer->put(ScalarChannel{static_cast<int32_t>(filter.bias), filter.mult,
                              static_cast<int32_t>(round), shift | flags});
    flags = 0;
  }
}

}  // namespace thimble::engine::cortex_m
