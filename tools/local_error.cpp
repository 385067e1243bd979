// SPDX-License-Identifier: Apache-2.0
#include "tools/local_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "ir/op_traits.h"
#include "quant/side_by_side.h"
#include "quant/simulate.h"

namespace thimble::tools {
namespace {

std::pair<double, double> code_limits(ir::DType dtype) {
  if (dtype == ir::DType::kI16) return {INT16_MIN, INT16_MAX};
  if (dtype == ir::DType::kU8) return {0, UINT8_MAX};
  return {INT8_MIN, INT8_MAX};
}

bool is_norm(ir::OpKind kind) {
  return ir::category_of(kind) == ir::OpCategory::kNorm;
}

}  // namespace

ir::Tensor quantized_as(const ir::Tensor& real, const ir::Type& type) {
  ir::Tensor codes = ir::zeros(type.dtype, real.shape);
  const auto values = real.data<float>();
  const double scale = type.quant->scale[0], zero_point = type.quant->zero_point[0];
  const auto [low, high] = code_limits(type.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    const double code =
        std::clamp(std::nearbyint(double{values[i]} / scale) + zero_point, low, high);
    switch (type.dtype) {
      case ir::DType::kI16:
        codes.data<int16_t>()[i] = static_cast<int16_t>(code);
        break;
      case ir::DType::kU8:
        codes.data<uint8_t>()[i] = static_cast<uint8_t>(code);
        break;
      default:
        codes.data<int8_t>()[i] = static_cast<int8_t>(code);
    }
  }
  return codes;
}

SingleOp::SingleOp(const ir::Graph& graph, const ir::Op& op) {
  std::map<ir::ValueId, ir::ValueId> copies;
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId id : op.inputs) {
    if (id == ir::kNoValue) {
      inputs.push_back(id);
      continue;
    }
    if (!copies.contains(id)) {
      const ir::Value& value = graph.value(id);
      if (value.constant != nullptr) {
        copies[id] = graph_.add_constant(value.name, value.constant, value.type.quant);
      } else {
        copies[id] = graph_.add_input(value.name, value.type);
        operands_.push_back(id);
      }
    }
    inputs.push_back(copies.at(id));
  }
  const ir::Type& type = graph.type(op.output);
  const Result<ir::ValueId> result = graph_.add(op.kind, std::move(inputs), op.attrs, op.source,
                                                {"y", type.dim_order, type.quant});
  assert(result.ok() && "the operator is one of a graph");
  graph_.add_output(*result);
}

ir::Tensor SingleOp::run(const std::vector<ir::Tensor>& operands) const {
  quant::FastExecutor engine(graph_, quant::integer_kernels());
  engine.run(operands, {});
  return engine.outputs()[0];
}

LocalError::LocalError(const ir::Graph& graph, const ir::Op& op)
    : op_(graph, op), is_norm_(is_norm(op.kind)), result_(graph.type(op.output)) {}

void LocalError::add(const std::vector<ir::Tensor>& operands, const ir::Tensor& reference) {
  const double scale = result_.quant->scale[0];
  const int32_t zero_point = result_.quant->zero_point[0];
  const ir::Tensor got = to_real(op_.run(operands), scale, zero_point);
  sqnr_.add(reference, got);
  const ir::Tensor nearest = to_real(quantized_as(reference, result_), scale, zero_point);
  const auto [low, high] = code_limits(result_.dtype);
  const auto real = reference.data<float>(), mine = got.data<float>();
  const auto best = nearest.data<float>();
  for (size_t i = 0; i < real.size(); ++i) {
    if (quant::is_masked_output(double{real[i]})) continue;
    const double value = double{real[i]}, error = double{mine[i]} - value;
    const bool outside =
        value < scale * (low - zero_point - 0.5) || value > scale * (high - zero_point + 0.5);
    noise_ += error * error;
    if (outside) clipped_ += error * error;
    if (!outside) step_ += (double{best[i]} - value) * (double{best[i]} - value);
  }
}

std::string_view LocalError::cause() const {
  constexpr double kShare = 0.5;
  if (noise_ == 0) return "";
  if (clipped_ > kShare * noise_) return is_norm_ ? "overflow" : "clipping";
  return step_ > kShare * noise_ ? "range" : "rounding";
}

}  // namespace thimble::tools
