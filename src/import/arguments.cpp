// SPDX-License-Identifier: Apache-2.0
// The argument reader of Call. Every message names the argument, what was found and what was
// expected. The caller adds the source line and the operator.

#include <algorithm>
#include <variant>

#include "import/call.h"
#include "import/constants.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;
using ir::ValueId;

const pt2::Argument* Call::find(std::string_view name) const {
  const pt2::Argument* argument = node_.input(name);
  return argument == nullptr || std::holds_alternative<pt2::None>(*argument) ? nullptr : argument;
}

Result<const pt2::Argument*> Call::given(std::string_view name) const {
  const pt2::Argument* argument = find(name);
  if (argument == nullptr) return bad_input("argument {} is missing", name);
  return argument;
}

Error Call::wrong(std::string_view name, std::string_view wanted) const {
  const pt2::Argument* argument = find(name);
  return bad_input("argument {} is of kind {}, expected {}", name,
                   argument == nullptr ? "none" : pt2::kind_name(*argument), wanted);
}

bool Call::is_tensor(std::string_view name) const {
  const pt2::Argument* argument = find(name);
  return argument != nullptr && std::holds_alternative<pt2::TensorName>(*argument);
}

bool Call::is_empty(std::string_view name) const {
  const pt2::Argument* argument = find(name);
  const auto* tensor = argument == nullptr ? nullptr : std::get_if<pt2::TensorName>(argument);
  return tensor != nullptr && context_.tensors.is_empty(tensor->name);
}

bool Call::is_string(std::string_view name) const {
  const pt2::Argument* argument = find(name);
  return argument != nullptr && std::holds_alternative<std::string>(*argument);
}

Result<ValueId> Call::any_tensor(std::string_view name) {
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  const auto* tensor_name = std::get_if<pt2::TensorName>(argument);
  if (tensor_name == nullptr) return wrong(name, "a tensor");
  return context_.tensors.read(tensor_name->name, source_);
}

Result<ValueId> Call::where_converted_to(ValueId value, ir::DType dtype) {
  const ir::Op* op = context_.builder.producer(value);
  if (op == nullptr || op->kind != ir::OpKind::where) return ir::kNoValue;
  std::vector<ValueId> operands = op->inputs;
  for (size_t i = 1; i < operands.size(); ++i) {
    const ir::Tensor* known = context_.builder.constant_of(operands[i]);
    if (known == nullptr) return ir::kNoValue;
    THIMBLE_TRY(operands[i], converted_constant("choice", *known, dtype));
  }
  return add(ir::OpKind::where, std::move(operands));
}

Result<ValueId> Call::as_float(ValueId value, std::string_view name) {
  const ir::Value& held = context_.builder.graph.value(value);
  if (held.type.dtype == ir::DType::kF32) return value;
  if (held.constant != nullptr) {
    THIMBLE_CHECK(check_constant(ir::DType::kF32, held.constant->shape));
    const std::string wide_name = held.name + "_float";
    return context_.builder.constant(wide_name, converted(*held.constant, ir::DType::kF32));
  }
  if (held.type.dtype == ir::DType::kBool)
    return add(ir::OpKind::where, {value, scalar(1), scalar(0)});
  THIMBLE_TRY(const ValueId choice, where_converted_to(value, ir::DType::kF32));
  if (choice != ir::kNoValue) return choice;
  if (auto table = position_table(value)) {
    table->values = converted(table->values, ir::DType::kF32);
    return table_row(*table, ir::Shape(held.type.shape));
  }
  if (held.type.dtype == ir::DType::kI32 || held.type.dtype == ir::DType::kI64) {
    return add(ir::OpKind::int_to_float, {value});
  }
  return unsupported(
      "argument {} is {}, only float32, bool, int32 and int64 are computed at run time", name,
      ir::type_text(held.type.dtype, held.type.shape));
}

Result<ValueId> Call::tensor(std::string_view name) {
  THIMBLE_TRY(const ValueId value, any_tensor(name));
  return as_float(value, name);
}

Result<ValueId> Call::optional_tensor(std::string_view name) {
  if (!has(name)) return ir::kNoValue;
  return tensor(name);
}

