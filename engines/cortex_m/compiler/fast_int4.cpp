// SPDX-License-Identifier: Apache-2.0
// Packed forms of operators whose weights have 4 bits (attribute weight_bits). Convolutions and
// linear layers: the forms of Helium, of the DSP extension and of cores without either, with half
// of the bytes. Recurrent layers: one form for all cores. Depthwise convolutions and groups have no
// such form; the forms with 8 bits store their weights.

#include <algorithm>

#include "abi/int4.h"
#include "abi/matmul_dsp.h"
#include "abi/matmul_mve.h"
#include "abi/matmul_scalar.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engine/direct.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/packed.h"
#include "engines/cortex_m/compiler/packed_filters.h"
#include "engines/cortex_m/compiler/packed_scratch.h"
#include "ir/weight_bits.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

bool has_form(const ir::Op& op) {
  if (!ir::has_int4_weights(op) || ir::has_grouped_weights(op)) return false;
  return op.kind != ir::OpKind::qconv2d || op.get(ir::attr::groups) == 1;
}

int32_t weight_at(const Filter& filter, size_t k) {
  return k < filter.weights.size() ? int32_t{filter.weights[k]} : 0;
}

/// Returns the filter, or one without weights after the last.
Filter filter_or_none(const std::vector<Filter>& all, size_t channel) {
  return channel < all.size() ? all[channel] : Filter{};
}

Constant pack_mve(const std::vector<Filter>& all) {
  const auto channels = static_cast<uint32_t>(all.size());
  const auto depth = static_cast<uint32_t>(all[0].weights.size());
  PackedWriter writer;
  put_matmul_quads(all, &writer);
  writer.align(abi::kMatmulLanes);
  std::vector<uint8_t> pairs(size_t{abi::matmul_quads(channels)} * 2 * abi::matmul_padded(depth) +
                             abi::kMatmulReadAhead);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    if (channel % 4 >= 2) continue;  // the high weights
    const Filter high = filter_or_none(all, channel + 2);
    for (uint32_t k = 0; k < depth; ++k) {
      pairs[abi::matmul_int4_offset(channel, k, depth)] =
          abi::int4_pair(weight_at(all[channel], k), weight_at(high, k));
    }
  }
  writer.put_all(pairs);
  return writer.take();
}

/// The byte of depth k of two channels.
uint8_t offset_pair(const Filter& a, const Filter& b, size_t k) {
  return abi::int4_offset_pair(weight_at(a, k), weight_at(b, k));
}

void put_dsp_pairs(const std::vector<Filter>& all, size_t first, PackedWriter* writer) {
  for (size_t o = first; o < all.size(); o += 2) {
    const Filter b = filter_or_none(all, o + 1);
    writer->put(static_cast<int32_t>(all[o].bias));
    const size_t depth = (all[o].weights.size() + 3) / 4 * 4;
    for (size_t k = 0; k < depth; ++k) writer->put(offset_pair(all[o], b, k));
    put_dsp_scales(all[o], b, writer);
  }
}

Constant pack_dsp_conv(const std::vector<Filter>& all) {
  PackedWriter writer;
  put_dsp_pairs(all, 0, &writer);
  return writer.take();
}

Constant pack_dsp_linear(std::vector<Filter> all) {
  if (all.size() % 4 == 3) all.emplace_back();
  const size_t depth = all[0].weights.size();
  PackedWriter writer;
  size_t first = 0;
  for (; first + 4 <= all.size(); first += 4) {
    const Filter* const four = &all[first];
    writer.put(static_cast<int32_t>(four[0].bias));
    writer.put(static_cast<int32_t>(four[2].bias));
    for (size_t k = 0; k < depth; k += 4) {
      for (const size_t pair : {size_t{0}, size_t{2}}) {
        for (size_t i = k; i < k + 4; ++i) {
          writer.put(offset_pair(four[pair], four[pair + 1], i));
        }
      }
    }
    put_dsp_scales(four[0], four[1], &writer);
    put_dsp_scales(four[2], four[3], &writer);
  }
  put_dsp_pairs(all, first, &writer);
  return writer.take();
}

