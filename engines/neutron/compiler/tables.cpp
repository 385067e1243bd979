// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/tables.h"

#include <algorithm>

#include "numerics/fixed_point.h"

namespace thimble::engine::neutron {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

int32_t i32(int64_t value) {
  return static_cast<int32_t>(value);
}

int32_t scaled(int64_t value, int64_t mult, int64_t shift, int64_t rounding) {
  return rounding == 1 ? numerics::requantize_single(i32(value), i32(mult), i32(shift))
                       : numerics::requantize(i32(value), i32(mult), i32(shift));
}

template <typename F>
Table make_table(F f) {
  Table table{};
  for (int code = -128; code < 128; ++code) {
    table[static_cast<size_t>(code + 128)] =
        static_cast<int8_t>(std::clamp<int64_t>(f(code), -128, 127));
  }
  return table;
}

int64_t bounded(const Op& op, int64_t value) {
  return std::clamp(value, op.get(ir::attr::min), op.get(ir::attr::max));
}

/// Returns the common value of all elements of a constant; nothing if they differ.
template <typename T>
std::optional<int64_t> one_number(const ir::Graph& graph, ValueId id) {
  const auto& constant = graph.value(id).constant;
  if (constant == nullptr) return std::nullopt;
  const auto values = constant->data<T>();
  const bool same = std::ranges::all_of(values, [&](T value) { return value == values[0]; });
  return same ? std::optional<int64_t>(values[0]) : std::nullopt;
}

int64_t sum_of(const Op& op, int64_t a, int64_t b) {
  constexpr int64_t kSpare = 1 << 20;
  const int64_t rounding = op.get(ir::attr::rounding);
  const auto part = [&](const ir::MultiplierKeys& keys, int64_t value) {
    return int64_t{scaled(value * kSpare, op.get(keys.mult), op.get(keys.shift), rounding)};
  };
  const int64_t sign = op.kind == OpKind::qsub ? -1 : 1;
  const int64_t sum = part(ir::attr::a_multiplier, a - op.get(ir::attr::a_zp)) +
                      part(ir::attr::b_multiplier, sign * (b - op.get(ir::attr::b_zp)));
  const int64_t y = scaled(sum, op.get(ir::attr::y_mult), op.get(ir::attr::y_shift), rounding);
  return bounded(op, y + op.get(ir::attr::y_zp));
}

int64_t pair_of(const Op& op, int64_t a, int64_t b) {
  switch (op.kind) {
    case OpKind::maximum:
      return std::max(a, b);
    case OpKind::minimum:
      return std::min(a, b);
    case OpKind::qmul:
      return bounded(op, int64_t{scaled((a - op.get(ir::attr::a_zp)) * (b - op.get(ir::attr::b_zp)),
                                        op.get(ir::attr::mult), op.get(ir::attr::shift),
                                        op.get(ir::attr::rounding))} +
                             op.get(ir::attr::y_zp));
    default:
      return sum_of(op, a, b);
  }
}

bool is_pair(const Op& op) {
  const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
  return ir::category_of(op.kind) == ir::OpCategory::kPair &&
         (!rounds || op.get(ir::attr::rounding) <= 1);
}

std::optional<Int8Function> pair_with_number(const ir::Graph& graph, const Op& op) {
  for (const size_t other : {size_t{0}, size_t{1}}) {
    const ValueId x = op.inputs[1 - other];
    if (graph.value(x).constant != nullptr) continue;
    if (graph.type(op.inputs[other]).dtype != ir::DType::kI8) return std::nullopt;
    const auto number = one_number<int8_t>(graph, op.inputs[other]);
    if (!number || graph.type(x).shape != graph.type(op.output).shape) continue;
    return Int8Function{make_table([&](int64_t code) {
                          return other == 0 ? pair_of(op, *number, code)
                                            : pair_of(op, code, *number);
                        }),
                        x};
  }
  return std::nullopt;
}

/// Returns the function of a 1x1 depthwise convolution with the same weight for all channels.
std::optional<Int8Function> one_tap(const ir::Graph& graph, const Op& op) {
  const ir::Shape& weights = graph.type(op.inputs[1]).shape;
  const auto all = [&](ir::AttrKey<std::vector<int64_t>> key, int64_t value) {
    return std::ranges::all_of(op.get(key), [&](int64_t v) { return v == value; });
  };
  const bool single = op.get(ir::attr::groups) == weights[0] &&
                      weights[1] * weights[2] * weights[3] == 1 &&
                      graph.type(op.inputs[0]).shape[1] == weights[0] && all(ir::attr::stride, 1) &&
                      all(ir::attr::padding, 0);
  if (!single || op.get(ir::attr::rounding) > 1) return std::nullopt;
  const auto weight = one_number<int8_t>(graph, op.inputs[1]);
  const auto bias = op.inputs[2] == ir::kNoValue ? std::optional<int64_t>(0)
                                                 : one_number<int32_t>(graph, op.inputs[2]);
  const auto mult = one_number<int32_t>(graph, op.inputs[3]);
  const auto shift = one_number<int32_t>(graph, op.inputs[4]);
  if (!weight || !bias || !mult || !shift) return std::nullopt;
  return Int8Function{make_table([&](int64_t code) {
                        const int64_t sum = *bias + (code - op.get(ir::attr::x_zp)) * *weight;
                        const int64_t y = scaled(sum, *mult, *shift, op.get(ir::attr::rounding));
                        return bounded(op, y + op.get(ir::attr::y_zp));
                      }),
                      op.inputs[0]};
}

}  // namespace

