// SPDX-License-Identifier: Apache-2.0
// Packed depthwise convolutions for Helium: blocks of 16 lanes, abi/depthwise_mve.h.

#include <algorithm>

#include "abi/depthwise_mve.h"
#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/pack.h"
#include "engines/cortex_m/compiler/packed.h"

namespace thimble::engine::cortex_m {
namespace {

constexpr size_t kLanes = abi::kDepthwiseLanes;

bool fits_depthwise(const Filter& filter) {
  if (filter.shift < -31 || filter.shift > -1) return false;
  // The sum of two int8 products fits 16 bits, unless both weights are -128.
  const size_t taps = filter.weights.size();
  const size_t paired = taps == 9 ? 8 : taps;
  for (size_t tap = 0; tap + 1 < paired; tap += 2) {
    if (filter.weights[tap] == -128 && filter.weights[tap + 1] == -128) return false;
  }
  return filter.bias >= INT32_MIN && filter.bias <= INT32_MAX;
}

void put_block(std::span<const Filter* const> lanes, PackedWriter* writer) {
  const Filter* ordered[kLanes] = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    ordered[abi::depthwise_lane_position(lane)] = lanes[lane];
  }
  for (const Filter* filter : ordered) {
    writer->put(filter != nullptr ? static_cast<int32_t>(filter->bias) : int32_t{0});
  }
  const size_t taps = lanes[0]->weights.size();
  const auto rows = static_cast<size_t>(abi::depthwise_taps(static_cast<int32_t>(taps)));
  for (size_t tap = 0; tap < rows; ++tap) {
    for (const Filter* filter : lanes) {
      writer->put(filter != nullptr && tap < taps ? filter->weights[tap] : int8_t{0});
    }
  }
  for (const Filter* filter : ordered) {
    writer->put(filter != nullptr ? static_cast<int8_t>(filter->shift) : int8_t{-1});
  }
  for (const Filter* filter : ordered) {
    writer->put(filter != nullptr ? filter->mult : int32_t{0});
  }
}

}  // namespace

std::optional<KernelCall> mve_depthwise(const ir::Graph& graph, const ir::Op& op) {
  if (!is_depthwise(graph, op)) return {};
  const std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry || geometry->in_c != geometry->out_c || geometry->in_c % 4 != 0) return {};
  const std::vector<Filter> channels = filters(graph, op);
  if (!std::ranges::all_of(channels, fits_depthwise)) return {};
  PackedWriter writer;
  for (size_t first = 0; first < channels.size(); first += kLanes) {
    const Filter* lanes[kLanes] = {};
    for (size_t lane = 0; lane < kLanes; ++lane) {
      // If the number of channels divides 16, a single block repeats them.
      const bool repeats = kLanes % channels.size() == 0;
      const size_t channel = repeats ? lane % channels.size() : first + lane;
      if (channel < channels.size()) lanes[lane] = &channels[channel];
    }
    put_block(lanes, &writer);
  }
  KernelCall call;
  call.op = abi::PteOp::thimble_depthwise_mve;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_depthwise_mve>(*geometry), writer.take(),
                    Scratch{abi::depthwise_scratch_bytes(*geometry)}};
  return call;
}

}  // namespace thimble::engine::cortex_m
