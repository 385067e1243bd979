// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "passes/fuse_each.h"
#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Upper bound of an eps outside the root. It affects only rows whose quantized values are all zero.
constexpr double kRootEpsMax = 1e-6;

/// factor * v / sqrt(mean(v * v) + eps) over `dims`, with v = x, or x - mean(x).
struct Norm {
  ValueId x = ir::kNoValue;
  std::vector<int64_t> dims;  // ascending
  bool centered = false;
  double eps = 0, factor = 1;
  ValueId weight = ir::kNoValue;  // the constant that v is multiplied by; kNoValue if none
};

/// The part of a radicand that is matched so far: radicand = id + eps.
struct Radicand {
  ValueId id = ir::kNoValue;
  double eps = 0;
};

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph), uses_(graph) {}

  [[nodiscard]] const Uses& uses() const { return uses_; }

  /// Matches `op` as the last operator of a norm.
  [[nodiscard]] std::optional<Norm> match(const Op& op) const {
    if (op.kind == OpKind::div) {
      auto found = quotient(op.inputs[0], op.inputs[1]);
      return found ? found : weighted_quotient(op);
    }
    if (op.kind != OpKind::mul) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (auto found = product(op.inputs[i], op.inputs[1 - i])) return found;
    }
    return std::nullopt;
  }

  /// Returns the elements of a constant that varies along `dims` only, broadcast to the sizes of
  /// these dimensions. `shape` is the shape of the value that the constant is combined with.
  [[nodiscard]] std::optional<ir::Tensor> entries(ValueId id, const ir::Shape& shape,
                                                  const std::vector<int64_t>& dims) const {
    const ir::Value& value = graph_.value(id);
    const ir::Shape& own = value.type.shape;
    if (value.constant == nullptr || own.size() > shape.size()) return std::nullopt;
    ir::Shape result, reduced;
    const size_t missing = shape.size() - own.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t size = d < missing ? 1 : own[d - missing];
      if (std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end()) {
        result.push_back(shape[d]);
        reduced.push_back(size);
      } else if (size != 1) {
        return std::nullopt;
      }
    }
    return expanded(value.constant->data<float>(), reduced, result);
  }

 private:
  static ir::Tensor expanded(std::span<const float> from, const ir::Shape& own,
                             const ir::Shape& shape) {
    ir::Tensor to = ir::zeros(ir::DType::kF32, shape);
    const auto steps = ir::strides(own, {});
    for (size_t i = 0; i < to.data<float>().size(); ++i) {
      size_t rest = i;
      int64_t at = 0;
      for (size_t d = shape.size(); d-- > 0;) {
        const size_t size = static_cast<size_t>(shape[d]);
        if (own[d] != 1) at += static_cast<int64_t>(rest % size) * steps[d];
        rest /= size;
      }
      to.data<float>()[i] = from[static_cast<size_t>(at)];
    }
    return to;
  }

  [[nodiscard]] const Op* made_by(ValueId id, OpKind kind) const {
    const Op* op = id == ir::kNoValue ? nullptr : uses_.producer(id);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }
  [[nodiscard]] ValueId through(ValueId id, OpKind kind) const {
    while (const Op* op = made_by(id, kind)) id = op->inputs[0];
    return id;
  }
  [[nodiscard]] std::optional<double> scalar(ValueId id) const {
    const ir::Value& value = graph_.value(id);
    if (value.constant == nullptr || value.type.elements() != 1) return std::nullopt;
    return static_cast<double>(value.constant->data<float>()[0]);
  }
  /// Matches id = other + constant.
  [[nodiscard]] std::optional<Radicand> sum_with_scalar(ValueId id) const {
    const Op* op = made_by(id, OpKind::add);
    if (op == nullptr) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const auto number = scalar(op->inputs[i]);
      if (number) return Radicand{through(op->inputs[1 - i], OpKind::reshape), *number};
    }
    return std::nullopt;
  }
  /// Matches id = max(other, constant).
  [[nodiscard]] std::optional<Radicand> bounded_below(ValueId id) const {
    const Op* op = made_by(id, OpKind::clamp);
    if (op == nullptr || op->get(ir::attr::float_max) != kInfinity) return std::nullopt;
    return Radicand{through(op->inputs[0], OpKind::reshape), op->get(ir::attr::float_min)};
  }

  /// Matches u / divisor.
  [[nodiscard]] std::optional<Norm> quotient(ValueId u, ValueId divisor) const {
    const ValueId place = through(divisor, OpKind::expand);
    Radicand behind{through(place, OpKind::reshape), 0};
    auto bound = bounded_below(behind.id);
    if (!bound) bound = sum_with_scalar(behind.id);
    if (bound) behind = *bound;
    const Op* root = made_by(behind.id, OpKind::sqrt);
    if (root == nullptr || !(behind.eps >= 0 && behind.eps <= kRootEpsMax)) return std::nullopt;
    return normalized(u, root->inputs[0], place, behind.eps * behind.eps);
  }

  /// Matches (w * u) / divisor.
  [[nodiscard]] std::optional<Norm> weighted_quotient(const Op& op) const {
    const Op* numerator = made_by(op.inputs[0], OpKind::mul);
    if (numerator == nullptr || uses_.only_reader(numerator->output) == nullptr) {
      return std::nullopt;
    }
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (graph_.value(numerator->inputs[i]).constant == nullptr) continue;
      auto found = quotient(numerator->inputs[1 - i], op.inputs[1]);
      if (!found) continue;
      found->weight = numerator->inputs[i];
      const ir::Shape& shape = graph_.type(op.output).shape;
      if (entries(found->weight, shape, found->dims)) return found;
    }
    return std::nullopt;
  }

  /// Matches u * factor, where factor is the reciprocal of a root.
  [[nodiscard]] std::optional<Norm> product(ValueId u, ValueId factor) const {
    const ValueId place = through(factor, OpKind::expand);
    const ValueId id = through(place, OpKind::reshape);
    if (const Op* root = made_by(id, OpKind::rsqrt)) {
      return normalized(u, root->inputs[0], place, 0);
    }
    const Op* op = made_by(id, OpKind::div);
    if (op == nullptr || scalar(op->inputs[0]) != 1.0) return std::nullopt;
    const auto found = quotient(u, op->inputs[1]);
    // The quotient must also have the shape with one number per row.
    if (!found || graph_.type(place).shape != kept_shape(found->x, found->dims)) {
      return std::nullopt;
    }
    return found;
  }

  [[nodiscard]] ir::Shape kept_shape(ValueId x, const std::vector<int64_t>& dims) const {
    ir::Shape shape = graph_.type(x).shape;
    for (const int64_t dim : dims) shape[static_cast<size_t>(dim)] = 1;
    return shape;
  }

  /// Matches u / sqrt(radicand + eps). `place` is the root or its reciprocal, in the shape in which
  /// it is combined with u.
  [[nodiscard]] std::optional<Norm> normalized(ValueId u, ValueId radicand, ValueId place,
                                               double eps) const {
    Radicand under{through(radicand, OpKind::reshape), 0};
    if (const auto sum = sum_with_scalar(under.id)) {
      under = *sum;
    } else if (const auto bound = bounded_below(under.id)) {
      under = *bound;
      if (under.eps > kRootEpsMax * kRootEpsMax) return std::nullopt;
    }
    under.eps += eps;
    if (!(under.eps >= 0)) return std::nullopt;
    auto norm = match_statistics(u, through(under.id, OpKind::reshape), under.eps);
    if (!norm || graph_.type(u).shape != graph_.type(norm->x).shape) return std::nullopt;
    if (graph_.type(place).shape != kept_shape(norm->x, norm->dims)) return std::nullopt;
    return norm;
  }

  [[nodiscard]] static std::vector<int64_t> sorted_dims(const Op& op) {
    auto dims = op.get(ir::attr::dims);
    std::ranges::sort(dims);
    return dims;
  }

  /// The operand and dimensions of a mean. An average pool over a whole image is such a mean.
  struct Mean {
    ValueId x = ir::kNoValue;
    std::vector<int64_t> dims;
  };
  [[nodiscard]] std::optional<Mean> mean_of(ValueId id) const {
    if (const Op* op = made_by(id, OpKind::mean)) return Mean{op->inputs[0], sorted_dims(*op)};
    const Op* op = made_by(id, OpKind::avg_pool2d);
    if (op == nullptr) return std::nullopt;
    const ir::Shape& shape = graph_.type(op->inputs[0]).shape;
    const ir::Shape& result = graph_.type(id).shape;
    const bool whole = op->get(ir::attr::kernel) == std::vector<int64_t>{shape[2], shape[3]} &&
                       op->get(ir::attr::padding) == std::vector<int64_t>(4, 0) && result[2] == 1 &&
                       result[3] == 1;
    if (!whole) return std::nullopt;
    return Mean{op->inputs[0], {2, 3}};
  }

  /// Returns true if a and b are the same value, or subtractions with the same operands.
  [[nodiscard]] bool same(ValueId a, ValueId b) const {
    const Op* first = made_by(a, OpKind::sub);
    const Op* second = made_by(b, OpKind::sub);
    return a == b || (first != nullptr && second != nullptr && first->inputs == second->inputs);
  }
  [[nodiscard]] bool is_square_of(ValueId id, ValueId u) const {
    const Op* op = made_by(id, OpKind::mul);
    return op != nullptr && same(op->inputs[0], u) && same(op->inputs[1], u);
  }

  /// Returns x if u = x - mean(x) over these dimensions.
  [[nodiscard]] std::optional<ValueId> centered(ValueId u, const std::vector<int64_t>& dims) const {
    const Op* op = made_by(u, OpKind::sub);
    if (op == nullptr) return std::nullopt;
    const ValueId place = through(op->inputs[1], OpKind::expand);
    const auto mean = mean_of(through(place, OpKind::reshape));
    const bool fits = mean && mean->x == op->inputs[0] && mean->dims == dims &&
                      graph_.type(place).shape == kept_shape(mean->x, dims);
    if (!fits) return std::nullopt;
    return mean->x;
  }

  [[nodiscard]] double row_elements(ValueId x, const std::vector<int64_t>& dims) const {
    double count = 1;
    for (const int64_t dim : dims) {
      count *= static_cast<double>(graph_.type(x).shape[static_cast<size_t>(dim)]);
    }
    return count;
  }

  /// Matches u / sqrt(statistics + eps).
  [[nodiscard]] std::optional<Norm> match_statistics(ValueId u, ValueId id, double eps) const {
    Norm norm{u, {}, false, eps, 1};
    if (const Op* op = made_by(id, OpKind::variance)) {
      norm.dims = sorted_dims(*op);
      const auto x = centered(u, norm.dims);
      if (!x || (op->inputs[0] != *x && !same(op->inputs[0], u))) return std::nullopt;
      const double count = row_elements(u, norm.dims);
      const double ratio = (count - op->get(ir::attr::correction)) / count;
      return Norm{*x, norm.dims, true, eps * ratio, std::sqrt(ratio)};
    }
    if (const Op* op = made_by(id, OpKind::sum)) {
      if (!is_square_of(op->inputs[0], u)) return std::nullopt;
      norm.dims = sorted_dims(*op);
      const double count = row_elements(u, norm.dims);
      norm.eps /= count;
      norm.factor = 1 / std::sqrt(count);
    } else {
      const auto mean = mean_of(id);
      if (!mean || !is_square_of(mean->x, u)) return std::nullopt;
      norm.dims = mean->dims;
    }
    if (const auto x = centered(u, norm.dims)) {
      norm.x = *x;
      norm.centered = true;
    }
    return norm;
  }

  const Graph& graph_;
  const Uses uses_;
};

