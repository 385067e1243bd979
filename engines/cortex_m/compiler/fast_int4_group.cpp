// SPDX-License-Identifier: Apache-2.0
// Packed form of linear layers and 1x1 convolutions whose weights have 4 bits and a factor for each
// group (attribute weight_group; abi/int4_group.h). One form for all cores.

#include <algorithm>
#include <array>
#include <cstdlib>

#include "abi/int4.h"
#include "abi/int4_group.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/packed.h"
#include "ir/weight_bits.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;
static_assert(abi::kInt4Group == ir::kWeightGroup && abi::kInt4FactorMax == ir::kGroupFactorMax);

/// A quad of channels; a missing one has no weights.
using Quad = std::array<Filter, 4>;

/// Returns the factor of a group of a channel, 0 for a missing channel.
int32_t factor_of(const Filter& filter, size_t first, size_t count) {
  if (filter.weights.empty()) return 0;
  return ir::group_factor(std::span(filter.weights).subspan(first, count));
}

int32_t weight_at(const Filter& filter, size_t k, int32_t factor) {
  return filter.weights.empty() ? 0 : filter.weights[k] / factor;
}

void put_group(const Quad& quad, size_t first, size_t count, PackedWriter* writer) {
  std::array<int32_t, 4> factors{};
  for (size_t c = 0; c < 4; ++c) {
    factors[c] = factor_of(quad[c], first, count);
    writer->put(static_cast<uint8_t>(factors[c]));
  }
  for (const size_t low : {size_t{0}, size_t{2}}) {
    for (size_t k = first; k < first + count; ++k) {
      writer->put(abi::int4_offset_pair(weight_at(quad[low], k, factors[low]),
                                        weight_at(quad[low + 1], k, factors[low + 1])));
    }
  }
}

void put_quad(const Quad& quad, PackedWriter* writer) {
  abi::Int4Quad header = {};
  for (size_t c = 0; c < 4; ++c) {
    header.bias[c] = static_cast<int32_t>(quad[c].bias);
    header.mult[c] = quad[c].mult;
    header.shift[c] = static_cast<int8_t>(quad[c].shift);
  }
  writer->put(header);
  const size_t depth = quad[0].weights.size();
  for (size_t first = 0; first < depth; first += abi::kInt4Group) {
    put_group(quad, first, std::min<size_t>(abi::kInt4Group, depth - first), writer);
  }
}

/// Returns true if the channel has the limits of abi/int4_group.h.
bool fits(const Filter& filter) {
  const int64_t most = 128 * filter.magnitude() + std::abs(filter.bias);
  return most < abi::kInt4SumLimit && filter.shift >= -31 && filter.shift <= -1;
}

/// Returns the weights; nothing if the form does not support a channel or the depth.
std::optional<Constant> pack(const ir::Graph& graph, const ir::Op& op) {
  const std::vector<Filter> all = filters(graph, op);
  if (all[0].weights.size() % 4 != 0) return {};
  if (!std::ranges::all_of(all, fits)) return {};
  PackedWriter writer;
  for (size_t first = 0; first < all.size(); first += 4) {
    Quad quad;
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first),
                std::min<size_t>(4, all.size() - first), quad.begin());
    put_quad(quad, &writer);
  }
  for (uint32_t i = 0; i < abi::kInt4ReadAhead; ++i) writer.put(uint8_t{0});
  return writer.take();
}

}  // namespace

std::optional<KernelCall> int4_group_linear(const ir::Graph& graph, const ir::Op& op) {
  if (!ir::has_grouped_weights(op)) return {};
  const std::optional<abi::LinearGeometry> g = linear_geometry(graph, op);
  if (!g) return {};
  std::optional<Constant> weights = pack(graph, op);
  if (!weights) return {};
  KernelCall call;
  call.op = PteOp::thimble_linear_int4_group;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_int4_group>(*g),
                    std::move(*weights), Scratch{abi::int4_group_scratch_bytes(g->in_features)}};
  return call;
}

std::optional<KernelCall> int4_group_conv2d(const ir::Graph& graph, const ir::Op& op) {
  if (!ir::has_grouped_weights(op)) return {};
  const std::optional<abi::WindowGeometry> g = window_geometry(graph, op);
  if (!g || !abi::is_pointwise(*g)) return {};
  std::optional<Constant> weights = pack(graph, op);
  if (!weights) return {};
  KernelCall call;
  call.op = PteOp::thimble_conv2d_int4_group;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_conv2d_int4_group>(*g),
                    std::move(*weights), Scratch{abi::int4_group_scratch_bytes(g->in_c)}};
  return call;
}

}  // namespace thimble::engine::cortex_m
