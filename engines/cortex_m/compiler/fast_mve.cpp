// SPDX-License-Identifier: Apache-2.0
// Packed forms for Helium (abi/matmul_mve.h).

#include <algorithm>

#include "abi/matmul_mve.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/packed.h"
#include "engines/cortex_m/compiler/packed_filters.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

Constant pack_quads(const std::vector<Filter>& all) {
  const auto channels = static_cast<uint32_t>(all.size());
  const auto depth = static_cast<uint32_t>(all[0].weights.size());
  const uint32_t quads = abi::matmul_quads(channels);
  PackedWriter writer;
  put_matmul_quads(all, &writer);
  writer.align(abi::kMatmulLanes);
  std::vector<int8_t> weights(size_t{quads} * 4 * abi::matmul_padded(depth) +
                              abi::kMatmulReadAhead);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    for (uint32_t k = 0; k < depth; ++k) {
      weights[abi::matmul_weight_offset(channel, k, depth)] = all[channel].weights[k];
    }
  }
  writer.put_all(weights);
  return writer.take();
}

}  // namespace

std::optional<KernelCall> mve_conv2d(const ir::Graph& graph, const ir::Op& op) {
  if (op.get(ir::attr::groups) != 1) return {};
  const std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!fits_mve(all, op)) return {};
  const auto depth = static_cast<uint32_t>(all[0].weights.size());
  const uint32_t row = depth / geometry->kernel_h;
  KernelCall call;
  call.op = PteOp::thimble_conv2d_mve;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_conv2d_mve>(*geometry), pack_quads(all),
                    Scratch{abi::conv2d_mve_scratch_bytes(depth, row)}};
  return call;
}

std::optional<KernelCall> mve_linear(const ir::Graph& graph, const ir::Op& op) {
  const std::vector<Filter> all = filters(graph, op);
  if (!fits_mve(all, op)) return {};
  const std::optional<abi::LinearGeometry> geometry = linear_geometry(graph, op);
  if (!geometry) return {};
  KernelCall call;
  call.op = PteOp::thimble_linear_mve;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_mve>(*geometry), pack_quads(all)};
  return call;
}

}  // namespace thimble::engine::cortex_m
