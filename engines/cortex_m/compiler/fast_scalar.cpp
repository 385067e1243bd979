// SPDX-License-Identifier: Apache-2.0
// Packed forms for cores without DSP instructions (abi/matmul_scalar.h, ScalarChannel).

#include <algorithm>
#include <cstdlib>

#include "abi/matmul_scalar.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/pack.h"
#include "engines/cortex_m/compiler/packed.h"
#include "engines/cortex_m/compiler/packed_filters.h"
#include "engines/cortex_m/compiler/packed_scratch.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

bool all_fit(const std::vector<Filter>& filters) {
  return std::all_of(filters.begin(), filters.end(), fits_scalar);
}

/// Packs one filter after the other, each padded to `row` bytes.
Constant pack_rows(const std::vector<Filter>& filters, int64_t y_zero_point, int64_t row) {
  PackedWriter writer;
  put_scalar_channels(filters, y_zero_point, &writer);
  for (const Filter& filter : filters) {
    writer.put_all(filter.weights);
    for (auto k = static_cast<int64_t>(filter.weights.size()); k < row; ++k) writer.put(int8_t{0});
  }
  return writer.take();
}

/// Packs one tap of all filters after the other.
Constant pack_taps(const std::vector<Filter>& filters, int64_t y_zero_point) {
  PackedWriter writer;
  put_scalar_channels(filters, y_zero_point, &writer);
  for (size_t tap = 0; tap < filters[0].weights.size(); ++tap) {
    for (const Filter& filter : filters) writer.put(filter.weights[tap]);
  }
  return writer.take();
}

std::optional<KernelCall> depthwise(const ir::Graph& graph, const ir::Op& op,
                                    uint16_t block_pixels) {
  std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  const bool nine = geometry->kernel_h == 3 && geometry->kernel_w == 3;
  const bool neighbours = geometry->stride_w == 1 && geometry->dilation_w == 1;
  if (nine && neighbours && geometry->out_w >= block_pixels && geometry->in_c == geometry->out_c) {
    geometry->block_pixels = block_pixels;
    if (!scratch_is_small(graph, op, abi::scalar_depthwise_scratch(*geometry)))
      geometry->block_pixels = 0;
  }
  const std::vector<Filter> all = filters(graph, op);
  if (!all_fit(all)) return {};
  KernelCall call;
  call.op = PteOp::thimble_depthwise_scalar;
  call.arguments = {
      ValueRef{op.inputs[0]}, packed_constant<abi::op_info::thimble_depthwise_scalar>(*geometry),
      pack_taps(all, op.get(ir::attr::y_zp)), Scratch{abi::scalar_depthwise_scratch(*geometry)}};
  return call;
}

/// Checks pairs of adjacent weights as abi/matmul_scalar.h requires.
bool fits_pairs(const Filter& filter) {
  for (size_t k = 0; k + 1 < filter.weights.size(); k += 2) {
    if (filter.weights[k] == -128 && filter.weights[k + 1] == -128) return false;
  }
  return true;
}

/// Returns true if abi::scalar_block_code() represents the weights.
bool fits_blocks(const Filter& filter) {
  for (size_t k = 1; k < filter.weights.size(); k += 2) {
    if (filter.weights[k] == -128) return false;
  }
  return true;
}

/// Returns the number of windows that the scratch holds.
using ScratchRows = int64_t(const abi::WindowGeometry& geometry);

