// SPDX-License-Identifier: Apache-2.0
#include "driver/integer_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "ir/int_functions.h"

namespace thimble::driver {
namespace {

using ir::DType;
using ir::IntFunction;
using ir::IntReduction;
using ir::Op;
using ir::OpKind;

/// In float64: products of 32-bit integers are exact enough to compare with 2^31.
struct Interval {
  double low = 0, high = 0;
};
using Known = std::optional<Interval>;

template <typename T>
Known extent_of(const ir::Tensor& tensor) {
  const auto elements = tensor.data<T>();
  if (elements.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(elements);
  return Interval{static_cast<double>(low), static_cast<double>(high)};
}

Known extent(const ir::Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::kF32:
      return extent_of<float>(tensor);
    case DType::kI64:
      return extent_of<int64_t>(tensor);
    case DType::kI32:
      return extent_of<int32_t>(tensor);
    case DType::kI16:
      return extent_of<int16_t>(tensor);
    case DType::kI8:
      return extent_of<int8_t>(tensor);
    case DType::kU8:
      return extent_of<uint8_t>(tensor);
    case DType::kBool:
      return Interval{0, 1};
  }
  return std::nullopt;
}

Interval hull(std::initializer_list<double> values) {
  return {std::min(values), std::max(values)};
}

Interval both(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

double largest(const Interval& a) {
  return std::max(std::fabs(a.low), std::fabs(a.high));
}

Known pair(IntFunction function, const Interval& a, const Interval& b) {
  switch (function) {
    case IntFunction::kAdd:
      return Interval{a.low + b.low, a.high + b.high};
    case IntFunction::kSub:
      return Interval{a.low - b.high, a.high - b.low};
    case IntFunction::kMul:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case IntFunction::kFloorDivide:
    case IntFunction::kTruncateDivide:
      return Interval{-largest(a) - 1, largest(a)};
    case IntFunction::kRemainder:
    case IntFunction::kFmod:
      return Interval{-largest(b), largest(b)};
    default:
      return std::nullopt;  // bits of 32-bit integers are 32-bit integers
  }
}

/// Sums of 1 to `count` elements.
Interval sums(const Interval& x, double count) {
  return {std::min(x.low, x.low * count), std::max(x.high, x.high * count)};
}

class Ranges {
 public:
  Ranges(const ir::Graph& graph, const quant::CalibrationData& data)
      : graph_(graph), known_(graph.value_count()) {
    for (size_t i = 0; i < data.inputs.size() && i < graph.inputs().size(); ++i) {
      if (graph.type(graph.inputs()[i]).dtype == DType::kF32) continue;
      known_[ir::index_of(graph.inputs()[i])] = extent(data.inputs[i].data);
    }
  }

  std::vector<std::string> run() {
    std::vector<std::string> warnings;
    for (const Op& op : graph_.ops()) {
      Known result = result_of(op);
      const double limit = 0x1p31;
      if (result && (result->low < -limit || result->high >= limit)) {
        warnings.push_back(
            fmt::format("{}: {}: integers from {:.0f} to {:.0f} do not fit the 32 bits in which a "
                        "device computes: its results differ from PyTorch's",
                        op.source.where(), op.source.target, result->low, result->high));
        result = std::nullopt;
      }
      known_[ir::index_of(op.output)] = result;
    }
    return warnings;
  }

 private:
  Known of(ir::ValueId id) const {
    if (id == ir::kNoValue) return std::nullopt;
    const ir::Value& value = graph_.value(id);
    if (value.constant != nullptr) return extent(*value.constant);
    return value.type.dtype == DType::kBool ? Interval{0, 1} : known_[ir::index_of(id)];
  }

  double count(const Op& op) const {
    const ir::Shape& shape = graph_.type(op.inputs[0]).shape;
    if (op.kind == OpKind::int_cumsum) {
      return static_cast<double>(shape[static_cast<size_t>(op.get(ir::attr::dim))]);
    }
    double product = 1;
    for (const int64_t dim : op.get(ir::attr::dims)) {
      product *= static_cast<double>(shape[static_cast<size_t>(dim)]);
    }
    return product;
  }

  Known result_of(const Op& op) const {
    const DType dtype = graph_.type(op.output).dtype;
    if (dtype != DType::kI32 && dtype != DType::kI64) return std::nullopt;
    if (op.kind == OpKind::where) {
      const Known a = of(op.inputs[1]), b = of(op.inputs[2]);
      return a && b ? Known(both(*a, *b)) : std::nullopt;
    }
    const Known x = of(op.inputs[0]);
    if (!x) return std::nullopt;
    if (op.kind == OpKind::int_cumsum) return sums(*x, count(op));
    if (op.kind == OpKind::int_reduce) {
      const auto function = static_cast<IntReduction>(op.get(ir::attr::function));
      if (function == IntReduction::kSum) return sums(*x, count(op));
      return function == IntReduction::kMax || function == IntReduction::kMin ? x : std::nullopt;
    }
    if (op.kind == OpKind::concat || op.kind == OpKind::maximum || op.kind == OpKind::minimum ||
        op.kind == OpKind::int_pair) {
      Interval all = *x;
      for (size_t i = 1; i < op.inputs.size(); ++i) {
        const Known other = of(op.inputs[i]);
        if (!other) return std::nullopt;
        if (op.kind == OpKind::int_pair) {
          return pair(static_cast<IntFunction>(op.get(ir::attr::function)), all, *other);
        }
        all = both(all, *other);
      }
      return all;
    }
    const bool moves = ir::category_of(op.kind) == ir::OpCategory::kView ||
                       op.kind == OpKind::gather || op.kind == OpKind::gather_elements ||
                       op.kind == OpKind::int_cast;
    return moves ? x : std::nullopt;
  }

  const ir::Graph& graph_;
  std::vector<Known> known_;
};

}  // namespace

std::vector<std::string> wide_integer_warnings(const ir::Graph& graph,
                                               const quant::CalibrationData& data) {
  return Ranges(graph, data).run();
}

}  // namespace thimble::driver
