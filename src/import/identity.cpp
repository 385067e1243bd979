// SPDX-License-Identifier: Apache-2.0
// Operators that do not change values. Memory formats are ignored: the IR addresses elements by
// logical index, and a pass decides the layout.

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using formats::pt2::ScalarType;
using ir::DType;
using ir::OpKind;
using ir::ValueId;

/// Expands `value` to the shape of `self`.
Status as_self(Call& call, ValueId value) {
  THIMBLE_TRY(const ValueId self, call.tensor("self"));
  return call.result(call.add(OpKind::expand, {value}, {{ir::attr::shape, call.shape(self)}}));
}

/// Returns the error for an unsupported conversion, with what does the same.
Error not_converted(ScalarType from, ScalarType type) {
  const auto error = [&](std::string_view advice) {
    return unsupported("from {} to {}: {}", formats::pt2::name(from), formats::pt2::name(type),
                       advice);
  };
  const bool pixels =
      from == ScalarType::kUint8 || from == ScalarType::kInt8 || from == ScalarType::kInt16;
  if (pixels && type == ScalarType::kFloat32) {
    return error(
        "export with a float32 example input; compile --io NAME=uint8 --input-std 1 (or int16) "
        "makes "
        "it an input of such integers");
  }
  if (from == ScalarType::kFloat32 && ir_dtype(type)) {
    return error(
        "a computed number is quantized, and its scale is chosen at compile time, so it has no "
        "exact "
        "integer part; return the float and round it in the application, or get the integer from "
        "argmax, topk or a sum of comparisons");
  }
  return error("compute in float32, int32, int64 or bool");
}

/// Converts booleans to 1 and 0, and a `where` between constants. Returns kNoValue for other
/// values.
Result<ValueId> converted_choice(Call& call, ValueId x, DType dtype) {
  if (call.builder().graph.type(x).dtype != DType::kBool) return call.where_converted_to(x, dtype);
  const ValueId one = call.constant_value("one", filled(dtype, {}, 1));
  const ValueId zero = call.constant_value("zero", filled(dtype, {}, 0));
  return call.add(OpKind::where, {x, one, zero});
}

/// Returns the type of an argument in the archive.
ScalarType type_of(Call& call, std::string_view argument) {
  const auto* meta = call.meta(argument);
  return meta == nullptr ? ScalarType::kUnknown : meta->dtype;
}

/// Converts constants to any type. A computed value can only be converted between bool, int32 and
/// int64, from one of them to float32, from an integer to bool, or if it is a `where` between
/// constants.
Status converted_to(Call& call, ScalarType type) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ScalarType from = type_of(call, "self");
  const auto dtype = ir_dtype(type);
  const ir::Tensor* constant = call.builder().constant_of(x);
  if (constant != nullptr && dtype && *dtype != constant->dtype) {
    return call.result(call.converted_constant("", *constant, *dtype));
  }
  const DType held = call.builder().graph.type(x).dtype;
  if (held == DType::kBool && type == ScalarType::kFloat32) {
    return call.result(call.tensor("self"));
  }
  if (held != DType::kBool && type == ScalarType::kBool) {
    return call.result(as_bool(call, "self"));
  }
  const bool is_same = dtype ? *dtype == held : type == from;
  if (!is_same && dtype) {
    THIMBLE_TRY(const ValueId y, converted_choice(call, x, *dtype));
    if (y != ir::kNoValue) return call.result(y);
    if (auto table = call.position_table(x)) {
      table->values = converted(table->values, *dtype);
      return call.result(call.table_row(*table, ir::Shape(call.shape(x))));
    }
    if (type == ScalarType::kFloat32 && (held == DType::kI32 || held == DType::kI64)) {
      return call.result(call.tensor("self"));
    }
    THIMBLE_TRY(const ValueId whole, whole_as(call, x, *dtype));
    if (whole != ir::kNoValue) return call.result(whole);
  }
  if (!is_same) return not_converted(from, type);
  THIMBLE_TRY(const bool copies, call.boolean("copy", false));
  return copies ? call.result(x) : call.same();
}

}  // namespace

namespace handlers {

Status nothing(Call&) {
  return ok();
}
Status alias(Call& call) {
  return call.view({});
}
Status contiguous(Call& call) {
  return call.same();
}

Status clone(Call& call) {
  return call.result(call.any_tensor("self"));
}

Status dropout(Call& call) {
  THIMBLE_TRY(const bool train, call.boolean("train", false));
  THIMBLE_TRY(const double probability, call.number("p", 0));
  if (train && probability != 0) {
    return unsupported("the model is in training mode; call model.eval() before the export");
  }
  return call.view({}, call.has("input") ? "input" : "self");
}

/// Also returns which elements were kept: all.
Status native_dropout(Call& call) {
  THIMBLE_TRY(const bool train, call.boolean("train", true));
  THIMBLE_TRY(const double probability, call.number("p", 0));
  if (train && probability != 0) {
    return unsupported("the model is in training mode; call model.eval() before the export");
  }
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(ir::Tensor kept, call.new_constant(DType::kBool, call.shape(x), 1));
  return call.results({x, call.constant_value("kept", std::move(kept))});
}

Status to(Call& call) {
  THIMBLE_TRY(const ScalarType type, call.scalar_type("dtype", type_of(call, "self")));
  return converted_to(call, type);
}

Status type_as(Call& call) {
  return converted_to(call, type_of(call, "other"));
}

Status copy(Call& call) {
  THIMBLE_TRY(const ValueId self, call.any_tensor("self"));
  const DType dtype = call.builder().graph.type(self).dtype;
  THIMBLE_TRY(const ValueId source, operand_as(call, "src", dtype));
  return call.result(call.add(OpKind::expand, {source}, {{ir::attr::shape, call.shape(self)}}));
}

Status fill(Call& call) {
  if (call.is_tensor("value")) {
    THIMBLE_TRY(const ValueId value, call.tensor("value"));
    return as_self(call, value);
  }
  THIMBLE_TRY(const double value, call.number("value"));
  return as_self(call, call.scalar(value));
}

Status zero(Call& call) {
  return as_self(call, call.scalar(0));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
