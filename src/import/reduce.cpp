// SPDX-License-Identifier: Apache-2.0
// Reductions over dimensions, and cumulative sums. A mean over height and width of an image becomes
// an average pool over the whole image, which every engine supports.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Ints all_dims(size_t rank) {
  Ints dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// The operand and dimensions of a reduction. `dim` is one dimension or a list; if it is omitted or
/// empty, all dimensions are reduced.
struct Reduced {
  ValueId x = ir::kNoValue;
  Ints dims;
  bool keeps_dims = false;

  [[nodiscard]] ir::Attrs attrs() const {
    return {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{keeps_dims}}};
  }
};

Result<Reduced> reduced(Call& call, ValueId x) {
  Reduced result;
  const size_t rank = call.shape(x).size();
  result.x = x;
  if (call.has("dim")) {
    THIMBLE_TRY(result.dims, call.dimensions("dim", rank));
  }
  if (result.dims.empty()) result.dims = all_dims(rank);
  std::sort(result.dims.begin(), result.dims.end());
  THIMBLE_TRY(result.keeps_dims, call.boolean("keepdim", false));
  return result;
}

/// Adds the reduction. The sum, mean and maximum of a scalar equal the scalar.
Result<ValueId> add_reduction(Call& call, const Reduced& over, OpKind kind, ir::Attrs more = {}) {
  if (call.shape(over.x).empty() && kind != OpKind::variance) return over.x;
  ir::Attrs attrs = over.attrs();
  for (const auto& [id, value] : more.entries()) attrs.set_value(id, value);
  return call.add(kind, {over.x}, std::move(attrs));
}

Result<ValueId> image_mean(Call& call, ValueId x, bool keeps_dims) {
  const ir::Shape shape = call.shape(x);
  const Ints window = {shape[2], shape[3]};
  THIMBLE_TRY(const ValueId y, call.add(OpKind::avg_pool2d, {x},
                                        {{ir::attr::kernel, window},
                                         {ir::attr::stride, window},
                                         {ir::attr::padding, Ints{0, 0, 0, 0}}}));
  if (keeps_dims) return y;
  return call.reshape(y, {shape[0], shape[1]});
}

Result<ValueId> add_mean(Call& call, const Reduced& over) {
  if (call.shape(over.x).size() == 4 && over.dims == Ints{2, 3}) {
    return image_mean(call, over.x, over.keeps_dims);
  }
  return add_reduction(call, over, OpKind::mean);
}

/// Adds the maximum or minimum of `self`. Returns the error if `self` is one.
Status reduce_max_or_min(Call& call, Result<ValueId> self, OpKind kind) {
  THIMBLE_TRY(const ValueId x, std::move(self));
  THIMBLE_TRY(const Reduced over, reduced(call, x));
  return call.result(add_reduction(call, over, kind));
}

Result<ValueId> position(Call& call, ValueId x, int64_t dim, bool keeps_dims, bool smallest) {
  if (call.shape(x).empty()) {
    return call.constant_value("position", ir::zeros(ir::DType::kI64, {}));
  }
  return call.add(OpKind::argmax, {x},
                  {{ir::attr::dim, dim},
                   {ir::attr::keepdim, int64_t{keeps_dims}},
                   {ir::attr::smallest, int64_t{smallest}}});
}

/// Returns values and indices along one dimension.
Status max_or_min_along(Call& call, OpKind kind) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const Reduced over, reduced(call, x));
  if (over.dims.size() > 1) return bad_input("argument dim is missing");
  THIMBLE_TRY(const ValueId values, add_reduction(call, over, kind));
  const int64_t dim = over.dims.empty() ? 0 : over.dims[0];
  THIMBLE_TRY(const ValueId positions,
              position(call, x, dim, over.keeps_dims, kind == OpKind::amin));
  return call.results({values, positions});
}

/// Without `dim`, the index in the flattened tensor.
Status position_of(Call& call, bool smallest) {
  THIMBLE_TRY(ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const bool keeps_dims, call.boolean("keepdim", false));
  const ir::Shape shape = call.shape(x);
  if (call.has("dim") || shape.empty()) {
    THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size(), 0));
    return call.result(position(call, x, dim, keeps_dims, smallest));
  }
  THIMBLE_TRY(x, call.reshape(x, {ir::element_count(shape)}));
  THIMBLE_TRY(ValueId y, position(call, x, 0, false, smallest));
  if (keeps_dims) {
    THIMBLE_TRY(y, call.reshape(y, ir::Shape(shape.size(), 1)));
  }
  return call.result(y);
}

/// Uses `correction`, or else 1 or 0 as given by `unbiased`.
Result<ValueId> add_variance(Call& call, const Reduced& over) {
  THIMBLE_TRY(const bool unbiased, call.boolean("unbiased", true));
  THIMBLE_TRY(const double correction, call.number("correction", unbiased ? 1 : 0));
  return add_reduction(call, over, OpKind::variance, {{ir::attr::correction, correction}});
}