Result<std::vector<ValueId>> Call::tensors(std::string_view name) {
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  const auto* names = std::get_if<std::vector<pt2::TensorName>>(argument);
  if (names == nullptr) return wrong(name, "a list of tensors");
  std::vector<ValueId> result;
  for (const pt2::TensorName& each : *names) {
    if (context_.tensors.is_empty(each.name)) continue;
    THIMBLE_TRY(const ValueId value, context_.tensors.read(each.name, source_));
    result.push_back(value);
  }
  const ir::Graph& graph = context_.builder.graph;
  const bool is_float = std::any_of(result.begin(), result.end(), [&](ValueId id) {
    return graph.type(id).dtype == ir::DType::kF32;
  });
  for (ValueId& value : result) {
    if (!is_float) break;
    THIMBLE_TRY(value, as_float(value, name));
  }
  return result;
}

Result<std::vector<ValueId>> Call::optional_tensors(std::string_view name) {
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  std::vector<ValueId> result;
  if (const auto* all = std::get_if<std::vector<pt2::TensorName>>(argument)) {
    for (const pt2::TensorName& each : *all) {
      THIMBLE_TRY(const ValueId value, context_.tensors.read(each.name, source_));
      result.push_back(value);
    }
    return result;
  }
  const auto* some = std::get_if<std::vector<std::optional<pt2::TensorName>>>(argument);
  if (some == nullptr) return wrong(name, "a list of tensors");
  for (const auto& each : *some) {
    result.push_back(ir::kNoValue);
    if (!each) continue;
    THIMBLE_TRY(result.back(), context_.tensors.read(each->name, source_));
  }
  return result;
}

Result<const ir::Tensor*> Call::constant(std::string_view name) {
  THIMBLE_TRY(const ValueId value, tensor(name));
  const ir::Tensor* held = context_.builder.known(value);
  if (held == nullptr)
    return unsupported(
        "{} is computed at run time, a constant is needed: use a parameter, a buffer or a number",
        name);
  return held;
}

namespace {

Error at_run_time(std::string_view name) {
  return unsupported(
      "the number {} is computed at run time, a constant is needed: use a parameter, a buffer or a "
      "number",
      name);
}

}  // namespace

Result<int64_t> Call::size(const pt2::SymIntArg& argument) const {
  if (!argument.is_name()) return argument.value;
  const auto found = context_.sizes.find(argument.name);
  if (found == context_.sizes.end()) return at_run_time(argument.name);
  return found->second;
}

namespace {

Status check_limit(std::string_view name, int64_t value) {
  if (value >= -ir::kMaxElements && value <= ir::kMaxElements) return ok();
  return bad_input("argument {} is {}, expected {} to {}", name, value, -ir::kMaxElements,
                   ir::kMaxElements);
}

}  // namespace

Result<int64_t> Call::any_integer(std::string_view name, std::optional<int64_t> fallback) const {
  if (fallback && !has(name)) return *fallback;
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  if (const auto* whole = std::get_if<int64_t>(argument)) return *whole;
  if (const auto* symbol = std::get_if<pt2::SymIntArg>(argument)) return size(*symbol);
  return wrong(name, "an integer");
}

Result<int64_t> Call::integer(std::string_view name, std::optional<int64_t> fallback) const {
  THIMBLE_TRY(const int64_t value, any_integer(name, fallback));
  THIMBLE_CHECK(check_limit(name, value));
  return value;
}

std::optional<double> Call::known_number(const pt2::Argument& argument) const {
  if (const auto* real = std::get_if<double>(&argument)) return *real;
  if (const auto* truth = std::get_if<bool>(&argument)) return *truth ? 1.0 : 0.0;
  if (const auto* whole = std::get_if<int64_t>(&argument)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<pt2::SymFloatArg>(&argument)) {
    if (!real->is_name()) return real->value;
    const auto found = context_.reals.find(real->name);
    return found == context_.reals.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* symbol = std::get_if<pt2::SymIntArg>(&argument)) {
    const auto value = size(*symbol);
    return value.ok() ? std::optional(static_cast<double>(*value)) : std::nullopt;
  }
  return std::nullopt;
}

