// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic and selection between two values. A number gets the element type of the tensor
// in the same operator.

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"
#include "ir/infer.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

/// Returns the element type in which two arguments are computed: float32 if one of them is, as
/// PyTorch promotes.
Result<DType> joint_dtype(Call& call, std::string_view a, std::string_view b) {
  DType joint = DType::kBool;
  bool found = false, joint_is_fixed = false;
  for (const std::string_view name : {a, b}) {
    if (!call.is_tensor(name)) continue;
    THIMBLE_TRY(const ValueId id, call.any_tensor(name));
    const DType dtype = call.builder().graph.type(id).dtype;
    // A constant is converted to the type of the other argument; a computed value is not.
    const bool fixed = call.builder().constant_of(id) == nullptr;
    if (dtype == DType::kF32) return dtype;
    const bool wider = ir::dtype_bytes(dtype) > ir::dtype_bytes(joint);
    if (!found || (fixed && (!joint_is_fixed || wider))) joint = dtype;
    found = true;
    joint_is_fixed |= fixed;
  }
  return found ? joint : DType::kF32;
}

/// Returns the element type of a selection between two arguments: that of its result if it is an
/// integer, to which PyTorch promotes both.
Result<DType> selected_dtype(Call& call, std::string_view a, std::string_view b) {
  const auto* meta = call.result_meta();
  const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
  if (dtype == DType::kI32 || dtype == DType::kI64) return *dtype;
  return joint_dtype(call, a, b);
}

Result<ValueId> both(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const DType dtype, selected_dtype(call, "self", "other"));
  THIMBLE_TRY(const ValueId a, operand_as(call, "self", dtype));
  THIMBLE_TRY(const ValueId b, operand_as(call, "other", dtype));
  return call.add(kind, {a, b}, std::move(attrs));
}

/// Returns true if infinities of constants, like those of a mask, may be elements of the value.
/// Other values are finite: calibration checks them.
bool may_be_infinite(const Builder& builder, ValueId id) {
  std::set<ValueId> seen;
  std::vector<ValueId> open = {id};
  while (!open.empty()) {
    const ValueId each = open.back();
    open.pop_back();
    if (each == ir::kNoValue || !seen.insert(each).second) continue;
    if (const ir::Tensor* held = builder.constant_of(each)) {
      if (held->dtype != DType::kF32) continue;
      const auto elements = held->data<float>();
      if (std::ranges::any_of(elements, [](float x) { return std::isinf(x); })) return true;
      continue;
    }
    const ir::Op* op = builder.producer(each);
    if (op == nullptr || op->kind == OpKind::softmax) continue;
    open.insert(open.end(), op->inputs.begin(), op->inputs.end());
  }
  return false;
}

/// Returns the number with which a tensor is compared; nothing for a tensor of several numbers.
std::optional<double> compared_number(Call& call) {
  if (!call.is_tensor("other")) {
    const auto number = call.number("other");
    return number.ok() ? std::optional(*number) : std::nullopt;
  }
  const auto id = call.any_tensor("other");
  const ir::Tensor* held = id.ok() ? call.builder().constant_of(*id) : nullptr;
  if (held == nullptr || ir::element_count(held->shape) != 1) return std::nullopt;
  return element(*held, 0);
}

/// Compares integers with a number between two integers: with the integer that gives the same.
Result<ValueId> compared_with_fraction(Call& call, Relation relation, double number) {
  const bool below = relation == Relation::kLt || relation == Relation::kLe;
  if (!below && relation != Relation::kGt && relation != Relation::kGe) {
    return unsupported("integers and {}: compare with an integer", number);
  }
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const double bound = below ? std::floor(number) : std::ceil(number);
  const ValueId whole =
      call.constant_value("bound", filled(call.builder().graph.type(x).dtype, {}, bound));
  const Relation closed = below ? Relation::kLe : Relation::kGe;
  return call.add(OpKind::compare, {x, whole},
                  {{ir::attr::relation, static_cast<int64_t>(closed)}});
}

Status compared(Call& call, Relation relation) {
  const std::optional<double> number = compared_number(call);
  if (number && call.is_tensor("self")) {
    THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
    const DType dtype = call.builder().graph.type(x).dtype;
    if (std::isinf(*number) && call.builder().constant_of(x) == nullptr &&
        !may_be_infinite(call.builder(), x)) {
      const bool truth = ir::holds(relation, 0, *number);
      const ValueId same = call.constant_value("known", filled(DType::kBool, {}, truth ? 1 : 0));
      return call.result(call.add(OpKind::expand, {same}, {{ir::attr::shape, call.shape(x)}}));
    }
    if (!call.is_tensor("other") && (dtype == DType::kI32 || dtype == DType::kI64) &&
        std::isfinite(*number) && std::floor(*number) != *number) {
      return call.result(compared_with_fraction(call, relation, *number));
    }
  }
  return call.result(
      both(call, OpKind::compare, {{ir::attr::relation, static_cast<int64_t>(relation)}}));
}

