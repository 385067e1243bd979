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

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

/// The kernels only shift right. Unless a relu clamps negative sums, the shift must be at least 1,
/// because of the rounding of halves.
bool takes_scales(const std::vector<Filter>& all, const ir::Op& op) {
  const bool relu = op.get(ir::attr::min) >= op.get(ir::attr::y_zp);
  const int32_t most = relu ? 0 : -1;
  return std::all_of(all.begin(), all.end(), [&](const Filter& filter) {
    return filter.mult == 0 || filter.shift <= most;
  });
}

Constant pack_quads(const std::vector<Filter>& all) {
  const auto channels = static_cast<uint32_t>(all.size());
  const auto depth = static_cast<uint32_t>(all[0].weights.size());
  const uint32_t quads = abi::matmul_quads(channels);
  PackedWriter writer;
  for (uint32_t q = 0; q < quads; ++q) {
    abi::MatmulQuad quad = {};
    for (uint32_t lane = 0; lane < 4 && 4 * q + lane < channels; ++lane) {
      const Filter& filter = all[4 * q + lane];
      quad.bias[lane] = static_cast<int32_t>(filter.bias);
      quad.mult[lane] = filter.mult;
      // With a multiplier of 0 any shift is correct.
      quad.shift[lane] = static_cast<int8_t>(filter.mult == 0 ? -1 : filter.shift);
    }
    writer.put(quad);
  }
  writer.align(abi::kMatmulLanes);
  std::vector<int8_t> weights(size_t{quads} * 4 * abi::matmul_padded(depth) +
                              abi::kMatmulReadAhead);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    for (uint32_t k = 0; k < depth; ++k) {
      weights[abi::matmul_weight_offset(channel, k, depth)] = all[channel].weights[k];
    }
  }
  writer.put_all(weights);  // without the growth of a buffer: these may be all weights of a network
  return writer.take();
}

}  // namespace

std::optional<KernelCall> mve_conv2d(const ir::Graph& graph, const ir::Op& op) {
  if (op.get(ir::attr::groups) != 1) return {};
  const std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!takes_scales(all, op)) return {};
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
  if (!takes_scales(all, op)) return {};
  const std::optional<abi::LinearGeometry> geometry = linear_geometry(graph, op);
  if (!geometry) return {};
  KernelCall call;
  call.op = PteOp::thimble_linear_mve;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_mve>(*geometry), pack_quads(all)};
  return call;
}

}  // namespace thimble::engine::cortex_m
