// Matrix products with a constant matrix become linear, whose weight is [out, in].

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr std::string_view kTwoActivations =
    "the second operand is computed at run time, a constant matrix is needed";

/// x times the constant matrix [in, out].
Result<ValueId> product(Call& call, ValueId x, ValueId matrix, ValueId bias) {
  THIMBLE_TRY(const ValueId weight, call.add(OpKind::permute, {matrix}, {{"dims", Ints{1, 0}}}));
  return call.add(OpKind::linear, {x, weight, bias});
}

Result<ValueId> constant_matrix(Call& call, std::string_view name) {
  THIMBLE_TRY(const ValueId matrix, call.tensor(name));
  if (call.builder().known(matrix) == nullptr) return unsupported("{}", kTwoActivations);
  return matrix;
}

Status add_product(Call& call, std::string_view second) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(ValueId matrix, constant_matrix(call, second));
  const ir::Shape shape = call.shape(matrix);
  if (shape.size() > 2) return unsupported("a constant of rank {} as second operand", shape.size());
  if (shape.size() == 1) {
    THIMBLE_TRY(matrix, call.reshape(matrix, {shape[0], 1}));
  }
  if (shape.empty()) return bad_input("the second operand is a scalar");
  THIMBLE_TRY(ValueId y, product(call, x, matrix, ir::kNoValue));
  if (shape.size() == 1) {
    ir::Shape vector = call.shape(y);
    vector.pop_back();
    THIMBLE_TRY(y, call.reshape(y, vector));
  }
  return call.result(y);
}

/// Does the shape hold one number per column, the same for all rows?
bool is_row(const ir::Shape& shape, int64_t columns) {
  return ir::element_count(shape) == columns && (shape.empty() || shape.back() == columns);
}

}  // namespace

namespace handlers {

Status linear(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_CHECK(call.constant("weight"));
  THIMBLE_TRY(const ValueId weight, call.tensor("weight"));
  THIMBLE_TRY(const ValueId bias, call.optional_tensor("bias"));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::linear, {x, weight, bias}));
  return call.result(y);
}

Status matmul(Call& call) {
  return add_product(call, "other");
}
Status mm(Call& call) {
  return add_product(call, "mat2");
}

Status addmm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("mat1"));
  THIMBLE_TRY(ValueId matrix, constant_matrix(call, "mat2"));
  THIMBLE_TRY(ValueId bias, call.tensor("self"));
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  THIMBLE_TRY(const double beta, call.number("beta", 1));
  if (call.shape(matrix).size() != 2) return bad_input("argument mat2 is no matrix");
  const int64_t columns = call.shape(matrix)[1];
  THIMBLE_TRY(matrix, call.scaled(matrix, alpha));
  THIMBLE_TRY(bias, call.scaled(bias, beta));
  if (call.builder().known(bias) != nullptr && is_row(call.shape(bias), columns)) {
    THIMBLE_TRY(bias, call.reshape(bias, {columns}));
    THIMBLE_TRY(const ValueId y, product(call, x, matrix, bias));
    return call.result(y);
  }
  THIMBLE_TRY(ValueId y, product(call, x, matrix, ir::kNoValue));
  THIMBLE_TRY(y, call.add(OpKind::add, {y, bias}));
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
