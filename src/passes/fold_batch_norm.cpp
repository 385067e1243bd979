// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_batch_norm.h"

#include <algorithm>
#include <optional>

#include "ir/transposed_filters.h"
#include "passes/channel_affine.h"
#include "passes/scale_quantized_weights.h"
#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Returns true if `op` is a mul or div by a per-channel constant and its only reader is a
/// batch_norm. Quantization-aware training exports this pattern when it puts a fake-quantize
/// between a convolution and its batch_norm.
bool feeds_batch_norm(const Graph& graph, const Uses& uses, const Op& op) {
  if (op.kind != OpKind::div && op.kind != OpKind::mul) return false;
  const ir::Shape& shape = graph.type(op.output).shape;
  if (shape.size() < 2) return false;
  const Op* reader = uses.only_reader(op.output);
  const auto numbers = by_channel(graph.value(op.inputs[1]), shape, 1);
  return reader != nullptr && reader->kind == OpKind::batch_norm &&
         graph.value(reader->inputs[1]).constant != nullptr &&
         graph.value(reader->inputs[2]).constant != nullptr &&
         graph.type(op.inputs[0]).shape == shape && numbers &&
         std::ranges::find(*numbers, 0.0) == numbers->end();
}

/// Returns the channel dimension of the result, or nullopt if nothing can be folded into `op`.
std::optional<size_t> channel_dim(const Graph& graph, const Uses& uses, const Op& op) {
  if (op.kind == OpKind::batch_norm) {
    const bool constant = graph.value(op.inputs[1]).constant != nullptr &&
                          graph.value(op.inputs[2]).constant != nullptr;
    return constant ? std::optional<size_t>(1) : std::nullopt;
  }
  if (feeds_batch_norm(graph, uses, op)) return 1;
  const bool linear = op.kind == OpKind::linear;
  const bool transposed = op.kind == OpKind::conv_transpose2d;
  if (!linear && !transposed && op.kind != OpKind::conv2d) return std::nullopt;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const ValueId id = op.inputs[i];
    if (id == ir::kNoValue || graph.value(id).constant != nullptr) continue;
    if (transposed || quantized_constant(graph, uses, id) == nullptr) return std::nullopt;
  }
  return linear ? graph.type(op.output).shape.size() - 1 : 1;
}

/// Returns the bias per channel; zeros if `op` has no bias.
std::vector<double> old_bias(const Graph& graph, const Uses& uses, const Op& op, size_t channels) {
  const ValueId id = op.inputs[2];
  if (id == ir::kNoValue) return std::vector<double>(channels, 0.0);
  if (const auto& held = graph.value(id).constant) {
    const auto data = held->data<float>();
    return std::vector<double>(data.begin(), data.end());
  }
  return dequantized_values(graph, *quantized_constant(graph, uses, id));
}

Result<ValueId> folded_weights(ir::Rewriter& rewriter, const Uses& uses, const Op& op,
                               const ChannelAffine& affine) {
  const Graph& graph = rewriter.from();
  const ir::Value& old_weights = graph.value(op.inputs[1]);
  if (old_weights.constant == nullptr) {
    return scaled(rewriter, *quantized_constant(graph, uses, op.inputs[1]), affine.scale);
  }
  const size_t channels = affine.scale.size();
  const bool transposed = op.kind == OpKind::conv_transpose2d;
  const auto filters = [&](const ir::Tensor& w) {
    return transposed ? ir::transposed_conv_filters(w, op.get(ir::attr::groups)) : w;
  };
  auto weights = std::make_shared<ir::Tensor>(filters(*old_weights.constant));
  const auto w = weights->data<float>();
  const size_t terms = w.size() / channels;
  for (size_t i = 0; i < w.size(); ++i) {
    w[i] = static_cast<float>(static_cast<double>(w[i]) * affine.scale[i / terms]);
  }
  *weights = filters(*weights);
  return rewriter.to().add_constant(old_weights.name, std::move(weights));
}