Status elementwise_extreme(Call& call, OpKind kind) {
  return call.result(both(call, kind));
}

Status truths_of_both(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const ValueId a, as_bool(call, "self"));
  THIMBLE_TRY(const ValueId b, as_bool(call, "other"));
  return call.result(call.add(kind, {a, b}, std::move(attrs)));
}

Status negated(Call& call) {
  THIMBLE_TRY(const ValueId x, as_bool(call, "self"));
  return call.result(call.add(OpKind::logical_not, {x}));
}

/// Checks for bool. Only on booleans are bitwise operators equal to logical operators.
Status check_bool(Call& call, std::string_view name) {
  THIMBLE_TRY(const ValueId id, call.any_tensor(name));
  const ir::Type& type = call.builder().graph.type(id);
  if (type.dtype == DType::kBool) return ok();
  return unsupported("argument {} is {}, only bool is supported", name,
                     ir::type_text(type.dtype, type.shape));
}

Status bitwise(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_CHECK(check_bool(call, "self"));
  if (!call.is_tensor("other")) {
    THIMBLE_TRY(const double value, call.number("other"));
    if (value != 0 && value != 1) return unsupported("bool and {}, expected True or False", value);
    THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
    const ValueId number = call.constant_value("other", filled(DType::kBool, {}, value));
    return call.result(call.add(kind, {x, number}, std::move(attrs)));
  }
  THIMBLE_CHECK(check_bool(call, "other"));
  return truths_of_both(call, kind, std::move(attrs));
}

ir::Attrs unequal() {
  return {{ir::attr::relation, static_cast<int64_t>(Relation::kNe)}};
}

/// Keeps one triangle of the last two dimensions of `self`; the other elements become 0.
Status triangle(Call& call, bool lower) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t diagonal, call.integer("diagonal", 0));
  const ir::Type type = call.builder().graph.type(x);
  if (type.shape.size() < 2) return bad_input("self has rank {}", type.shape.size());
  const int64_t rows = type.shape[type.shape.size() - 2];
  const int64_t columns = type.shape.back();
  THIMBLE_TRY(ir::Tensor kept, call.new_constant(DType::kBool, {rows, columns}));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t offset = i % columns - i / columns;
    set_element(kept, static_cast<size_t>(i), lower ? offset <= diagonal : offset >= diagonal);
  }
  const ValueId mask = call.constant_value("triangle", std::move(kept));
  const ValueId zero = call.constant_value("zero", filled(type.dtype, {}, 0));
  return call.result(call.add(OpKind::where, {mask, x, zero}));
}

/// Returns true if `condition` means that every element of x along `dim` is -inf, in the form that
/// core ATen uses: not any(not(x == -inf)).
bool is_all_masked_condition(const Builder& builder, ValueId condition, ValueId x, int64_t dim) {
  const auto operand = [&](ValueId& id, OpKind kind) {
    const ir::Op* op = builder.producer(id);
    if (op == nullptr || op->kind != kind) return false;
    id = op->inputs[0];
    return true;
  };
  const ir::Op* largest = nullptr;
  if (!operand(condition, OpKind::logical_not)) return false;
  largest = builder.producer(condition);
  if (!operand(condition, OpKind::amax) || largest->get(ir::attr::dims) != std::vector{dim}) {
    return false;
  }
  if (!operand(condition, OpKind::logical_not)) return false;
  const ir::Op* equal = builder.producer(condition);
  if (equal == nullptr || equal->kind != OpKind::compare || equal->inputs[0] != x) return false;
  const ir::Tensor* hidden = builder.constant_of(equal->inputs[1]);
  return equal->get(ir::attr::relation) == static_cast<int64_t>(Relation::kEq) &&
         hidden != nullptr && ir::element_count(hidden->shape) == 1 &&
         std::isinf(element(*hidden, 0)) && element(*hidden, 0) < 0;
}

bool is_zero(const ir::Tensor* tensor) {
  if (tensor == nullptr) return false;
  return std::all_of(tensor->bytes.begin(), tensor->bytes.end(),
                     [](auto byte) { return byte == decltype(byte){}; });
}

