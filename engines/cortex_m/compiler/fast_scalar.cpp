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
  const bool blocks = nine && neighbours && geometry->out_w >= block_pixels;
  if (blocks && geometry->in_c == geometry->out_c) geometry->block_pixels = block_pixels;
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

/// Returns the number of windows that the scratch holds.
using ScratchRows = int64_t(const abi::WindowGeometry& geometry);

std::optional<KernelCall> conv2d(const ir::Graph& graph, const ir::Op& op, uint16_t block_pixels,
                                 ScratchRows* scratch_rows) {
  if (is_depthwise(graph, op)) return depthwise(graph, op, block_pixels);
  if (op.get(ir::attr::groups) != 1) return {};
  std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  if (geometry->out_h * geometry->out_w >= block_pixels) geometry->block_pixels = block_pixels;
  const int64_t window = int64_t{geometry->kernel_h} * geometry->kernel_w * geometry->in_c;
  const int64_t row = abi::scalar_row(window);
  const std::vector<Filter> all = filters(graph, op);
  if (!all_fit(all) || !std::all_of(all.begin(), all.end(), fits_pairs)) return {};
  KernelCall call;
  call.op = PteOp::thimble_conv2d_scalar;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_conv2d_scalar>(*geometry),
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

}  // namespace thimble::engine::cortex_m