std::optional<Table> table_of(const ir::Graph& subgraph, const Op& op) {
  const bool known = op.kind == OpKind::lut || op.kind == OpKind::rescale;
  if (!known || subgraph.type(op.inputs[0]).dtype != ir::DType::kI8 ||
      subgraph.type(op.output).dtype != ir::DType::kI8) {
    return std::nullopt;
  }
  if (op.kind == OpKind::rescale) {
    return make_table([&](int64_t code) {
      return scaled(code - op.get(ir::attr::x_zp), op.get(ir::attr::mult), op.get(ir::attr::shift),
                    0) +
             op.get(ir::attr::y_zp);
    });
  }
  const auto codes = subgraph.value(op.inputs[1]).constant;
  if (codes == nullptr) return std::nullopt;
  Table table{};
  std::ranges::copy(codes->data<int8_t>(), table.begin());
  return table;
}

std::optional<Int8Function> int8_function(const ir::Graph& subgraph, const Op& op) {
  if (op.inputs.empty() || op.inputs[0] == ir::kNoValue ||
      subgraph.type(op.output).dtype != ir::DType::kI8) {
    return std::nullopt;
  }
  if (is_pair(op)) return pair_with_number(subgraph, op);
  if (op.kind == OpKind::qconv2d) return one_tap(subgraph, op);
  const auto table = table_of(subgraph, op);
  if (!table) return std::nullopt;
  return Int8Function{*table, op.inputs[0]};
}

std::optional<Table> table_of_pair(const ir::Graph& subgraph, const Op& op, const Table& first,
                                   const Table& second) {
  if (!is_pair(op) || subgraph.type(op.output).dtype != ir::DType::kI8) return std::nullopt;
  return make_table([&](int64_t code) {
    const auto at = static_cast<size_t>(code + 128);
    return pair_of(op, first[at], second[at]);
  });
}

Table identity_table() {
  return make_table([](int64_t code) { return code; });
}

Table composed(const Table& first, const Table& second) {
  Table both{};
  for (size_t i = 0; i < both.size(); ++i) both[i] = second[static_cast<size_t>(first[i] + 128)];
  return both;
}

}  // namespace thimble::engine::neutron
