// SPDX-License-Identifier: Apache-2.0
#include "import/pair_call.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;
using ir::OpKind;
using ir::ValueId;

std::string imaginary_name(std::string_view name) {
  return std::string(name) + ".imaginary";
}

const std::string* tensor_name(const pt2::Argument& argument) {
  const auto* tensor = std::get_if<pt2::TensorName>(&argument);
  return tensor == nullptr ? nullptr : &tensor->name;
}

Result<PairCall::Parts> PairCall::parts(std::string_view argument) {
  Parts result;
  if (!call_.is_tensor(argument)) {
    THIMBLE_TRY(const double number, call_.number(argument));
    result.real = call_.scalar(number);
    return result;
  }
  THIMBLE_TRY(result.real, call_.tensor(argument));
  const std::string* name = tensor_name(*node_.input(argument));
  if (pairs_.contains(*name)) {
    THIMBLE_TRY(result.imaginary, context_.tensors.read(imaginary_name(*name), source_));
  }
  return result;
}

Status PairCall::result(ValueId real, ValueId imaginary) {
  const std::string* name = tensor_name(node_.outputs[0]);
  if (name == nullptr) return bad_input("the node has no tensor as output");
  context_.tensors.bind(*name, real);
  context_.tensors.bind(imaginary_name(*name), imaginary);
  return ok();
}

Status PairCall::each_part(Handler handler) {
  THIMBLE_CHECK(handler(call_));
  pt2::Node copy = node_;
  for (pt2::NamedArgument& input : copy.inputs) rename(input.value);
  for (pt2::Argument& output : copy.outputs) rename(output);
  Call imaginary_call(context_, copy, source_);
  return handler(imaginary_call);
}

void PairCall::rename(pt2::Argument& argument) {
  auto* tensor = std::get_if<pt2::TensorName>(&argument);
  if (tensor == nullptr || !pairs_.contains(tensor->name)) return;
  const std::string name = imaginary_name(tensor->name);
  if (const pt2::TensorMeta* meta = context_.meta(tensor->name)) {
    context_.expanded.tensor_values.emplace(name, *meta);
  }
  tensor->name = name;
}

Result<ValueId> half(Call& call, ValueId x, int64_t dim, bool second) {
  const int64_t count = call.shape(x)[static_cast<size_t>(dim)] / 2;
  return call.add(OpKind::slice, {x},
                  {{ir::attr::dim, dim},
                   {ir::attr::start, second ? count : 0},
                   {ir::attr::end, second ? 2 * count : count}});
}

Result<ValueId> joined(Call& call, const PairCall::Parts& z, int64_t dim) {
  return call.add(OpKind::concat, {z.real, z.imaginary}, {{ir::attr::dim, dim}});
}

}  // namespace thimble::import_pt2
