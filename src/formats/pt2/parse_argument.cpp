// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/parse_argument.h"

#include <limits>
#include <utility>

#include "formats/pt2/parse_list.h"

namespace thimble::formats::pt2 {

using json::Value;

namespace {

// --- scalars -----------------------------------------------------------------------------------

Result<std::string> parse_string(const Value& value) {
  THIMBLE_TRY(const std::string_view text, value.as_string());
  return std::string(text);
}
Result<int64_t> parse_int(const Value& value) {
  return value.as_int();
}
Result<double> parse_float(const Value& value) {
  return value.as_float();
}
Result<bool> parse_bool(const Value& value) {
  return value.as_bool();
}

/// Parses an enumeration of the schema: values 0 to `last`. A larger value is an error, because it
/// would be misread silently.
template <typename Enum, Enum last>
Result<Enum> parse_enum(const Value& value) {
  THIMBLE_TRY(const int64_t code, value.as_int());
  if (code < 0 || code > static_cast<int64_t>(last))
    return value.expected("a number of the schema's enumeration");
  return static_cast<Enum>(code);
}

Result<ScalarType> parse_scalar_type(const Value& value) {
  THIMBLE_TRY(const ScalarType type, (parse_enum<ScalarType, ScalarType::kUint64>(value)));
  if (size_bytes(type) == 0) return value.expected("a known scalar type");
  return type;
}
constexpr auto parse_memory_format = parse_enum<MemoryFormat, MemoryFormat::kPreserve>;
constexpr auto parse_layout = parse_enum<Layout, Layout::kStrided>;

Result<Device> parse_device(const Value& value) {
  Device device;
  THIMBLE_TRY(const Value type, value.at("type"));
  THIMBLE_TRY(device.type, parse_string(type));
  THIMBLE_TRY(const std::optional<Value> index, value.maybe("index"));
  if (index) {
    THIMBLE_TRY(device.index, index->as_int());
  }
  return device;
}

Result<TensorName> parse_tensor_name(const Value& value) {
  if (!value.is_object()) return value.expected("a tensor");
  THIMBLE_TRY(const Value name_value, value.at("name"));
  TensorName tensor;
  THIMBLE_TRY(tensor.name, parse_name(name_value));
  if (tensor.name.empty()) return name_value.error("expected a name, found an empty string");
  return tensor;
}

Result<std::optional<TensorName>> parse_optional_tensor(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  if (tagged.key == "as_none") return std::optional<TensorName>();
  if (tagged.key != "as_tensor") return value.expected("as_tensor or as_none");
  THIMBLE_TRY(TensorName tensor, parse_tensor_name(tagged.value));
  return std::optional<TensorName>(std::move(tensor));
}

/// Parses `{"as_name": "sym_size"}` or `{"as_int": 3}`; the tag of the number depends on the type.
template <typename T, Result<T> (*parse_value)(const Value&)>
Result<SymScalar<T>> parse_sym_scalar(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  SymScalar<T> scalar;
  if (tagged.key == "as_name") {
    THIMBLE_TRY(scalar.name, parse_name(tagged.value));
    if (scalar.name.empty()) return tagged.value.error("expected a name, found an empty string");
  } else {
    THIMBLE_TRY(scalar.value, parse_value(tagged.value));
  }
  return scalar;
}
constexpr auto parse_sym_int_arg = parse_sym_scalar<int64_t, parse_int>;
constexpr auto parse_sym_float_arg = parse_sym_scalar<double, parse_float>;
constexpr auto parse_sym_bool_arg = parse_sym_scalar<bool, parse_bool>;

Result<CustomObject> parse_custom_object(const Value& value) {
  CustomObject object;
  THIMBLE_TRY(const Value name_value, value.at("name"));
  THIMBLE_TRY(object.name, parse_name(name_value));
  THIMBLE_TRY(const Value class_value, value.at("class_fqn"));
  THIMBLE_TRY(object.class_name, parse_name(class_value));
  return object;
}

// --- the table of tags -------------------------------------------------------------------------

using ParseTag = Result<Argument> (*)(const Value&);

template <auto parse>
Result<Argument> one(const Value& value) {
  THIMBLE_TRY(auto parsed, parse(value));
  return Argument(std::move(parsed));
}

template <auto parse>
Result<Argument> list(const Value& value) {
  THIMBLE_TRY(auto values, parse_list<parse>(value));
  return Argument(std::move(values));
}

Result<Argument> none(const Value&) {
  return Argument(None{});
}

Result<Argument> optional_tensor(const Value& value) {
  THIMBLE_TRY(auto tensor, parse_optional_tensor(value));
  return tensor ? Argument(std::move(*tensor)) : Argument(None{});
}

Result<Argument> operator_name(const Value& value) {
  THIMBLE_TRY(std::string name_text, parse_string(value));
  return Argument(OperatorName{std::move(name_text)});
}

constexpr std::pair<std::string_view, ParseTag> kTags[] = {
    {"as_none", none},
    {"as_tensor", one<parse_tensor_name>},
    {"as_tensors", list<parse_tensor_name>},
    {"as_optional_tensor", optional_tensor},
    {"as_optional_tensors", list<parse_optional_tensor>},
    {"as_int", one<parse_int>},
    {"as_ints", list<parse_int>},
    {"as_float", one<parse_float>},
    {"as_floats", list<parse_float>},
    {"as_bool", one<parse_bool>},
    {"as_bools", list<parse_bool>},
    {"as_string", one<parse_string>},
    {"as_strings", list<parse_string>},
    {"as_scalar_type", one<parse_scalar_type>},
    {"as_memory_format", one<parse_memory_format>},
    {"as_layout", one<parse_layout>},
    {"as_device", one<parse_device>},
    {"as_sym_int", one<parse_sym_int_arg>},
    {"as_sym_ints", list<parse_sym_int_arg>},
    {"as_sym_float", one<parse_sym_float_arg>},
    {"as_sym_floats", list<parse_sym_float_arg>},
    {"as_sym_bool", one<parse_sym_bool_arg>},
    {"as_sym_bools", list<parse_sym_bool_arg>},
    {"as_custom_obj", one<parse_custom_object>},
    {"as_operator", operator_name},
};

// --- tensor metadata ---------------------------------------------------------------------------

/// A size, stride or offset in elements. The product of two fits in int64_t.
Result<SymInt> parse_size(const Value& value) {
  constexpr int64_t kSizeMax = INT32_MAX;
  THIMBLE_TRY(SymInt size, parse_sym_int(value));
  if (!size.is_symbolic() && (size.value < 0 || size.value > kSizeMax)) {
    return value.error(fmt::format("expected 0 to {}, found {}", kSizeMax, size.value));
  }
  return size;
}

Result<std::vector<SymInt>> parse_sizes(const Value& meta, std::string_view key) {
  THIMBLE_TRY(const Value value, meta.at(key));
  THIMBLE_TRY(std::vector<SymInt> sizes, parse_list<parse_size>(value));
  if (sizes.size() > kRankMax) {
    return value.error(fmt::format("{} axes, at most {} are read", sizes.size(), kRankMax));
  }
  return sizes;
}

/// Counts a symbolic size as 1: the importer substitutes the size and checks again.
Status check_bytes_fit(const TensorMeta& meta, const Value& value) {
  int64_t bytes = size_bytes(meta.dtype);
  for (const SymInt& size : meta.sizes) {
    const int64_t factor = size.is_symbolic() ? 1 : size.value;
    if (factor == 0) return ok();
  }
  for (const SymInt& size : meta.sizes) {
    const int64_t factor = size.is_symbolic() ? 1 : size.value;
    if (bytes > std::numeric_limits<int64_t>::max() / factor) {
      return value.error(fmt::format("the size of {} overflows 63 bits", describe(meta)));
    }
    bytes *= factor;
  }
  return ok();
}

}  // namespace

Result<SymInt> parse_sym_int(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  SymInt result;
  if (tagged.key == "as_int") {
    THIMBLE_TRY(result.value, tagged.value.as_int());
    return result;
  }
  if (tagged.key != "as_expr") return value.expected("as_int or as_expr");
  THIMBLE_TRY(const Value expression, tagged.value.at("expr_str"));
  THIMBLE_TRY(result.expression, parse_string(expression));
  if (result.expression.empty()) {
    return expression.error("expected an expression, found an empty string");
  }
  THIMBLE_TRY(const std::optional<Value> hint, tagged.value.maybe("hint"));
  if (hint) {
    THIMBLE_TRY(const Value::Member hint_value, hint->tagged());
    // Hints with other tags belong to symbolic floats and booleans.
    if (hint_value.key == "as_int") {
      THIMBLE_TRY(result.hint, hint_value.value.as_int());
    }
  }
  return result;
}

Result<TensorMeta> parse_tensor_meta(const Value& value) {
  TensorMeta meta;
  THIMBLE_TRY(const Value dtype, value.at("dtype"));
  THIMBLE_TRY(meta.dtype, parse_scalar_type(dtype));
  THIMBLE_TRY(meta.sizes, parse_sizes(value, "sizes"));
  THIMBLE_TRY(meta.strides, parse_sizes(value, "strides"));
  THIMBLE_TRY(const Value offset, value.at("storage_offset"));
  THIMBLE_TRY(meta.storage_offset, parse_size(offset));
  THIMBLE_TRY(const Value layout, value.at("layout"));
  THIMBLE_TRY(meta.layout, parse_layout(layout));
  THIMBLE_TRY(const std::optional<Value> requires_grad, value.maybe("requires_grad"));
  if (requires_grad) {
    THIMBLE_TRY(meta.requires_grad, requires_grad->as_bool());
  }
  if (meta.layout == Layout::kStrided && meta.strides.size() != meta.sizes.size()) {
    return value.error(
        fmt::format("{} sizes but {} strides", meta.sizes.size(), meta.strides.size()));
  }
  THIMBLE_CHECK(check_bytes_fit(meta, value));
  return meta;
}

Result<Argument> parse_tagged(const Value::Member& tagged) {
  for (const auto& [tag, parse] : kTags) {
    if (tagged.key == tag) return parse(tagged.value);
  }
  return Argument(UnknownArgument{std::string(tagged.key)});
}

Result<Argument> parse_argument(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  return parse_tagged(tagged);
}

namespace {

struct NameVisitor {
  const std::function<Status(const std::string&, bool)>& visit;

  Status operator()(const TensorName& tensor) const { return visit(tensor.name, true); }
  Status operator()(const std::optional<TensorName>& tensor) const {
    return tensor ? visit(tensor->name, true) : ok();
  }
  template <typename T>
  Status operator()(const SymScalar<T>& scalar) const {
    return scalar.is_name() ? visit(scalar.name, false) : ok();
  }
  Status operator()(const CustomObject& object) const { return visit(object.name, false); }
  Status operator()(const std::string&) const { return ok(); }
  template <typename T>
  requires std::is_class_v<T> Status operator()(const std::vector<T>& elements) const {
    for (const T& element : elements) THIMBLE_CHECK((*this)(element));
    return ok();
  }
  template <typename T>
  Status operator()(const T&) const {
    return ok();
  }
};

}  // namespace

Status for_each_name(const Argument& argument,
                     const std::function<Status(const std::string&, bool)>& visit) {
  return std::visit(NameVisitor{visit}, argument);
}

}  // namespace thimble::formats::pt2
