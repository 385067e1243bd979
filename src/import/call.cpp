// SPDX-License-Identifier: Apache-2.0
#include "import/call.h"

#include <algorithm>

#include "import/constants.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;
using ir::ValueId;

Status Call::result(Result<ValueId> value) {
  THIMBLE_TRY(const ValueId id, std::move(value));
  if (is_in_place(short_target(node_.target))) return write_self(id);
  const auto names = output_names();
  if (!names.empty()) context_.tensors.bind(names.front(), id);
  return ok();
}

Status Call::results(const std::vector<ValueId>& values) {
  const auto names = output_names();
  for (size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
    context_.tensors.bind(names[i], values[i]);
  }
  return ok();
}

Status Call::write_self(ValueId value) {
  if (node_.inputs.empty()) return bad_input("an in-place operator without arguments");
  const auto* self = std::get_if<pt2::TensorName>(&node_.inputs.front().value);
  if (self == nullptr) return wrong(node_.inputs.front().name, "a tensor");
  THIMBLE_TRY(const ValueId before, context_.tensors.read(self->name, source_));
  const ir::Type type = context_.builder.graph.type(before);
  const ir::Tensor* known = context_.builder.constant_of(value);
  if (known != nullptr && known->dtype != type.dtype &&
      context_.builder.constant_of(before) != nullptr) {
    THIMBLE_TRY(value, converted_constant("", *known, type.dtype));
  }
  if (context_.builder.graph.type(value).dtype != type.dtype) {
    return unsupported("it writes {} into {}",
                       ir::dtype_name(context_.builder.graph.type(value).dtype),
                       ir::dtype_name(type.dtype));
  }
  THIMBLE_TRY(value, add(ir::OpKind::expand, {value}, {{ir::attr::shape, type.shape}}));
  THIMBLE_CHECK(context_.tensors.write(self->name, value, source_));
  const auto names = output_names();
  if (!names.empty()) context_.tensors.bind_view(names.front(), self->name, {});
  return ok();
}

