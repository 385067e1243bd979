// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/pack.h"

#include "abi/ops/arithmetic.h"
#include "abi/ops/pool.h"
#include "abi/ops/reduction.h"
#include "abi/params/arithmetic.h"
#include "abi/params/conv.h"
#include "abi/params/linear.h"
#include "abi/params/pool.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "engines/cortex_m/compiler/packed.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Graph;
using ir::Op;

/// Sets the fields that ConvParams and PoolParams share, except the kernel.
template <typename Params>
void set_window(const Op& op, Params* params) {
  params->stride_h = attr(op, ir::attr::stride, 0);
  params->stride_w = attr(op, ir::attr::stride, 1);
  const bool dense = op.kind == ir::OpKind::qavg_pool2d;
  params->dilation_h = dense ? 1 : attr(op, ir::attr::dilation, 0);
  params->dilation_w = dense ? 1 : attr(op, ir::attr::dilation, 1);
  params->pad_top = attr(op, ir::attr::padding, 0);
  params->pad_left = attr(op, ir::attr::padding, 1);
}

/// Sets x_offset, y_offset, min and max, which ConvParams, LinearParams and MeanParams have.
template <typename Params>
void set_offsets_and_clamp(const Op& op, Params* params) {
  params->x_offset = -attr(op, ir::attr::x_zp);
  params->y_offset = attr(op, ir::attr::y_zp);
  params->min = attr(op, ir::attr::min);
  params->max = attr(op, ir::attr::max);
}

/// bias of every output channel, mult and shift of every one or one for all.
void put_channels(const Graph& graph, const Op& op, int64_t channels, int64_t scales,
                  PackedWriter* writer) {
  writer->put_all(op.inputs[2] == ir::kNoValue
                      ? std::vector<int32_t>(static_cast<size_t>(channels), 0)
                      : per_channel(graph, op.inputs[2], channels));
  writer->put_all(per_channel(graph, op.inputs[3], scales));
  std::vector<int8_t> shifts;
  for (const int32_t shift : per_channel(graph, op.inputs[4], scales)) {
    shifts.push_back(static_cast<int8_t>(shift));
  }
  writer->put_all(shifts);
  writer->align(4);
}

}  // namespace

bool is_depthwise(const Graph& graph, const Op& conv) {
  const int64_t groups = conv.get(ir::attr::groups);
  const int64_t channels = graph.type(conv.inputs[0]).shape[1];
  // A convolution of one input channel is not treated as depthwise, because for depthwise the
  // library would transpose its weights at every call.
  return groups > 1 && groups == channels;
}

std::vector<int32_t> per_channel(const Graph& graph, ir::ValueId value, int64_t channels) {
  const std::span<const int32_t> data = graph.value(value).constant->data<int32_t>();
  if (data.size() == 1) return std::vector<int32_t>(static_cast<size_t>(channels), data[0]);
  return {data.begin(), data.end()};
}

std::vector<std::byte> conv_weights(const Graph& graph, const Op& op) {
  const ir::Tensor& weights = *graph.value(op.inputs[1]).constant;  // [O, I/g, kh, kw]
  const std::vector<int64_t> dims =
      is_depthwise(graph, op) ? std::vector<int64_t>{1, 2, 3, 0} : std::vector<int64_t>{0, 2, 3, 1};
  return ir::permuted(weights, dims).bytes;
}

Constant pack_conv(const Graph& graph, const Op& op) {
  const ir::Shape& weights = graph.type(op.inputs[1]).shape;
  abi::ConvParams params = {};
  params.out_channels = static_cast<int32_t>(weights[0]);
  params.groups = attr(op, ir::attr::groups);
  params.kernel_h = static_cast<int32_t>(weights[2]);
  params.kernel_w = static_cast<int32_t>(weights[3]);
  set_window(op, &params);
  set_offsets_and_clamp(op, &params);
  PackedWriter writer;
  writer.put(params);
  put_channels(graph, op, weights[0], weights[0], &writer);
  writer.put_all(conv_weights(graph, op));
  return writer.take();
}