/// A norm with the constants that are multiplied with and added to its result, up to value `last`.
struct Affine {
  Norm norm;
  std::optional<ir::Tensor> w, b;
  std::vector<ValueId> fused;
  ValueId last = ir::kNoValue;
};

Affine affine_after(const Graph& graph, const Matcher& matcher, const Norm& norm, ValueId y) {
  Affine affine;
  affine.norm = norm;
  affine.last = y;
  const ir::Shape& shape = graph.type(y).shape;
  const auto take = [&](OpKind kind) -> std::optional<ir::Tensor> {
    const Op* next = matcher.uses().only_reader(affine.last);
    if (next == nullptr || next->kind != kind || graph.type(next->output).shape != shape) return {};
    const size_t other = next->inputs[0] == affine.last ? 1 : 0;
    auto found = matcher.entries(next->inputs[other], shape, norm.dims);
    if (!found) return {};
    affine.last = next->output;
    affine.fused.push_back(affine.last);
    return found;
  };
  affine.w = norm.weight == ir::kNoValue ? take(OpKind::mul)
                                         : matcher.entries(norm.weight, shape, norm.dims);
  if (norm.centered) affine.b = take(OpKind::add);
  if (norm.factor != 1) {
    if (!affine.w) {
      ir::Shape entries;
      for (const int64_t dim : norm.dims) entries.push_back(shape[static_cast<size_t>(dim)]);
      affine.w = ir::zeros(ir::DType::kF32, entries);
      std::ranges::fill(affine.w->data<float>(), 1.0F);
    }
    for (float& value : affine.w->data<float>()) {
      value = static_cast<float>(static_cast<double>(value) * norm.factor);
    }
  }
  return affine;
}