Status Call::views(std::vector<View> views, std::string_view base) {
  THIMBLE_TRY(const pt2::Argument* argument, given(base));
  const auto* self = std::get_if<pt2::TensorName>(argument);
  if (self == nullptr) return wrong(base, "a tensor");
  const auto names = output_names();
  if (names.size() != views.size()) {
    return bad_input("the node has {} outputs, expected {}", names.size(), views.size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    context_.tensors.bind_view(names[i], self->name, std::move(views[i]));
    THIMBLE_CHECK(context_.tensors.read(names[i], source_));  // checks it and records this source
  }
  return ok();
}

Status Call::same(std::string_view base) {
  const pt2::TensorMeta* from = meta(base);
  const pt2::TensorMeta* to = result_meta();
  if (from != nullptr && to != nullptr && from->strides == to->strides &&
      from->dtype == to->dtype) {
    return view({}, base);
  }
  THIMBLE_TRY(const ValueId value, any_tensor(base));
  return result(value);
}

std::vector<std::string> Call::output_names() const {
  std::vector<std::string> names;
  for (const pt2::Argument& output : node_.outputs) {
    if (const auto* one = std::get_if<pt2::TensorName>(&output)) {
      names.push_back(one->name);
    } else if (const auto* list = std::get_if<std::vector<pt2::TensorName>>(&output)) {
      for (const pt2::TensorName& name : *list) names.push_back(name.name);
    }
  }
  return names;
}

std::string Call::result_name() const {
  const auto names = output_names();
  return names.empty() ? node_.name : names.front();
}

const pt2::TensorMeta* Call::meta(std::string_view argument) const {
  const pt2::Argument* found = find(argument);
  const auto* name = found == nullptr ? nullptr : std::get_if<pt2::TensorName>(found);
  return name == nullptr ? nullptr : context_.meta(name->name);
}

const pt2::TensorMeta* Call::result_meta() const {
  if (node_.outputs.empty()) return nullptr;
  const auto* name = std::get_if<pt2::TensorName>(&node_.outputs.front());
  return name == nullptr ? nullptr : context_.meta(name->name);
}

Status Call::bind_dynamic_scale() {
  // With the scale 1 and the zero point 0, arithmetic with them, as after `_int_mm`, keeps the real
  // numbers.
  std::vector<ValueId> values;
  for (const std::string& name : output_names()) {
    const pt2::TensorMeta* meta = context_.meta(name);
    if (meta == nullptr) return unsupported("a result is not a tensor");
    THIMBLE_TRY(const Ints sizes, context_.symbols.values(meta->sizes));
    const bool is_scale = values.empty();
    const ir::DType dtype = is_scale ? ir::DType::kF32 : ir::DType::kI32;
    values.push_back(
        constant_value(is_scale ? "scale" : "zero_point", filled(dtype, sizes, is_scale ? 1 : 0)));
    context_.dynamic_scales.insert(name);
  }
  return results(values);
}

bool Call::is_dynamic_scale(std::string_view argument) const {
  const pt2::Argument* found = find(argument);
  const auto* name = found == nullptr ? nullptr : std::get_if<pt2::TensorName>(found);
  return name != nullptr && context_.dynamic_scales.contains(name->name);
}

Result<ValueId> Call::add(ir::OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
  return context_.builder.add(kind, std::move(inputs), std::move(attrs), source_, result_name());
}

Result<ValueId> Call::apply(const View& view, ValueId value) {
  return import_pt2::apply(context_.builder, view, value, source_, result_name());
}

Result<ValueId> Call::write_through(const View& view, ValueId base, ValueId value) {
  return import_pt2::write_through(context_.builder, view, base, value, source_, result_name());
}

Result<ValueId> Call::reshape(ValueId value, ir::Shape shape) {
  return add(ir::OpKind::reshape, {value}, {{ir::attr::shape, std::move(shape)}});
}

Result<ValueId> Call::scaled(ValueId value, double factor) {
  if (factor == 1) return value;
  return add(ir::OpKind::mul, {value, scalar(factor)});
}

ValueId Call::scalar(double value) {
  return constant_value("scalar", filled(ir::DType::kF32, {}, value));
}

ValueId Call::constant_value(std::string_view role, ir::Tensor tensor) {
  std::string name = result_name();
  if (!role.empty()) name += fmt::format("_{}", role);
  return context_.builder.constant(name, std::move(tensor));
}

Status Call::check_constant(ir::DType dtype, const ir::Shape& shape) const {
  const auto count = shape.empty() ? 1 : ir::checked_element_count(shape);
  const auto element = static_cast<int64_t>(ir::dtype_bytes(dtype));
  const Builder& builder = context_.builder;
  if (count && *count <= (builder.constant_bytes_left() - new_bytes_) / element) return ok();
  return unsupported("with a constant of shape {}, {}", ir::list_text(shape),
                     builder.limit_of_constants());
}

Result<ValueId> Call::converted_constant(std::string_view role, const ir::Tensor& from,
                                         ir::DType dtype) {
  THIMBLE_CHECK(check_constant(dtype, from.shape));
  return constant_value(role, converted(from, dtype));
}

Status Call::check_list(int64_t count, size_t element_bytes) {
  const auto bytes_left = std::max<int64_t>(0, context_.builder.constant_bytes_left());
  const int64_t count_max = bytes_left / static_cast<int64_t>(element_bytes);
  if (count > count_max) {
    return unsupported("{} positions are computed at import, expected at most {}", count,
                       count_max);
  }
  return context_.builder.count_computed(count);
}

Result<ir::Tensor> Call::new_constant(ir::DType dtype, const ir::Shape& shape, double value) {
  THIMBLE_CHECK(check_constant(dtype, shape));
  THIMBLE_CHECK(context_.builder.count_computed(ir::element_count(shape)));
  ir::Tensor constant = filled(dtype, shape, value);
  new_bytes_ += static_cast<int64_t>(constant.bytes.size());
  return constant;
}

bool is_in_place(std::string_view target) {
  const size_t dot = target.rfind('.');
  return dot != std::string_view::npos && dot > 1 && target[dot - 1] == '_' &&
         target[dot - 2] != '_' && target[dot - 2] != '.';
}

std::string_view short_target(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  return target;
}

std::optional<int64_t> normalized_dim(int64_t dim, size_t rank) {
  // PyTorch accepts dimensions 0 and -1 for a scalar.
  const int64_t count = rank == 0 ? 1 : static_cast<int64_t>(rank);
  if (dim < -count || dim >= count) return std::nullopt;
  return dim < 0 ? dim + count : dim;
}

}  // namespace thimble::import_pt2