Result<double> Call::number(std::string_view name, std::optional<double> fallback) const {
  if (fallback && !has(name)) return *fallback;
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  if (const auto known = known_number(*argument)) return *known;
  if (std::holds_alternative<pt2::SymFloatArg>(*argument) ||
      std::holds_alternative<pt2::SymIntArg>(*argument)) {
    return at_run_time(name);
  }
  return wrong(name, "a number");
}

Result<bool> Call::boolean(std::string_view name, std::optional<bool> fallback) const {
  if (fallback && !has(name)) return *fallback;
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  const auto* truth = std::get_if<bool>(argument);
  return truth != nullptr ? Result<bool>(*truth) : wrong(name, "a boolean");
}

Result<std::string> Call::text(std::string_view name, std::optional<std::string> fallback) const {
  if (fallback && !has(name)) return *fallback;
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  const auto* held = std::get_if<std::string>(argument);
  return held != nullptr ? Result<std::string>(*held) : wrong(name, "a string");
}

Result<pt2::ScalarType> Call::scalar_type(std::string_view name, pt2::ScalarType fallback) const {
  const pt2::Argument* argument = find(name);
  if (argument == nullptr) return fallback;
  const auto* type = std::get_if<pt2::ScalarType>(argument);
  return type != nullptr ? Result<pt2::ScalarType>(*type) : wrong(name, "a scalar type");
}

Result<Ints> Call::integers(std::string_view name, std::optional<Ints> fallback) const {
  if (fallback && !has(name)) return *fallback;
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  if (const auto* list = std::get_if<Ints>(argument)) {
    for (const int64_t value : *list) THIMBLE_CHECK(check_limit(name, value));
    return *list;
  }
  if (const auto* list = std::get_if<std::vector<pt2::SymIntArg>>(argument)) {
    Ints result;
    for (const pt2::SymIntArg& each : *list) {
      THIMBLE_TRY(const int64_t value, size(each));
      THIMBLE_CHECK(check_limit(name, value));
      result.push_back(value);
    }
    return result;
  }
  // The archive stores an empty list as a list of tensors.
  const auto* none = std::get_if<std::vector<pt2::TensorName>>(argument);
  if (none != nullptr && none->empty()) return Ints{};
  if (!std::holds_alternative<int64_t>(*argument) &&
      !std::holds_alternative<pt2::SymIntArg>(*argument)) {
    return wrong(name, "a list of integers");
  }
  THIMBLE_TRY(const int64_t one, integer(name));
  return Ints{one};
}

Result<std::vector<double>> Call::numbers(std::string_view name) const {
  THIMBLE_TRY(const pt2::Argument* argument, given(name));
  if (const auto* list = std::get_if<std::vector<double>>(argument)) return *list;
  return wrong(name, "a list of numbers");
}

Result<Ints> Call::spatial(std::string_view name, size_t rank, int64_t fallback) const {
  THIMBLE_TRY(Ints values, integers(name, Ints(rank, fallback)));
  if (values.size() == 1) values.resize(rank, values[0]);
  if (values.size() == rank) return values;
  return bad_input("argument {} is {}, expected {} numbers", name, ir::list_text(values), rank);
}

Result<int64_t> Call::dimension(std::string_view name, size_t rank,
                                std::optional<int64_t> fallback) const {
  THIMBLE_TRY(const int64_t dim, integer(name, fallback));
  if (const auto found = normalized_dim(dim, rank)) return *found;
  return bad_input("argument {} is {}, expected a dimension of a tensor of rank {}", name, dim,
                   rank);
}

Result<Ints> Call::dimensions(std::string_view name, size_t rank) const {
  THIMBLE_TRY(Ints dims, integers(name));
  for (int64_t& dim : dims) {
    const auto found = normalized_dim(dim, rank);
    if (!found) {
      return bad_input("argument {} is {}, expected dimensions of a tensor of rank {}", name,
                       ir::list_text(dims), rank);
    }
    dim = *found;
  }
  return dims;
}

}  // namespace thimble::import_pt2