std::optional<KernelCall> conv2d(const ir::Graph& graph, const ir::Op& op, uint16_t block_pixels,
                                 ScratchRows* scratch_rows) {
  if (is_depthwise(graph, op)) return depthwise(graph, op, block_pixels);
  if (op.get(ir::attr::groups) != 1) return {};
  std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  const int64_t window = int64_t{geometry->kernel_h} * geometry->kernel_w * geometry->in_c;
  const int64_t row = abi::scalar_row(window);
  const bool blocks = geometry->out_h * geometry->out_w >= block_pixels;
  if (blocks && scratch_is_small(graph, op, abi::kScalarQuadRows * row)) {
    geometry->block_pixels = block_pixels;
  }
  const std::vector<Filter> all = filters(graph, op);
  if (!all_fit(all) || !std::all_of(all.begin(), all.end(), fits_pairs)) return {};
  KernelCall call;
  call.op = PteOp::thimble_conv2d_scalar;
  call.arguments = {
      ValueRef{op.inputs[0]}, packed_constant<abi::op_info::thimble_conv2d_scalar>(*geometry),
      pack_rows(all, op.get(ir::attr::y_zp), row), Scratch{scratch_rows(*geometry) * row}};
  return call;
}

}  // namespace

std::optional<KernelCall> scalar_conv2d(const ir::Graph& graph, const ir::Op& op) {
  return conv2d(graph, op, 0,
                [](const abi::WindowGeometry&) -> int64_t { return abi::kScalarPixels; });
}
std::optional<KernelCall> thumb1_conv2d(const ir::Graph& graph, const ir::Op& op) {
  return conv2d(graph, op, 4, abi::scalar_pair_rows);
}
std::optional<KernelCall> thumb1_conv2d_pairs(const ir::Graph& graph, const ir::Op& op) {
  return conv2d(graph, op, 0, abi::scalar_pair_rows);
}

std::optional<KernelCall> scalar_linear(const ir::Graph& graph, const ir::Op& op) {
  const std::optional<abi::LinearGeometry> geometry = linear_geometry(graph, op);
  if (!geometry) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!all_fit(all)) return {};
  KernelCall call;
  call.op = PteOp::thimble_linear_scalar;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_scalar>(*geometry),
                    pack_rows(all, op.get(ir::attr::y_zp), abi::scalar_row(geometry->in_features))};
  return call;
}

/// Returns true if the weights are also the rows of a table (tied embeddings). Such weights stay in
/// rows, so that the file stores the bytes once.
bool is_table(const ir::Graph& graph, const ir::TensorPtr& weights) {
  return std::ranges::any_of(graph.ops(), [&](const ir::Op& op) {
    if (op.kind != ir::OpKind::gather) return false;
    const ir::TensorPtr& table = graph.value(op.inputs[0]).constant;
    return table != nullptr && table->bytes == weights->bytes;
  });
}

/// Blocks of four outputs, if the layer has whole blocks.
std::optional<KernelCall> thumb1_linear(const ir::Graph& graph, const ir::Op& op) {
  const std::optional<abi::LinearGeometry> geometry = linear_geometry(graph, op);
  if (!geometry || (geometry->in_features | geometry->out_features) % 4 != 0) return {};
  if (is_table(graph, graph.value(op.inputs[1]).constant)) return {};
  std::vector<Filter> all = filters(graph, op);
  if (!all_fit(all) || !std::all_of(all.begin(), all.end(), fits_blocks)) return {};
  const int64_t depth = geometry->in_features;
  std::vector<int8_t> blocks(all.size() * all[0].weights.size());
  for (size_t o = 0; o < all.size(); ++o) {
    for (size_t k = 0; k < all[o].weights.size(); ++k) {
      const int8_t weight = all[o].weights[k];
      const auto output = static_cast<int64_t>(o), at = static_cast<int64_t>(k);
      blocks[static_cast<size_t>(abi::scalar_block_offset(output, at, depth))] =
          abi::scalar_block_code(weight, at);
      all[o].bias -= 128 * weight;
    }
  }
  PackedWriter writer;
  put_scalar_channels(all, op.get(ir::attr::y_zp), abi::kScalarBlocks, &writer);
  writer.put_all(blocks);
  KernelCall call;
  call.op = PteOp::thimble_linear_scalar;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_scalar>(*geometry), writer.take()};
  return call;
}

}  // namespace thimble::engine::cortex_m
