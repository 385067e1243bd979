// SPDX-License-Identifier: Apache-2.0
// Distances, similarities and losses between tensors.

#include <algorithm>
#include <cmath>

#include "import/handlers.h"
#include "import/select_along.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

ir::Attrs along(int64_t dim, bool keeps_dims) {
  return {{ir::attr::dims, Ints{dim}}, {ir::attr::keepdim, int64_t{keeps_dims}}};
}

/// Returns the p-norm (sum |x|^p)^(1/p) along a dimension.
Result<ValueId> length(Call& call, ValueId x, int64_t dim, double p, bool keeps_dims) {
  if (p == 2) {
    THIMBLE_TRY(const ValueId squares, call.add(OpKind::mul, {x, x}));
    THIMBLE_TRY(const ValueId sum, call.add(OpKind::sum, {squares}, along(dim, keeps_dims)));
    return call.add(OpKind::sqrt, {sum});
  }
  if (!(p > 0))
    return unsupported("a norm of order {}, expected above 0: for order 0, use (a != b).sum()", p);
  THIMBLE_TRY(ValueId y, call.add(OpKind::abs, {x}));
  if (std::isinf(p)) return call.add(OpKind::amax, {y}, along(dim, keeps_dims));
  if (p != 1) {
    THIMBLE_TRY(y, call.add(OpKind::pow, {y}, {{ir::attr::exponent, p}}));
  }
  THIMBLE_TRY(y, call.add(OpKind::sum, {y}, along(dim, keeps_dims)));
  if (p == 1) return y;
  return call.add(OpKind::pow, {y}, {{ir::attr::exponent, 1 / p}});
}

/// Returns x / max(|x|, eps) along a dimension.
Result<ValueId> direction(Call& call, ValueId x, int64_t dim, double eps) {
  THIMBLE_TRY(ValueId norm, length(call, x, dim, 2, /*keeps_dims=*/true));
  THIMBLE_TRY(norm, call.add(OpKind::clamp, {norm}, {{ir::attr::float_min, eps}}));
  return call.add(OpKind::div, {x, norm});
}

/// Applies torch's `reduction`: 0 keeps the elements, 1 is the mean, 2 is the sum.
Status reduced_error(Call& call, ValueId errors) {
  THIMBLE_TRY(const int64_t reduction, call.integer("reduction", 1));
  const ir::Shape shape = call.shape(errors);
  if (reduction == 0 || shape.empty()) return call.result(errors);
  THIMBLE_TRY(const ValueId all, call.reshape(errors, {ir::element_count(shape)}));
  const OpKind kind = reduction == 1 ? OpKind::mean : OpKind::sum;
  return call.result(call.add(kind, {all}, along(0, false)));
}

Result<ValueId> difference(Call& call, std::string_view first, std::string_view second) {
  THIMBLE_TRY(const ValueId a, call.tensor(first));
  THIMBLE_TRY(const ValueId b, call.tensor(second));
  return call.add(OpKind::sub, {a, b});
}

/// Distance between each row of one matrix and each row of the other.
Result<ValueId> distances(Call& call, ValueId a, ValueId b) {
  ir::Shape rows = call.shape(a);
  ir::Shape columns = call.shape(b);
  if (rows.size() < 2 || columns.size() < 2) return bad_input("an operand has rank below 2");
  rows.insert(rows.end() - 1, 1);
  columns.insert(columns.end() - 2, 1);
  THIMBLE_TRY(a, call.reshape(a, rows));
  THIMBLE_TRY(b, call.reshape(b, columns));
  THIMBLE_TRY(const ValueId apart, call.add(OpKind::sub, {a, b}));
  THIMBLE_TRY(const double p, call.number("p", 2));
  const auto last = static_cast<int64_t>(call.shape(apart).size()) - 1;
  return length(call, apart, last, p, /*keeps_dims=*/false);
}

}  // namespace

namespace handlers {

Status cdist(Call& call) {
  THIMBLE_TRY(const ValueId a, call.tensor("x1"));
  THIMBLE_TRY(const ValueId b, call.tensor("x2"));
  return call.result(distances(call, a, b));
}

/// The distances above the diagonal of the matrix of distances, row by row.
Status pdist(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(ValueId all, distances(call, x, x));
  const int64_t count = call.shape(x)[0];
  if (count < 2) return unsupported("the result is empty");
  THIMBLE_TRY(all, call.reshape(all, {count * count}));
  Ints above;
  for (int64_t i = 0; i < count * count; ++i) {
    if (i % count > i / count) above.push_back(i);
  }
  return call.result(select_along(call, all, 0, above));
}

Status cosine_similarity(Call& call) {
  THIMBLE_TRY(ValueId a, call.tensor("x1"));
  THIMBLE_TRY(ValueId b, call.tensor("x2"));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-8));
  // `dim` is a dimension of the broadcast result.
  const size_t rank = std::max(call.shape(a).size(), call.shape(b).size());
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", rank, 1));
  for (ValueId* each : {&a, &b}) {
    ir::Shape shape = call.shape(*each);
    shape.insert(shape.begin(), rank - shape.size(), 1);
    THIMBLE_TRY(*each, call.reshape(*each, shape));
    THIMBLE_TRY(*each, direction(call, *each, dim, eps));
  }
  THIMBLE_TRY(const ValueId products, call.add(OpKind::mul, {a, b}));
  return call.result(call.add(OpKind::sum, {products}, along(dim, false)));
}

/// Distance along the last dimension. As in PyTorch, eps is added to the difference.
Status pairwise_distance(Call& call) {
  THIMBLE_TRY(ValueId apart, difference(call, "x1", "x2"));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-6));
  THIMBLE_TRY(const double p, call.number("p", 2));
  THIMBLE_TRY(const bool keeps_dims, call.boolean("keepdim", false));
  THIMBLE_TRY(apart, call.add(OpKind::add, {apart, call.scalar(eps)}));
  const auto last = static_cast<int64_t>(call.shape(apart).size()) - 1;
  if (last < 0) return bad_input("the inputs are scalars");
  return call.result(length(call, apart, last, p, keeps_dims));
}

Status l1_loss(Call& call) {
  THIMBLE_TRY(const ValueId apart, difference(call, "self", "target"));
  THIMBLE_TRY(const ValueId errors, call.add(OpKind::abs, {apart}));
  return reduced_error(call, errors);
}

Status mse_loss(Call& call) {
  THIMBLE_TRY(const ValueId apart, difference(call, "self", "target"));
  THIMBLE_TRY(const ValueId errors, call.add(OpKind::mul, {apart, apart}));
  return reduced_error(call, errors);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