Constant pack_linear(const Graph& graph, const Op& op) {
  const ir::Shape& weights = graph.type(op.inputs[1]).shape;
  abi::LinearParams params = {};
  params.out_features = static_cast<int32_t>(weights[0]);
  params.in_features = static_cast<int32_t>(weights[1]);
  const int64_t scales = graph.type(op.inputs[3]).elements() == graph.type(op.inputs[4]).elements()
                             ? graph.type(op.inputs[3]).elements()
                             : weights[0];
  params.scales = static_cast<int32_t>(scales);
  set_offsets_and_clamp(op, &params);
  PackedWriter writer;
  writer.put(params);
  put_channels(graph, op, weights[0], scales, &writer);
  writer.put_all(graph.value(op.inputs[1]).constant->bytes);
  return writer.take();
}

Constant pack_add(const Op& op) {
  abi::AddParams params = {};
  params.a_offset = -attr(op, ir::attr::a_zp);
  params.a_mult = attr(op, ir::attr::a_mult);
  params.a_shift = attr(op, ir::attr::a_shift);
  params.b_offset = -attr(op, ir::attr::b_zp);
  params.b_mult = attr(op, ir::attr::b_mult);
  params.b_shift = attr(op, ir::attr::b_shift);
  params.y_offset = attr(op, ir::attr::y_zp);
  params.y_mult = attr(op, ir::attr::y_mult);
  params.y_shift = attr(op, ir::attr::y_shift);
  params.min = attr(op, ir::attr::min);
  params.max = attr(op, ir::attr::max);
  params.b_negate = op.kind == ir::OpKind::qsub ? 1 : 0;
  return packed_constant<abi::op_info::thimble_add>(params);
}

Constant pack_mul(const Op& op) {
  return packed_constant<abi::op_info::thimble_mul>({.a_offset = -attr(op, ir::attr::a_zp),
                                                     .b_offset = -attr(op, ir::attr::b_zp),
                                                     .y_offset = attr(op, ir::attr::y_zp),
                                                     .mult = attr(op, ir::attr::mult),
                                                     .shift = attr(op, ir::attr::shift),
                                                     .min = attr(op, ir::attr::min),
                                                     .max = attr(op, ir::attr::max)});
}

Constant pack_pool(const Op& op) {
  const bool max_pool = op.kind == ir::OpKind::max_pool2d;
  abi::PoolParams params = {};
  params.kernel_h = attr(op, ir::attr::kernel, 0);
  params.kernel_w = attr(op, ir::attr::kernel, 1);
  set_window(op, &params);
  params.min = max_pool ? -128 : attr(op, ir::attr::min);
  params.max = max_pool ? 127 : attr(op, ir::attr::max);
  return packed_constant<abi::op_info::thimble_avg_pool2d, abi::op_info::thimble_max_pool2d>(
      params);
}

Constant pack_mean(const Op& op) {
  abi::MeanParams params = {};
  for (const int64_t dim : op.get(ir::attr::dims)) params.dims_mask |= uint32_t{1} << dim;
  set_offsets_and_clamp(op, &params);
  params.mult = attr(op, ir::attr::mult);
  params.shift = attr(op, ir::attr::shift);
  return packed_constant<abi::op_info::thimble_mean>(params);
}

Constant pack_log_softmax(const Graph& graph, const Op& op) {
  PackedWriter writer;
  writer.put(abi::LogSoftmaxParams{.scale_mult = attr(op, ir::attr::scale_mult),
                                   .scale_shift = attr(op, ir::attr::scale_shift),
                                   .log_mult = attr(op, ir::attr::log_mult),
                                   .log_shift = attr(op, ir::attr::log_shift),
                                   .y_offset = attr(op, ir::attr::y_zp)});
  writer.put_all(graph.value(op.inputs[1]).constant->bytes);
  return writer.take();
}

}  // namespace thimble::engine::cortex_m