/// Adds the convolution with folded weights and maps `last` to its result.
Status emit_folded(ir::Rewriter& rewriter, const Uses& uses, const Op& op,
                   const ChannelAffine& affine, ValueId last) {
  const Graph& graph = rewriter.from();
  const size_t channels = affine.scale.size();
  const std::vector<double> before = old_bias(graph, uses, op, channels);
  std::vector<float> bias(channels);
  for (size_t c = 0; c < channels; ++c) {
    bias[c] = static_cast<float>(before[c] * affine.scale[c] + affine.shift[c]);
  }
  THIMBLE_TRY(const ValueId w_id, folded_weights(rewriter, uses, op, affine));
  const std::string bias_name = op.inputs[2] != ir::kNoValue
                                    ? graph.value(op.inputs[2]).name
                                    : graph.value(op.inputs[1]).name + ".bias";
  const ValueId b_id = rewriter.to().add_constant(
      bias_name,
      std::make_shared<ir::Tensor>(ir::make_f32({static_cast<int64_t>(channels)}, bias)));
  const ir::Value& result = graph.value(last);
  THIMBLE_TRY(const ValueId id,
              rewriter.to().add(op.kind, {rewriter.map(op.inputs[0]), w_id, b_id}, op.attrs,
                                op.source, {result.name, result.type.dim_order, {}}));
  rewriter.set(last, id);
  return ok();
}

/// Returns [N, C, ...] as a 4-D image shape. one_tap() returns the attributes of a 1x1 depthwise
/// convolution.
ir::Shape image_shape(const ir::Shape& shape) {
  if (shape.size() == 4) return shape;
  const int64_t width = shape.size() > 2 ? shape.back() : 1;
  return {shape[0], shape[1], ir::element_count(shape) / (shape[0] * shape[1] * width), width};
}
ir::Attrs one_tap(int64_t channels) {
  return {{ir::attr::stride, std::vector<int64_t>{1, 1}},
          {ir::attr::padding, std::vector<int64_t>(4, 0)},
          {ir::attr::dilation, std::vector<int64_t>{1, 1}},
          {ir::attr::groups, channels}};
}

/// Adds a 1x1 depthwise convolution for a batch_norm that follows no convolution. Its integer form
/// has exact weights and bias, unlike a product and a sum of two 8-bit tensors.
Status emit_depthwise(ir::Rewriter& rewriter, const Op& op, const ChannelAffine& affine,
                      ValueId last) {
  const Graph& graph = rewriter.from();
  const auto constant = [&](const std::string& name, const std::vector<double>& numbers,
                            const ir::Shape& shape) {
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
    std::ranges::transform(numbers, tensor.data<float>().begin(),
                           [](double number) { return static_cast<float>(number); });
    return rewriter.to().add_constant(name, std::make_shared<ir::Tensor>(std::move(tensor)));
  };
  const ir::Value& result = graph.value(last);
  const std::string& scale_name = graph.value(op.inputs[1]).name;
  const std::string shift_name =
      op.inputs.size() > 2 ? graph.value(op.inputs[2]).name : scale_name + ".shift";
  const ir::Shape& shape = result.type.shape;
  const ir::Shape image = image_shape(shape);
  const Graph::ResultHint hint{result.name, result.type.dim_order, {}};
  ValueId x = rewriter.map(op.inputs[0]);
  if (image != shape) {
    THIMBLE_TRY(x, rewriter.to().add(OpKind::reshape, {x}, {{ir::attr::shape, image}}, op.source));
  }
  const ValueId w = constant(scale_name, affine.scale, {shape[1], 1, 1, 1});
  const ValueId b = constant(shift_name, affine.shift, {shape[1]});
  THIMBLE_TRY(ValueId y, rewriter.to().add(OpKind::conv2d, {x, w, b}, one_tap(shape[1]), op.source,
                                           image == shape ? hint : Graph::ResultHint{}));
  if (image != shape) {
    THIMBLE_TRY(
        y, rewriter.to().add(OpKind::reshape, {y}, {{ir::attr::shape, shape}}, op.source, hint));
  }
  rewriter.set(last, y);
  return ok();
}