/// The permutation that moves the dimensions of the norm to the end (`to`), and its inverse.
struct Order {
  std::vector<int64_t> to, back;
  bool same = true;
};
Order norm_last(size_t rank, const std::vector<int64_t>& dims) {
  Order order;
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (std::ranges::find(dims, dim) == dims.end()) order.to.push_back(dim);
  }
  order.to.insert(order.to.end(), dims.begin(), dims.end());
  order.back.resize(rank);
  for (size_t d = 0; d < rank; ++d) {
    order.back[static_cast<size_t>(order.to[d])] = static_cast<int64_t>(d);
    order.same = order.same && order.to[d] == static_cast<int64_t>(d);
  }
  return order;
}

Status emit(ir::Rewriter& rewriter, const Op& op, const Affine& affine) {
  const Norm& norm = affine.norm;
  const ir::Value& result = rewriter.from().value(affine.last);
  const Graph::ResultHint hint{result.name, result.type.dim_order, {}};
  const auto constant = [&](const std::optional<ir::Tensor>& tensor, const char* role) {
    if (!tensor) return ir::kNoValue;
    return rewriter.to().add_constant(fmt::format("{}.{}", result.name, role),
                                      std::make_shared<ir::Tensor>(*tensor));
  };
  ValueId x = rewriter.map(norm.x);
  const Order order = norm_last(result.type.shape.size(), norm.dims);
  if (!order.same) {
    THIMBLE_TRY(x,
                rewriter.to().add(OpKind::permute, {x}, {{ir::attr::dims, order.to}}, op.source));
  }
  std::vector<ValueId> operands = {x, constant(affine.w, "w")};
  if (norm.centered) operands.push_back(constant(affine.b, "b"));
  const ir::Attrs attrs{{ir::attr::last_dims, static_cast<int64_t>(norm.dims.size())},
                        {ir::attr::eps, norm.eps}};
  const OpKind kind = norm.centered ? OpKind::layer_norm : OpKind::rms_norm;
  THIMBLE_TRY(ValueId y, rewriter.to().add(kind, std::move(operands), attrs, op.source,
                                           order.same ? hint : Graph::ResultHint{}));
  if (!order.same) {
    THIMBLE_TRY(y, rewriter.to().add(OpKind::permute, {y}, {{ir::attr::dims, order.back}},
                                     op.source, hint));
  }
  rewriter.set(affine.last, y);
  return ok();
}

}  // namespace

Result<Graph> fuse_norm(const Graph& graph) {
  const Matcher matcher(graph);
  const auto match = [&](const Op& op) -> Result<std::optional<Affine>> {
    const std::optional<Norm> norm = matcher.match(op);
    if (!norm) return std::optional<Affine>();
    return std::optional<Affine>(affine_after(graph, matcher, *norm, op.output));
  };
  return fuse_each(graph, match, emit);
}

}  // namespace thimble::passes