/// Returns true for a softmax whose rows with only -inf elements are replaced by 0. The IR's
/// softmax returns 0 for such rows.
bool is_safe_softmax(const Builder& builder, ValueId condition, ValueId zero, ValueId softmax) {
  const ir::Op* op = builder.producer(softmax);
  return op != nullptr && op->kind == OpKind::softmax && is_zero(builder.constant_of(zero)) &&
         is_all_masked_condition(builder, condition, op->inputs[0], op->get(ir::attr::dim));
}

/// Returns the only truth value of a condition; nothing if it has several or is computed.
std::optional<bool> only_truth(const Builder& builder, ValueId condition) {
  const ir::Op* op = builder.producer(condition);
  const ValueId source = op != nullptr && op->kind == OpKind::expand ? op->inputs[0] : condition;
  const ir::Tensor* held = builder.constant_of(source);
  if (held == nullptr || held->bytes.empty()) return std::nullopt;
  const bool first = element(*held, 0) != 0;
  const auto count = static_cast<size_t>(ir::element_count(held->shape));
  for (size_t i = 1; i < count; ++i) {
    if ((element(*held, i) != 0) != first) return std::nullopt;
  }
  return first;
}

}  // namespace

namespace handlers {

/// 1 where the class equals the index along a new last dimension, else 0.
Status one_hot(Call& call) {
  THIMBLE_TRY(const ValueId classes, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t count, call.integer("num_classes", -1));
  if (count < 1) return unsupported("num_classes is {}: give the number of classes", count);
  ir::Shape shape = call.shape(classes);
  shape.push_back(1);
  THIMBLE_TRY(const ValueId column, call.reshape(classes, shape));
  const DType dtype = call.builder().graph.type(classes).dtype;
  THIMBLE_TRY(ir::Tensor all, call.new_constant(dtype, {count}));
  for (int64_t i = 0; i < count; ++i) {
    set_element(all, static_cast<size_t>(i), static_cast<double>(i));
  }
  THIMBLE_TRY(const ValueId here,
              call.add(OpKind::compare, {column, call.constant_value("classes", std::move(all))},
                       {{ir::attr::relation, static_cast<int64_t>(Relation::kEq)}}));
  const ValueId one = call.constant_value("one", filled(DType::kI64, {}, 1));
  const ValueId zero = call.constant_value("zero", filled(DType::kI64, {}, 0));
  return call.result(call.add(OpKind::where, {here, one, zero}));
}

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
  return elementwise_extreme(call, OpKind::maximum);
}
Status minimum(Call& call) {
  return elementwise_extreme(call, OpKind::minimum);
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
Status bitwise_shift(Call&) {
  return unsupported("a shift of a tensor that is not int32 or int64");
}
Status bitwise_xor(Call& call) {
  return bitwise(call, OpKind::compare, unequal());
}
Status logical_and(Call& call) {
  return truths_of_both(call, OpKind::logical_and);
}
Status logical_not(Call& call) {
  return negated(call);
}
Status logical_or(Call& call) {
  return truths_of_both(call, OpKind::logical_or);
}
Status logical_xor(Call& call) {
  return truths_of_both(call, OpKind::compare, unequal());
}

Status where(Call& call) {
  THIMBLE_TRY(const ValueId condition, as_bool(call, "condition"));
  THIMBLE_TRY(const DType dtype, selected_dtype(call, "self", "other"));
  THIMBLE_TRY(const ValueId a, operand_as(call, "self", dtype));
  THIMBLE_TRY(const ValueId b, operand_as(call, "other", dtype));
  if (is_safe_softmax(call.builder(), condition, a, b)) return call.result(b);
  if (const auto truth = only_truth(call.builder(), condition)) {
    auto shape = ir::broadcast_shape(call.shape(a), call.shape(b));
    if (shape) shape = ir::broadcast_shape(*shape, call.shape(condition));
    if (!shape) return bad_input("condition, self and other do not broadcast");
    return call.result(call.add(OpKind::expand, {*truth ? a : b}, {{ir::attr::shape, *shape}}));
  }
  return call.result(call.add(OpKind::where, {condition, a, b}));
}

Status masked_fill(Call& call) {
  THIMBLE_TRY(const ValueId mask, as_bool(call, "mask"));
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const DType dtype = call.builder().graph.type(x).dtype;
  THIMBLE_TRY(const ValueId value, operand_as(call, "value", dtype));
  return call.result(call.add(OpKind::where, {mask, value, x}));
}

Status tril(Call& call) {
  return triangle(call, true);
}
Status triu(Call& call) {
  return triangle(call, false);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
