// SPDX-License-Identifier: Apache-2.0
#include "executorch/kernels/call.h"

#include "abi/limits.h"
#include "abi/pte_format.h"
#include "executorch/tensor.h"

namespace thimble::executorch {
namespace {

namespace tag = abi::pte::value_tag;
using abi::Status;
using ::executorch::runtime::EValue;
using ::executorch::runtime::Tag;
using kernels::Arg;
using kernels::Call;

/// The tag that values of this type have in a file; kNone if no argument is of the type.
uint32_t file_tag(Tag type) {
  switch (type) {
    case Tag::None:
      return tag::kNull;
    case Tag::Tensor:
      return tag::kTensor;
    case Tag::Int:
      return tag::kInt;
    case Tag::Double:
      return tag::kDouble;
    case Tag::Bool:
      return tag::kBool;
    case Tag::String:
      return tag::kString;
    case Tag::ListInt:
      return tag::kIntList;
    case Tag::ListDouble:
      return tag::kDoubleList;
    case Tag::ListTensor:
      return tag::kTensorList;
    default:
      return tag::kNone;
  }
}

/// The tag that a letter of abi/pte_ops.def requires. Letters of several types are converted by the
/// kernel's normalize_arg, which also checks the type.
uint32_t required_tag(char letter) {
  switch (letter) {
    case 'T':
    case 't':
    case 's':
    case 'o':
      return tag::kTensor;
    case 'i':
      return tag::kInt;
    case 'b':
      return tag::kBool;
    case 'd':
      return tag::kDouble;
    case 'l':
      return tag::kIntList;
    default:
      return tag::kTensorList;  // R w
  }
}

/// Operands that the kernel only reads have an address and content when the kernel checks them,
/// which is what the kernels' checks require of a constant.
bool is_read_only(char letter) {
  return letter != 'o' && letter != 's' && letter != 'w';
}

Status read_tensor(const ::executorch::aten::Tensor& value, char letter, kernels::Tensor& tensor) {
  const Status status = view_tensor(value, tensor);
  tensor.is_constant = is_read_only(letter);
  return status;
}

Status read_ints(const EValue& value, kernels::IntList& ints) {
  const auto list = value.tryToIntList();
  if (!list.ok()) return Status::kCorrupt;
  if (list->size() > abi::kMaxIntList) return Status::kUnsupported;
  ints.count = static_cast<uint32_t>(list->size());
  for (uint32_t i = 0; i < ints.count; ++i) {
    ints.items[i] = static_cast<int32_t>((*list)[i]);
    if (ints.items[i] != (*list)[i]) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status read_tensors(const EValue& value, uint32_t& count) {
  const auto list = value.tryToTensorList();
  if (!list.ok()) return Status::kCorrupt;
  count = static_cast<uint32_t>(list->size());
  for (const auto& item : *list) {
    kernels::Tensor tensor;
    THIMBLE_RETURN_IF_ERROR(view_tensor(item, tensor));
  }
  return Status::kOk;
}

/// Writes the member of `arg` that belongs to the value's type.
Status read_value(const EValue& value, uint32_t type, char letter, Arg& arg) {
  switch (type) {
    case tag::kTensor:
      return read_tensor(value.toTensor(), letter, arg.tensor);
    case tag::kInt:
      arg.integer = value.toInt();
      return Status::kOk;
    case tag::kBool:
      arg.integer = value.toBool() ? 1 : 0;
      return Status::kOk;
    case tag::kDouble:
      arg.number = value.toDouble();
      return Status::kOk;
    case tag::kIntList:
      arg.ints = {};
      return read_ints(value, arg.ints);
    case tag::kTensorList:
      return read_tensors(value, arg.list);
    case tag::kDoubleList: {
      const auto list = value.toDoubleList();
      arg.items = {reinterpret_cast<const uint8_t*>(list.data()),
                   static_cast<uint32_t>(list.size())};
      return Status::kOk;
    }
    case tag::kString: {
      const auto text = value.toString();
      arg.items = {reinterpret_cast<const uint8_t*>(text.data()),
                   static_cast<uint32_t>(text.size())};
      return Status::kOk;
    }
    case tag::kNull:
      return Status::kOk;
    default:
      return Status::kCorrupt;
  }
}

Status read_argument(const kernels::Kernel& kernel, const EValue& value, char letter, Arg& arg) {
  const uint32_t type = file_tag(value.tag);
  if (kernels::is_multi_type(letter)) {
    THIMBLE_RETURN_IF_ERROR(read_value(value, type, letter, arg));
    return kernel.normalize_arg(letter, type, arg);
  }
  if (type == required_tag(letter)) return read_value(value, type, letter, arg);
  if (type != tag::kNull || letter != 't') return Status::kCorrupt;
  arg.tensor = {};
  arg.tensor.is_null = true;
  return Status::kOk;
}

/// Call::list_item of calls from ExecuTorch. read_tensors() has verified the items.
kernels::Tensor list_item(const Call& call, uint32_t argument, uint32_t index) {
  const auto& values = *static_cast<const Values*>(call.context);
  kernels::Tensor tensor;
  (void)view_tensor(values[argument]->toTensorList()[index], tensor);
  return tensor;
}

/// Arguments of a call without constructors: a call writes only those that it has.
struct Arguments {
  alignas(Arg) unsigned char storage[abi::kMaxArgs * sizeof(Arg)];
  Arg* data() { return reinterpret_cast<Arg*>(storage); }
};

}  // namespace

Status call_kernel(const kernels::Kernel& kernel, Values values) {
  const uint32_t count = kernel.count_in_file - 1U;
  if (values.size() != kernel.count_in_file || count > abi::kMaxArgs) return Status::kCorrupt;
  Arguments arguments;
  for (uint32_t i = 0; i < count; ++i) {
    THIMBLE_RETURN_IF_ERROR(
        read_argument(kernel, *values[i], kernel.arguments[i], arguments.data()[i]));
  }
  const Call call = {arguments.data(), &values, list_item};
  THIMBLE_RETURN_IF_ERROR(kernel.check(call));
  kernel.run(call);
  return Status::kOk;
}

}  // namespace thimble::executorch