/// Adds a mul and an add for a batch_norm whose scale or shift is not constant.
Status emit_mul_add(ir::Rewriter& rewriter, const Op& op) {
  const Graph& graph = rewriter.from();
  const ir::Type& type = graph.type(op.output);
  ir::Shape shape(type.shape.size(), 1);
  shape[1] = type.shape[1];
  const auto operand = [&](ValueId old_value) -> Result<ValueId> {
    const ir::Value& value = graph.value(old_value);
    if (value.constant == nullptr) {
      return rewriter.to().add(OpKind::reshape, {rewriter.map(old_value)},
                               {{ir::attr::shape, shape}}, op.source);
    }
    auto reshaped = std::make_shared<ir::Tensor>(*value.constant);
    reshaped->shape = shape;
    return rewriter.to().add_constant(value.name, std::move(reshaped));
  };
  THIMBLE_TRY(const ValueId scale, operand(op.inputs[1]));
  THIMBLE_TRY(const ValueId shift, operand(op.inputs[2]));
  const std::string& name = graph.value(op.output).name;
  THIMBLE_TRY(const ValueId scaled,
              rewriter.to().add(OpKind::mul, {rewriter.map(op.inputs[0]), scale}, {}, op.source,
                                {name + ".scaled", type.dim_order, {}}));
  THIMBLE_TRY(const ValueId shifted, rewriter.to().add(OpKind::add, {scaled, shift}, {}, op.source,
                                                       {name, type.dim_order, {}}));
  rewriter.set(op.output, shifted);
  return ok();
}

/// The operators after `op` that are folded into it. The new result replaces the last of `results`.
struct Chain {
  ChannelAffine affine;
  std::vector<ValueId> results;
};

void follow(const Graph& graph, const Uses& uses, const Op& op, size_t dim, Chain& chain) {
  ValueId last = op.output;
  while (const Op* next = uses.only_reader(last)) {
    if (!append(graph, *next, last, dim, chain.affine)) break;
    last = next->output;
    chain.results.push_back(last);
  }
  const Op* codes = quantized_constant(graph, uses, op.inputs[1]);
  if (codes != nullptr && !can_scale(graph, *codes, chain.affine.scale)) chain.results.clear();
}

}  // namespace

Result<Graph> fold_batch_norm(const Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  std::vector<bool> folded(graph.value_count(), false);  // results of folded operators
  for (const Op& op : graph.ops()) {
    if (folded[static_cast<size_t>(op.output)]) continue;
    const auto dim = channel_dim(graph, uses, op);
    if (!dim) {
      THIMBLE_CHECK(op.kind == OpKind::batch_norm ? emit_mul_add(rewriter, op) : rewriter.copy(op));
      continue;
    }
    Chain chain{ChannelAffine(static_cast<size_t>(graph.type(op.output).shape[*dim])), {}};
    // True for a batch_norm, and for a mul or div whose only reader is a batch_norm.
    const bool alone = append(graph, op, op.inputs[0], *dim, chain.affine);
    follow(graph, uses, op, *dim, chain);
    for (const ValueId id : chain.results) folded[static_cast<size_t>(id)] = true;
    const ValueId last = chain.results.empty() ? op.output : chain.results.back();
    if (alone) {
      THIMBLE_CHECK(emit_depthwise(rewriter, op, chain.affine, last));
    } else if (last == op.output) {
      THIMBLE_CHECK(rewriter.copy(op));
    } else {
      THIMBLE_CHECK(emit_folded(rewriter, uses, op, chain.affine, last));
    }
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
