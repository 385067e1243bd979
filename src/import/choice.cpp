// Comparisons, logic and choices between two values. Numbers take the element type of the tensor
// that they stand beside.

#include <algorithm>

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

/// What two arguments are computed in: float if one of them is, as PyTorch promotes them.
Result<DType> joint_dtype(Call& call, std::string_view a, std::string_view b) {
  DType joint = DType::kBool;
  bool found = false;
  for (const std::string_view name : {a, b}) {
    if (!call.is_tensor(name)) continue;
    THIMBLE_TRY(const ValueId id, call.any_tensor(name));
    const DType dtype = call.builder().graph.type(id).dtype;
    // Constants adapt; what is computed does not.
    const bool fixed = call.builder().constant_of(id) == nullptr;
    if (dtype == DType::kF32) return dtype;
    if (!found || fixed) joint = dtype;
    found = true;
  }
  return found ? joint : DType::kF32;
}

Result<ValueId> both(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const DType dtype, joint_dtype(call, "self", "other"));
  THIMBLE_TRY(const ValueId a, operand_as(call, "self", dtype));
  THIMBLE_TRY(const ValueId b, operand_as(call, "other", dtype));
  return call.add(kind, {a, b}, std::move(attrs));
}

Status compared(Call& call, Relation relation) {
  THIMBLE_TRY(const ValueId y,
              both(call, OpKind::compare, {{"relation", static_cast<int64_t>(relation)}}));
  return call.result(y);
}

Status extreme(Call& call, OpKind kind) {
  THIMBLE_TRY(const ValueId y, both(call, kind));
  return call.result(y);
}

Status of_truths(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const ValueId a, truth_of(call, "self"));
  THIMBLE_TRY(const ValueId b, truth_of(call, "other"));
  THIMBLE_TRY(const ValueId y, call.add(kind, {a, b}, std::move(attrs)));
  return call.result(y);
}

Status negated(Call& call) {
  THIMBLE_TRY(const ValueId x, truth_of(call, "self"));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::logical_not, {x}));
  return call.result(y);
}

/// Bitwise operators are logic on booleans, and something else on integers.
Status check_bool(Call& call, std::string_view name) {
  THIMBLE_TRY(const ValueId id, call.any_tensor(name));
  const ir::Type& type = call.builder().graph.type(id);
  if (type.dtype == DType::kBool) return ok();
  return unsupported("argument {} is {}, only bool is supported", name,
                     ir::type_text(type.dtype, type.shape));
}

Status bitwise(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_CHECK(check_bool(call, "self"));
  THIMBLE_CHECK(check_bool(call, "other"));
  return of_truths(call, kind, std::move(attrs));
}

ir::Attrs unequal() {
  return {{"relation", static_cast<int64_t>(Relation::kNe)}};
}

/// 1 at and below a diagonal of the last two dimensions; `self` is 0 elsewhere.
Status triangle(Call& call, bool lower) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t diagonal, call.integer("diagonal", 0));
  const ir::Type type = call.builder().graph.type(x);
  if (type.shape.size() < 2) return bad_input("self has rank {}", type.shape.size());
  const int64_t rows = type.shape[type.shape.size() - 2];
  const int64_t columns = type.shape.back();
  ir::Tensor kept = ir::zeros(DType::kBool, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t offset = i % columns - i / columns;
    set_element(kept, static_cast<size_t>(i), lower ? offset <= diagonal : offset >= diagonal);
  }
  const ValueId mask = call.constant_value("triangle", std::move(kept));
  const ValueId zero = call.constant_value("zero", filled(type.dtype, {}, 0));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::where, {mask, x, zero}));
  return call.result(y);
}

}  // namespace

namespace handlers {

Status eq(Call& call) {
  return compared(call, Relation::kEq);
}
Status ge(Call& call) {
  return compared(call, Relation::kGe);
}
Status gt(Call& call) {
  return compared(call, Relation::kGt);
}
Status le(Call& call) {
  return compared(call, Relation::kLe);
}
Status lt(Call& call) {
  return compared(call, Relation::kLt);
}
Status ne(Call& call) {
  return compared(call, Relation::kNe);
}

Status maximum(Call& call) {
  return extreme(call, OpKind::maximum);
}
Status minimum(Call& call) {
  return extreme(call, OpKind::minimum);
}

Status bitwise_and(Call& call) {
  return bitwise(call, OpKind::logical_and);
}
Status bitwise_not(Call& call) {
  THIMBLE_CHECK(check_bool(call, "self"));
  return negated(call);
}
Status bitwise_or(Call& call) {
  return bitwise(call, OpKind::logical_or);
}
Status bitwise_xor(Call& call) {
  return bitwise(call, OpKind::compare, unequal());
}
Status logical_and(Call& call) {
  return of_truths(call, OpKind::logical_and);
}
Status logical_not(Call& call) {
  return negated(call);
}
Status logical_or(Call& call) {
  return of_truths(call, OpKind::logical_or);
}
Status logical_xor(Call& call) {
  return of_truths(call, OpKind::compare, unequal());
}

Status where(Call& call) {
  THIMBLE_TRY(const ValueId condition, truth_of(call, "condition"));
  THIMBLE_TRY(const DType dtype, joint_dtype(call, "self", "other"));
  THIMBLE_TRY(const ValueId a, operand_as(call, "self", dtype));
  THIMBLE_TRY(const ValueId b, operand_as(call, "other", dtype));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::where, {condition, a, b}));
  return call.result(y);
}

Status masked_fill(Call& call) {
  THIMBLE_TRY(const ValueId mask, truth_of(call, "mask"));
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const DType dtype = call.builder().graph.type(x).dtype;
  THIMBLE_TRY(const ValueId value, operand_as(call, "value", dtype));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::where, {mask, value, x}));
  return call.result(y);
}

Status tril(Call& call) {
  return triangle(call, true);
}
Status triu(Call& call) {
  return triangle(call, false);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
