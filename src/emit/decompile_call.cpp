// SPDX-License-Identifier: Apache-2.0
#include "emit/decompile_call.h"

#include <algorithm>

#include "emit/check_arguments.h"

namespace thimble::emit {

namespace pte = formats::pte;
using ir::ValueId;

Status DecompilerCall::check(const abi::PteOpInfo& info) {
  out_at_ = std::string_view(info.arguments).find_first_of("ow");
  return check_arguments(plan_, args_, info);
}

Result<ValueId> DecompilerCall::tensor_or_none(size_t i) {
  if (is_none(i)) return ir::kNoValue;
  return tensor(i);
}
ValueId DecompilerCall::add_constant(std::string name, ir::Tensor tensor) {
  return graph_->add_constant(std::move(name),
                              std::make_shared<const ir::Tensor>(std::move(tensor)));
}

bool DecompilerCall::is_none(size_t i) const {
  return std::holds_alternative<pte::Null>(value(i));
}
int64_t DecompilerCall::integer(size_t i) const {
  if (const auto* boolean = std::get_if<pte::Bool>(&value(i))) return boolean->value ? 1 : 0;
  return std::get<pte::Int>(value(i)).value;
}
double DecompilerCall::number(size_t i) const {
  if (const auto* number = std::get_if<pte::Double>(&value(i))) return number->value;
  return static_cast<double>(integer(i));
}
std::vector<int64_t> DecompilerCall::integers(size_t i) const {
  std::vector<int64_t> result;
  if (is_none(i)) return result;
  for (const int64_t item : std::get<pte::IntList>(value(i)).items) {
    result.push_back(std::get<pte::Int>(plan_.values[static_cast<size_t>(item)]).value);
  }
  return result;
}
int64_t DecompilerCall::normalize_dim(int64_t dim, size_t of) const {
  const auto* tensor = std::get_if<pte::Tensor>(&value(of));
  if (dim >= 0 || tensor == nullptr) return dim;
  return dim + static_cast<int64_t>(tensor->sizes.size());
}
const std::vector<int32_t>& DecompilerCall::tensor_list(size_t i) const {
  return std::get<pte::TensorList>(value(i)).items;
}

Result<ValueId> add_op(DecompilerCall* call, ir::OpKind kind, size_t operands, ir::Attrs attrs) {
  std::vector<ValueId> values;
  for (size_t i = 0; i < operands; ++i) {
    THIMBLE_TRY(const ValueId value, call->tensor(i));
    values.push_back(value);
  }
  return call->graph().add(kind, std::move(values), std::move(attrs));
}

Result<int64_t> checked_dim(int64_t dim, size_t rank) {
  const auto end = static_cast<int64_t>(rank);
  const int64_t from_front = dim < 0 ? dim + end : dim;
  if (from_front < 0 || from_front >= end) return bad_input("no dimension {}", from_front);
  return from_front;
}

Result<std::vector<int64_t>> window_padding(const ir::Shape& out, const ir::Shape& image,
                                            const std::vector<int64_t>& pad,
                                            const std::vector<int64_t>& kernel,
                                            const std::vector<int64_t>& stride,
                                            const std::vector<int64_t>& dilation) {
  const bool pairs =
      kernel.size() == 2 && stride.size() == 2 && pad.size() == 2 && dilation.size() == 2;
  if (image.size() != 4 || out.size() != 4 || !pairs)
    return bad_input("is not a window over an image");
  std::vector<int64_t> result = {pad[0], pad[1], 0, 0};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t reach = (out[2 + k] - 1) * stride[k] + (kernel[k] - 1) * dilation[k] + 1;
    result[2 + k] = std::max<int64_t>(0, reach - image[2 + k] - pad[k]);
  }
  return result;
}

}  // namespace thimble::emit