Constant pack_scalar(const std::vector<Filter>& all, int64_t y_zero_point) {
  PackedWriter writer;
  put_scalar_channels(all, y_zero_point, &writer);
  const auto row =
      static_cast<size_t>(abi::scalar_row(static_cast<int64_t>(all[0].weights.size())));
  for (size_t o = 0; o < all.size(); o += 2) {
    const Filter high = filter_or_none(all, o + 1);
    for (size_t k = 0; k < row; ++k) {
      writer.put(abi::int4_pair(weight_at(all[o], k), weight_at(high, k)));
    }
  }
  return writer.take();
}

/// The fast kernels compute 16 times the sum of one channel of a pair.
bool fits_sixteenfold(const Filter& filter) {
  return 128 * filter.magnitude() < int64_t{1} << 27;
}
bool fits_dsp_int4(const Filter& filter) {
  return fits_dsp(filter) && fits_sixteenfold(filter);
}

std::optional<KernelCall> conv_call(const ir::Op& op, PteOp pte_op,
                                    const abi::WindowGeometry& geometry, Constant weights,
                                    int64_t scratch) {
  KernelCall call;
  call.op = pte_op;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_conv2d_mve>(geometry), std::move(weights),
                    Scratch{scratch}};
  return call;
}

std::optional<KernelCall> linear_call(const ir::Op& op, PteOp pte_op,
                                      const abi::LinearGeometry& geometry, Constant weights) {
  KernelCall call;
  call.op = pte_op;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_mve>(geometry),
                    std::move(weights)};
  return call;
}

/// `pairs`: for the kernels of Armv6-M, which compute two or four pixels at once.
std::optional<KernelCall> scalar_conv2d(const ir::Graph& graph, const ir::Op& op, bool pairs) {
  if (!has_form(op)) return {};
  std::optional<abi::WindowGeometry> g = window_geometry(graph, op);
  if (!g) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!std::ranges::all_of(all, fits_scalar)) return {};
  const int64_t row = abi::scalar_row(static_cast<int64_t>(all[0].weights.size()));
  g->block_pixels = pairs && g->out_h * g->out_w >= 4 ? 4 : 2;
  if (!scratch_is_small(graph, op, abi::scalar_int4_rows(*g, pairs) * row)) g->block_pixels = 2;
  return conv_call(op, PteOp::thimble_conv2d_scalar_int4, *g,
                   pack_scalar(all, op.get(ir::attr::y_zp)),
                   abi::scalar_int4_rows(*g, pairs) * row);
}

/// The weights of a recurrent layer (abi/int4.h).
Constant pack_row_pairs(const ir::Tensor& w) {
  const auto rows = static_cast<size_t>(w.shape[0]), terms = static_cast<size_t>(w.shape[1]);
  const auto codes = w.data<int8_t>();
  const auto pairs = static_cast<size_t>(abi::int4_row_pairs(w.shape[0]));
  Bytes bytes;
  for (size_t pair = 0; pair < pairs; ++pair) {
    for (size_t k = 0; k < terms; ++k) {
      const size_t low = 2 * pair * terms + k;
      const int32_t high = 2 * pair + 1 < rows ? codes[low + terms] : 0;
      bytes.push_back(static_cast<std::byte>(abi::int4_offset_pair(codes[low], high)));
    }
  }
  return {std::make_shared<const Bytes>(std::move(bytes)),
          ir::DType::kU8,
          {static_cast<int64_t>(pairs), w.shape[1]},
          {}};
}

