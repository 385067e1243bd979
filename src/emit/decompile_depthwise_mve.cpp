// SPDX-License-Identifier: Apache-2.0
// Decompiles depthwise convolution packed for Helium (abi/depthwise_mve.h).

#include "abi/depthwise_mve.h"
#include "abi/params/window.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {

Result<ir::ValueId> decompile_depthwise_mve(DecompilerCall* call) {
  THIMBLE_TRY(const abi::WindowGeometry g, read_geometry(call, 1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  if (g.in_c == 0 || g.in_c != g.out_c)
    return bad_input("has different numbers of input and output channels");
  constexpr int32_t kLanes = abi::kDepthwiseLanes;
  const int32_t taps = g.kernel_h * g.kernel_w;
  PackedReader packed(*bytes);
  UnpackedFilters filters;
  for (int32_t first = 0; first < g.in_c; first += kLanes) {
    THIMBLE_TRY(const std::vector<int32_t> bias, packed.array<int32_t>(kLanes));
    THIMBLE_TRY(const std::vector<int8_t> weights,
                packed.array<int8_t>(int64_t{kLanes} * abi::depthwise_taps(taps)));
    THIMBLE_TRY(const std::vector<int8_t> shift, packed.array<int8_t>(kLanes));
    THIMBLE_TRY(const std::vector<int32_t> mult, packed.array<int32_t>(kLanes));
    for (int32_t lane = 0; lane < kLanes && first + lane < g.in_c; ++lane) {
      const size_t place = abi::depthwise_lane_position(static_cast<uint32_t>(lane));
      filters.bias.push_back(bias[place]);
      filters.mult.push_back(mult[place]);
      filters.shift.push_back(shift[place]);
      for (int32_t tap = 0; tap < taps; ++tap) {
        filters.weights.push_back(weights[static_cast<size_t>(tap * kLanes + lane)]);
      }
    }
  }
  return build_qconv2d(call, g, g.in_c, filters);
}

}  // namespace thimble::emit
