// SPDX-License-Identifier: Apache-2.0
// Matrix products. A product with a constant matrix becomes linear, whose weight is [out, in].

#include <cmath>
#include <numeric>

#include "import/handlers.h"
#include "import/matmul.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

bool is_constant(Call& call, ValueId id) {
  return call.builder().known(id) != nullptr;
}

/// Swaps the last two dimensions.
Result<ValueId> transposed(Call& call, ValueId x) {
  Ints dims(call.shape(x).size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return call.add(OpKind::permute, {x}, {{ir::attr::dims, dims}});
}

/// Returns x times the constant matrix [in, out].
Result<ValueId> weighted(Call& call, ValueId x, ValueId matrix, ValueId bias) {
  THIMBLE_TRY(const ValueId weight, transposed(call, matrix));
  return call.add(OpKind::linear, {x, weight, bias});
}

/// Returns a b * scale. Both operands have rank 2 or more.
Result<ValueId> matmul_of_matrices(Call& call, ValueId a, ValueId b, double scale) {
  if (is_constant(call, b) && call.shape(b).size() == 2) {
    THIMBLE_TRY(b, call.scaled(b, scale));
    return weighted(call, a, b, ir::kNoValue);
  }
  if (is_constant(call, a) && call.shape(a).size() == 2) {
    // a b = (b' a')', so a is the weight of a linear without a transpose.
    THIMBLE_TRY(const ValueId weight, call.scaled(a, scale));
    THIMBLE_TRY(const ValueId columns, transposed(call, b));
    THIMBLE_TRY(const ValueId y, call.add(OpKind::linear, {columns, weight, ir::kNoValue}));
    return transposed(call, y);
  }
  THIMBLE_TRY(const ValueId y,
              call.add(OpKind::matmul, {a, b}, {{ir::attr::scale, std::abs(scale)}}));
  return call.scaled(y, scale < 0 ? -1 : 1);
}

Status add_product(Call& call, std::string_view first, std::string_view second) {
  THIMBLE_TRY(const ValueId a, call.tensor(first));
  THIMBLE_TRY(const ValueId b, call.tensor(second));
  return call.result(multiplied(call, a, b));
}

/// Adds beta * self + product, where `self` and the product are tensors.
Status sum_with_self(Call& call, ValueId product) {
  THIMBLE_TRY(const double beta, call.number("beta", 1));
  if (beta == 0) return call.result(product);
  THIMBLE_TRY(ValueId bias, call.tensor("self"));
  THIMBLE_TRY(bias, call.scaled(bias, beta));
  return call.result(call.add(OpKind::add, {product, bias}));
}

/// Returns true if the shape has one element per column, shared by all rows.
bool is_row(const ir::Shape& shape, int64_t columns) {
  return ir::element_count(shape) == columns && (shape.empty() || shape.back() == columns);
}

/// Returns a linear with bias if the matrix and `self` (one element per column) are constants.
/// Returns kNoValue otherwise.
Result<ValueId> as_linear(Call& call, ValueId x, ValueId matrix, double alpha) {
  if (!is_constant(call, matrix) || call.shape(matrix).size() != 2) return ir::kNoValue;
  THIMBLE_TRY(const double beta, call.number("beta", 1));
  THIMBLE_TRY(ValueId bias, call.tensor("self"));
  const int64_t columns = call.shape(matrix)[1];
  if (!is_constant(call, bias) || !is_row(call.shape(bias), columns)) return ir::kNoValue;
  THIMBLE_TRY(const ValueId scaled, call.scaled(matrix, alpha));
  THIMBLE_TRY(bias, call.scaled(bias, beta));
  THIMBLE_TRY(bias, call.reshape(bias, {columns}));
  return weighted(call, x, scaled, bias);
}

/// Returns x1' W[o] x2 for each o. A linear computes the rows x1' W[o], which are multiplied by x2.
Result<ValueId> bilinear(Call& call, ValueId x1, ValueId w, ValueId x2) {
  const ir::Shape sizes = call.shape(w);
  if (sizes.size() != 3) return bad_input("weight has shape {}", ir::list_text(sizes));
  THIMBLE_TRY(w, call.add(OpKind::permute, {w}, {{ir::attr::dims, Ints{0, 2, 1}}}));
  THIMBLE_TRY(w, call.reshape(w, {sizes[0] * sizes[2], sizes[1]}));
  THIMBLE_TRY(ValueId rows, call.add(OpKind::linear, {x1, w, ir::kNoValue}));
  ir::Shape shape = call.shape(rows);
  shape.back() = sizes[0];
  ir::Shape split = shape;
  split.push_back(sizes[2]);
  THIMBLE_TRY(rows, call.reshape(rows, split));
  ir::Shape column = call.shape(x2);
  column.push_back(1);
  THIMBLE_TRY(x2, call.reshape(x2, column));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::matmul, {rows, x2}, {{ir::attr::scale, 1.0}}));
  return call.reshape(y, shape);
}

}  // namespace

