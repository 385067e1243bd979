// SPDX-License-Identifier: Apache-2.0
// Resizes images with positions and weights that the compiler has computed.

#include "engines/neutron/model/image.h"

namespace thimble::neutron::model {

void resize_nearest(const KernelArgs& args) {
  const View& a = args.record.operands[0];
  const View& y = args.record.output;
  const uint8_t* const rows = args.constants(args.record.data);
  const uint8_t* const columns = rows + 4 * y.dims[1];
  for_pixels(y, [&](uint32_t n, uint32_t h, uint32_t w) {
    const int8_t* const from = args.a + pixel(a, n, static_cast<uint32_t>(int_at(rows, h)),
                                              static_cast<uint32_t>(int_at(columns, w)));
    int8_t* const to = args.y + pixel(y, n, h, w);
    for (uint32_t c = 0; c < y.dims[3]; ++c) {
      const auto k = static_cast<int32_t>(c);
      to[k * y.strides[3]] = from[k * a.strides[3]];
    }
  });
}

namespace {

/// Two neighbors along one dimension, and the weight of the second.
struct Between {
  uint32_t low, high;
  int32_t weight;  // in 1/2048
};

Between between(const uint8_t* low, const uint8_t* weight, uint32_t index, uint32_t size) {
  const auto first = static_cast<uint32_t>(int_at(low, index));
  return {first, first + 1 < size ? first + 1 : first, int_at(weight, index)};
}

}  // namespace

/// Rounds halves up.
void resize_bilinear(const KernelArgs& args) {
  constexpr int32_t kWhole = 2048;
  const View& a = args.record.operands[0];
  const View& y = args.record.output;
  const uint8_t* const rows = args.constants(args.record.data);
  const uint8_t* const columns = rows + 8 * y.dims[1];
  for_pixels(y, [&](uint32_t n, uint32_t h, uint32_t w) {
    const Between row = between(rows, rows + 4 * y.dims[1], h, a.dims[1]);
    const Between column = between(columns, columns + 4 * y.dims[2], w, a.dims[2]);
    const int8_t* const corners[4] = {
        args.a + pixel(a, n, row.low, column.low), args.a + pixel(a, n, row.low, column.high),
        args.a + pixel(a, n, row.high, column.low), args.a + pixel(a, n, row.high, column.high)};
    int8_t* const to = args.y + pixel(y, n, h, w);
    for (uint32_t c = 0; c < y.dims[3]; ++c) {
      const int32_t x = static_cast<int32_t>(c) * a.strides[3];
      const int32_t right = column.weight;
      const int32_t above = (kWhole - right) * corners[0][x] + right * corners[1][x];
      const int32_t below = (kWhole - right) * corners[2][x] + right * corners[3][x];
      const int32_t sum = (kWhole - row.weight) * above + row.weight * below;
      to[static_cast<int32_t>(c) * y.strides[3]] = static_cast<int8_t>((sum + (1 << 21)) >> 22);
    }
  });
}

}  // namespace thimble::neutron::model
