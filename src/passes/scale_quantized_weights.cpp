// SPDX-License-Identifier: Apache-2.0
#include "passes/scale_quantized_weights.h"

#include <algorithm>
#include <cmath>

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

struct Channel {
  double scale = 1;
  int64_t zero_point = 0;
};

Channel channel(const Graph& graph, const Op& op, size_t c) {
  if (op.kind == OpKind::dequantize) return {op.get(ir::attr::scale), op.get(ir::attr::zero_point)};
  Channel result{static_cast<double>(graph.value(op.inputs[1]).constant->data<float>()[c]), 0};
  if (op.inputs[2] != ir::kNoValue) {
    result.zero_point = graph.value(op.inputs[2]).constant->data<int32_t>()[c];
  }
  return result;
}

const ir::Tensor& quantized_values_of(const Graph& graph, const Op& op) {
  return *graph.value(op.inputs[0]).constant;
}

}  // namespace

const Op* quantized_constant(const Graph& graph, const Uses& uses, ValueId id) {
  const Op* op = uses.producer(id);
  if (op == nullptr) return nullptr;
  const bool channels = op->kind == OpKind::dequantize_channels;
  if (op->kind != OpKind::dequantize && !channels) return nullptr;
  if (channels && op->get(ir::attr::axis) != 0) return nullptr;
  const auto& codes = graph.value(op->inputs[0]).constant;
  const bool known = codes != nullptr && !codes->shape.empty() &&
                     (codes->dtype == ir::DType::kI8 || codes->dtype == ir::DType::kI32);
  return known ? op : nullptr;
}

std::vector<double> dequantized_values(const Graph& graph, const Op& dequantize) {
  const ir::Tensor& codes = quantized_values_of(graph, dequantize);
  const auto count = static_cast<size_t>(ir::element_count(codes.shape));
  const size_t inner = count / static_cast<size_t>(codes.shape[0]);
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) {
    const Channel c = channel(graph, dequantize, i / inner);
    const int64_t code = codes.dtype == ir::DType::kI8 ? int64_t{codes.data<int8_t>()[i]}
                                                       : int64_t{codes.data<int32_t>()[i]};
    result[i] =
        static_cast<double>(static_cast<float>(code - c.zero_point) * static_cast<float>(c.scale));
  }
  return result;
}

bool can_scale(const Graph& graph, const Op& dequantize, std::span<const double> factors) {
  const ir::Tensor& codes = quantized_values_of(graph, dequantize);
  if (codes.dtype != ir::DType::kI8) return false;
  const size_t terms = codes.bytes.size() / factors.size();
  for (size_t c = 0; c < factors.size(); ++c) {
    const Channel held = channel(graph, dequantize, c);
    const float scale = static_cast<float>(held.scale * std::abs(factors[c]));
    if (factors[c] != 0 && !std::isfinite(1.0F / scale)) return false;
    if (factors[c] > 0) continue;
    if (held.zero_point != 0) return false;
    const auto mine = codes.data<int8_t>().subspan(c * terms, terms);
    if (std::find(mine.begin(), mine.end(), int8_t{-128}) != mine.end()) return false;
  }
  return true;
}

Result<ValueId> scaled(ir::Rewriter& rewriter, const Op& dequantize,
                       std::span<const double> factors) {
  const Graph& graph = rewriter.from();
  auto codes = std::make_shared<ir::Tensor>(quantized_values_of(graph, dequantize));
  const auto channels = static_cast<int64_t>(factors.size());
  const size_t terms = codes->bytes.size() / factors.size();
  auto scale = std::make_shared<ir::Tensor>(ir::zeros(ir::DType::kF32, {channels}));
  auto zero_point = std::make_shared<ir::Tensor>(ir::zeros(ir::DType::kI32, {channels}));
  for (size_t c = 0; c < factors.size(); ++c) {
    const Channel held = channel(graph, dequantize, c);
    const double factor = factors[c] == 0 ? 1 : std::abs(factors[c]);
    const int sign = factors[c] > 0 ? 1 : factors[c] < 0 ? -1 : 0;
    scale->data<float>()[c] = static_cast<float>(held.scale * factor);
    zero_point->data<int32_t>()[c] = static_cast<int32_t>(held.zero_point);
    for (int8_t& code : codes->data<int8_t>().subspan(c * terms, terms)) {
      if (sign != 1) code = static_cast<int8_t>(sign * code);
    }
  }
  const std::string& name = graph.value(dequantize.inputs[0]).name;
  const ValueId codes_id = rewriter.to().add_constant(name, std::move(codes));
  const ValueId scale_id = rewriter.to().add_constant(name + ".scale", std::move(scale));
  const ValueId zero_id = rewriter.to().add_constant(name + ".zero_point", std::move(zero_point));
  return rewriter.to().add(OpKind::dequantize_channels, {codes_id, scale_id, zero_id},
                           {{ir::attr::axis, int64_t{0}}}, dequantize.source,
                           {graph.value(dequantize.output).name, {}, {}});
}

}  // namespace thimble::passes