Constant narrow_shifts(const ir::Tensor& shift) {
  Bytes bytes;
  for (const int32_t value : shift.data<int32_t>()) {
    bytes.push_back(static_cast<std::byte>(static_cast<int8_t>(value)));
  }
  return {std::make_shared<const Bytes>(std::move(bytes)), ir::DType::kI8, shift.shape, {}};
}

}  // namespace

std::optional<KernelCall> int4_recurrent(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  Result<Bytes> params = direct_params(*direct_op(op.kind), op);
  if (!params) return {};  // the general call reports the error
  const auto weights = ir::weight_operands(op.kind);
  const size_t shift = op.inputs.size() - 2;
  KernelCall call;
  call.op = op.kind == ir::OpKind::qlstm ? PteOp::thimble_lstm_int4 : PteOp::thimble_gru_int4;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const auto& constant = graph.value(op.inputs[i]).constant;
    if (std::ranges::count(weights, i) != 0) {
      call.arguments.emplace_back(pack_row_pairs(*constant));
    } else if (i == shift) {
      call.arguments.emplace_back(narrow_shifts(*constant));
    } else {
      call.arguments.emplace_back(ValueRef{op.inputs[i]});
    }
  }
  const auto size = static_cast<int64_t>(params->size());
  call.arguments.emplace_back(
      Constant{std::make_shared<const Bytes>(std::move(*params)), ir::DType::kU8, {size}, {}});
  call.arguments.emplace_back(Scratch{direct_scratch_bytes(graph, op)});
  return call;
}

std::optional<KernelCall> int4_mve_conv2d(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  const std::optional<abi::WindowGeometry> g = window_geometry(graph, op);
  if (!g) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!fits_mve(all, op) || !std::ranges::all_of(all, fits_sixteenfold)) return {};
  const auto depth = static_cast<uint32_t>(all[0].weights.size());
  return conv_call(op, PteOp::thimble_conv2d_mve_int4, *g, pack_mve(all),
                   abi::conv2d_mve_scratch_bytes(depth, depth / g->kernel_h));
}

std::optional<KernelCall> int4_mve_linear(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  const std::optional<abi::LinearGeometry> g = linear_geometry(graph, op);
  if (!g) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!fits_mve(all, op) || !std::ranges::all_of(all, fits_sixteenfold)) return {};
  return linear_call(op, PteOp::thimble_linear_mve_int4, *g, pack_mve(all));
}

std::optional<KernelCall> int4_dsp_conv2d(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  const std::optional<abi::WindowGeometry> g = window_geometry(graph, op);
  if (!g) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!std::ranges::all_of(all, fits_dsp_int4)) return {};
  return conv_call(op, PteOp::thimble_conv2d_dsp_int4, *g, pack_dsp_conv(all),
                   abi::dsp_conv_scratch_bytes(*g));
}

std::optional<KernelCall> int4_dsp_linear(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  const std::optional<abi::LinearGeometry> g = linear_geometry(graph, op);
  if (!g || g->in_features % 4 != 0) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!std::ranges::all_of(all, fits_dsp_int4)) return {};
  return linear_call(op, PteOp::thimble_linear_dsp_int4, *g, pack_dsp_linear(all));
}

std::optional<KernelCall> int4_scalar_conv2d(const ir::Graph& graph, const ir::Op& op) {
  return scalar_conv2d(graph, op, false);
}
std::optional<KernelCall> int4_thumb1_conv2d(const ir::Graph& graph, const ir::Op& op) {
  return scalar_conv2d(graph, op, true);
}

std::optional<KernelCall> int4_scalar_linear(const ir::Graph& graph, const ir::Op& op) {
  if (!has_form(op)) return {};
  const std::optional<abi::LinearGeometry> g = linear_geometry(graph, op);
  if (!g) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!std::ranges::all_of(all, fits_scalar)) return {};
  return linear_call(op, PteOp::thimble_linear_scalar_int4, *g,
                     pack_scalar(all, op.get(ir::attr::y_zp)));
}

}  // namespace thimble::engine::cortex_m