Result<ValueId> add_deviation(Call& call, const Reduced& over) {
  THIMBLE_TRY(const ValueId variance, add_variance(call, over));
  return call.add(OpKind::sqrt, {variance});
}

using AddReduction = Result<ValueId> (*)(Call& call, const Reduced& over);

Status reduce_float(Call& call, AddReduction add) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Reduced over, reduced(call, x));
  return call.result(add(call, over));
}

Status reduce_float_and_mean(Call& call, AddReduction add) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Reduced over, reduced(call, x));
  THIMBLE_TRY(const ValueId y, add(call, over));
  THIMBLE_TRY(const ValueId mean, add_mean(call, over));
  return call.results({y, mean});
}

/// (sum |x|^p)^(1/p), and its limits for infinite p.
Status vector_norm(Call& call, double p) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(Reduced over, reduced(call, x));
  if (p == 2) {
    THIMBLE_TRY(over.x, call.add(OpKind::mul, {x, x}));
    THIMBLE_TRY(const ValueId sum, add_reduction(call, over, OpKind::sum));
    return call.result(call.add(OpKind::sqrt, {sum}));
  }
  THIMBLE_TRY(over.x, call.add(OpKind::abs, {x}));
  if (std::isinf(p)) {
    return call.result(add_reduction(call, over, p > 0 ? OpKind::amax : OpKind::amin));
  }
  if (!(p > 0)) return unsupported("a norm of order {}, expected above 0 or infinite", p);
  if (p != 1) {
    THIMBLE_TRY(over.x, call.add(OpKind::pow, {over.x}, {{ir::attr::exponent, p}}));
  }
  THIMBLE_TRY(ValueId y, add_reduction(call, over, OpKind::sum));
  if (p != 1) {
    THIMBLE_TRY(y, call.add(OpKind::pow, {y}, {{ir::attr::exponent, 1 / p}}));
  }
  return call.result(y);
}

}  // namespace

namespace handlers {

Status mean(Call& call) {
  return reduce_float(call, add_mean);
}
Status sum(Call& call) {
  return reduce_float(
      call, [](Call& c, const Reduced& over) { return add_reduction(c, over, OpKind::sum); });
}

/// `all` and `any` are the minimum and maximum of booleans.
Status all(Call& call) {
  return reduce_max_or_min(call, as_bool(call, "self"), OpKind::amin);
}
Status any(Call& call) {
  return reduce_max_or_min(call, as_bool(call, "self"), OpKind::amax);
}
Status amax(Call& call) {
  return reduce_max_or_min(call, call.any_tensor("self"), OpKind::amax);
}
Status amin(Call& call) {
  return reduce_max_or_min(call, call.any_tensor("self"), OpKind::amin);
}
Status max_dim(Call& call) {
  return max_or_min_along(call, OpKind::amax);
}
Status min_dim(Call& call) {
  return max_or_min_along(call, OpKind::amin);
}
Status argmax(Call& call) {
  return position_of(call, /*smallest=*/false);
}
Status argmin(Call& call) {
  return position_of(call, /*smallest=*/true);
}

Status variance(Call& call) {
  return reduce_float(call, add_variance);
}
Status deviation(Call& call) {
  return reduce_float(call, add_deviation);
}
Status variance_and_mean(Call& call) {
  return reduce_float_and_mean(call, add_variance);
}
Status deviation_and_mean(Call& call) {
  return reduce_float_and_mean(call, add_deviation);
}

Status linalg_vector_norm(Call& call) {
  THIMBLE_TRY(const double p, call.number("ord", 2));
  return vector_norm(call, p);
}
Status norm(Call& call) {
  THIMBLE_TRY(const double p, call.number("p", 2));
  return vector_norm(call, p);
}

Status cumsum(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  if (call.shape(x).empty()) return call.result(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size()));
  return call.result(call.add(OpKind::cumsum, {x}, {{ir::attr::dim, dim}}));
}

/// m + log(sum of exp(x - m)); it cannot overflow, because m is the maximum.
Status logsumexp(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(Reduced over, reduced(call, x));
  THIMBLE_TRY(ValueId maximum,
              add_reduction(call, {x, over.dims, /*keeps_dims=*/true}, OpKind::amax));
  THIMBLE_TRY(const ValueId below, call.add(OpKind::sub, {x, maximum}));
  THIMBLE_TRY(over.x, call.add(OpKind::exp, {below}));
  THIMBLE_TRY(const ValueId sum, add_reduction(call, over, OpKind::sum));
  THIMBLE_TRY(const ValueId log, call.add(OpKind::log, {sum}));
  const ir::Shape shape = call.shape(log);
  if (call.shape(maximum) != shape) {
    THIMBLE_TRY(maximum, call.reshape(maximum, shape));
  }
  return call.result(call.add(OpKind::add, {maximum, log}));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