Result<ValueId> multiplied(Call& call, ValueId a, ValueId b, double scale) {
  const size_t a_rank = call.shape(a).size();
  const size_t b_rank = call.shape(b).size();
  if (a_rank == 0 || b_rank == 0) return bad_input("an operand of the product is a scalar");
  if (a_rank == 1) {
    THIMBLE_TRY(a, call.reshape(a, {1, call.shape(a)[0]}));
  }
  if (b_rank == 1) {
    THIMBLE_TRY(b, call.reshape(b, {call.shape(b)[0], 1}));
  }
  THIMBLE_TRY(const ValueId y, matmul_of_matrices(call, a, b, scale));
  // Removes the dimension that was added to a vector for the product.
  ir::Shape shape = call.shape(y);
  if (b_rank == 1) shape.pop_back();
  if (a_rank == 1) shape.erase(shape.end() - (b_rank == 1 ? 1 : 2));
  return call.reshape(y, shape);
}

Result<ValueId> multiplied_transposed(Call& call, ValueId a, ValueId b, double scale) {
  if (is_constant(call, a) || is_constant(call, b)) {
    THIMBLE_TRY(const ValueId columns, transposed(call, b));
    return multiplied(call, a, columns, scale);
  }
  THIMBLE_TRY(const ValueId y,
              call.add(OpKind::matmul, {a, b},
                       {{ir::attr::transpose_b, int64_t{1}}, {ir::attr::scale, std::abs(scale)}}));
  return call.scaled(y, scale < 0 ? -1 : 1);
}

namespace handlers {

Status bilinear_form(Call& call) {
  THIMBLE_TRY(const ValueId x1, call.tensor("input1"));
  THIMBLE_TRY(const ValueId x2, call.tensor("input2"));
  THIMBLE_TRY(const ValueId w, call.tensor("weight"));
  THIMBLE_TRY(ValueId y, bilinear(call, x1, w, x2));
  if (call.has("bias")) {
    THIMBLE_TRY(const ValueId bias, call.tensor("bias"));
    THIMBLE_TRY(y, call.add(OpKind::add, {y, bias}));
  }
  return call.result(y);
}

/// Supports the form that core ATen uses for rows of x1 and x2: sums over dimensions 2 and 3 of
/// [N, O, I, J].
Status trilinear(Call& call) {
  const std::vector<std::pair<std::string_view, Ints>> expected = {
      {"expand1", {1, 3}}, {"expand2", {0}}, {"expand3", {1, 2}}, {"sumdim", {2, 3}}};
  for (const auto& [name, dims] : expected) {
    THIMBLE_TRY(const Ints given, call.integers(name));
    if (given != dims) return unsupported("{} is {}", name, ir::list_text(given));
  }
  THIMBLE_TRY(const ValueId x1, call.tensor("i1"));
  THIMBLE_TRY(const ValueId w, call.tensor("i2"));
  THIMBLE_TRY(const ValueId x2, call.tensor("i3"));
  return call.result(bilinear(call, x1, w, x2));
}

Status linear(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const ValueId weight, call.tensor("weight"));
  THIMBLE_TRY(const ValueId bias, call.optional_tensor("bias"));
  const bool known = is_constant(call, weight) && (bias == ir::kNoValue || is_constant(call, bias));
  if (known && call.shape(weight).size() == 2) {
    return call.result(call.add(OpKind::linear, {x, weight, bias}));
  }
  ValueId columns = weight;
  if (call.shape(weight).size() == 2) {
    THIMBLE_TRY(columns, transposed(call, weight));
  }
  THIMBLE_TRY(ValueId y, multiplied(call, x, columns));
  if (bias != ir::kNoValue) {
    THIMBLE_TRY(y, call.add(OpKind::add, {y, bias}));
  }
  return call.result(y);
}

Status matmul(Call& call) {
  return add_product(call, "self", "other");
}
Status mm(Call& call) {
  return add_product(call, "self", "mat2");
}
Status mv(Call& call) {
  return add_product(call, "self", "vec");
}
Status vdot(Call& call) {
  return add_product(call, "self", "other");
}
Status dot(Call& call) {
  return add_product(call, "self", "tensor");
}

Status addmm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("mat1"));
  THIMBLE_TRY(const ValueId matrix, call.tensor("mat2"));
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  THIMBLE_TRY(const ValueId y, as_linear(call, x, matrix, alpha));
  if (y != ir::kNoValue) return call.result(y);
  THIMBLE_TRY(const ValueId product, multiplied(call, x, matrix, alpha));
  return sum_with_self(call, product);
}

Status baddbmm(Call& call) {
  THIMBLE_TRY(const ValueId a, call.tensor("batch1"));
  THIMBLE_TRY(const ValueId b, call.tensor("batch2"));
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  THIMBLE_TRY(const ValueId product, multiplied(call, a, b, alpha));
  return sum_with_self(call, product);
}

/// The sum over batches is one product: [rows, batch * inner] times [batch * inner, columns].
Status addbmm(Call& call) {
  THIMBLE_TRY(ValueId a, call.tensor("batch1"));
  THIMBLE_TRY(ValueId b, call.tensor("batch2"));
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  const ir::Shape a_shape = call.shape(a);
  const ir::Shape b_shape = call.shape(b);
  if (a_shape.size() != 3 || b_shape.size() != 3)
    return bad_input("an operand does not have rank 3");
  THIMBLE_TRY(a, call.add(OpKind::permute, {a}, {{ir::attr::dims, Ints{1, 0, 2}}}));
  THIMBLE_TRY(a, call.reshape(a, {a_shape[1], a_shape[0] * a_shape[2]}));
  THIMBLE_TRY(b, call.reshape(b, {b_shape[0] * b_shape[1], b_shape[2]}));
  THIMBLE_TRY(const ValueId product, multiplied(call, a, b, alpha));
  return sum_with_self(call, product);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
