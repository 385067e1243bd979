// See decode.h. Objects are placed into the frame only for arguments that exist: clearing all
// twenty of them would cost more than decoding a native call's three.

#include "runtime/exec/decode.h"

#include <new>

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;
namespace tag = abi::pte::value_tag;

/// The address of a constant (verified); the file is flash, so the kernel must not write there.
Position constant_data(const Image& image, uint32_t index) {
  if (image.constant_data != nullptr) {
    return image.constant_data + load<uint32_t>(image.constants.item(index, 8));
  }
  const Vector storage = vector(image.constants.target(index), pte::buffer::kStorage);
  return storage.at != nullptr ? storage.item(0, 1) : nullptr;
}

/// The buffer that the caller gave for an unplanned tensor, which must be an input of the graph.
Status caller_data(const Model& model, uint32_t value_index, kernels::Tensor& tensor) {
  const Vector inputs = model.image.inputs;
  for (uint32_t i = 0; i < inputs.count(); ++i) {
    if (inputs.index(i) != value_index) continue;
    // Kernels only read it: an out argument is planned, see decode_argument.
      if (model.input_data != nullptr) tensor.data = const_cast<void*>(model.input_data[i]);
    return Status::kOk;
  }
  return tensor.bytes == 0 ? Status::kOk : Status::kUnsupported;
}

Status decode_list(const Image& image, Position payload, kernels::IntList& list) {
  const Vector items = vector(payload, pte::list_value::kItems);
  list.count = items.count();
  if (list.count > abi::kMaxIntList) return Status::kUnsupported;
  for (uint32_t i = 0; i < list.count; ++i) {
    const auto index = load<uint64_t>(items.item(i, 8));
    if (index >= image.values.count()) return Status::kCorrupt;
    const Position value = image.values.target(static_cast<uint32_t>(index));
    if (tag_of(value) != tag::kInt) return Status::kCorrupt;
    const auto number = scalar<int64_t>(payload_of(value), pte::scalar_value::kValue);
    list.items[i] = static_cast<int32_t>(number);
    if (list.items[i] != number) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status decode_tensor_list(const Model& model, Position payload, uint32_t& count) {
  const Vector items = vector(payload, pte::list_value::kItems);
  count = items.count();
  for (uint32_t i = 0; i < count; ++i) {
    kernels::Tensor item;
    const Status status = decode_tensor(model, items.index(i), item);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

kernels::Tensor list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const Frame& frame = *static_cast<const Frame*>(call.context);
  const Image& image = frame.model->image;
  const Position list = payload_of(image.values.target(frame.indices.index(arg)));
  kernels::Tensor tensor;
  (void)decode_tensor(*frame.model, vector(list, pte::list_value::kItems).index(index), tensor);
  return tensor;
}

/// What tag a value must have for a letter; 0 for a letter that there is not.
uint32_t tag_for(char letter) {
  switch (letter) {
    case 'T':
    case 't':
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
    case 'R':
      return tag::kTensorList;
    default:
      return tag::kNone;
  }
}

Status decode_argument(const Model& model, uint32_t value_index, char letter, kernels::Arg& arg) {
  const Image& image = model.image;
  if (value_index >= image.values.count()) return Status::kCorrupt;
  const Position value = image.values.target(value_index);
  const uint32_t kind = tag_of(value);
  if (kind == tag::kNull) {
    if (letter != 't') return Status::kUnsupported;
    new (&arg.tensor) kernels::Tensor;
    arg.tensor.is_null = true;
    return Status::kOk;
  }
  if (kind != tag_for(letter) || kind == tag::kNone) return Status::kCorrupt;
  const Position payload = payload_of(value);
  switch (kind) {
    case tag::kInt:
      arg.integer = scalar<int64_t>(payload, pte::scalar_value::kValue);
      return Status::kOk;
    case tag::kBool:
      arg.integer = scalar<uint8_t>(payload, pte::scalar_value::kValue) != 0;
      return Status::kOk;
    case tag::kDouble:
      arg.number = scalar<double>(payload, pte::scalar_value::kValue);
      return Status::kOk;
    case tag::kIntList:
      return decode_list(image, payload, *new (&arg.ints) kernels::IntList);
    case tag::kTensorList:
      return decode_tensor_list(model, payload, arg.list);
    default:
      // Only the arena is ever written: not the file, and not a caller's input.
      if (letter == 'o' && field(payload, pte::tensor::kAllocationInfo) == nullptr) {
        return Status::kCorrupt;
      }
      return decode_tensor(model, value_index, *new (&arg.tensor) kernels::Tensor);
  }
}

}  // namespace

Status decode_tensor(const Model& model, uint32_t value_index, kernels::Tensor& tensor) {
  const Position table = tensor_at(model.image, value_index);
  if (table == nullptr) return Status::kCorrupt;
  const Vector sizes = vector(table, pte::tensor::kSizes);
  const Vector dim_order = vector(table, pte::tensor::kDimOrder);
  const uint32_t rank = sizes.count();
  const auto type = scalar<uint8_t>(table, pte::tensor::kScalarType);
  tensor = {};
  tensor.rank = static_cast<uint8_t>(rank);
  tensor.dtype = static_cast<kernels::DType>(type);
  if (rank != 0) {
    tensor.sizes = reinterpret_cast<const int32_t*>(sizes.item(0, 4));
    tensor.dim_order = dim_order.item(0, 1);
  }
  tensor.bytes = element_bytes(type);
  for (uint32_t i = 0; i < rank; ++i) tensor.bytes *= sizes.index(i);

  const auto constant = scalar<uint32_t>(table, pte::tensor::kDataBufferIdx);
  if (constant != 0) {
    tensor.is_constant = true;
    tensor.data = const_cast<uint8_t*>(constant_data(model.image, constant));
    return Status::kOk;
  }
  if (const Position allocation = field(table, pte::tensor::kAllocationInfo)) {
    if (model.arena == nullptr) return Status::kOk;
    tensor.data = model.arena + scalar<uint32_t>(follow(allocation),
                                                 pte::allocation_details::kMemoryOffsetLow);
    return Status::kOk;
  }
  return caller_data(model, value_index, tensor);
}

Status decode_call(const Model& model, Vector indices, const char* letters, Frame& frame) {
  const uint32_t count = indices.count();
  if (count < 2) return Status::kCorrupt;
  if (count > abi::kMaxArgs) return Status::kUnsupported;
  frame.call = {frame.args(), &frame, list_item};
  frame.model = &model;
  frame.indices = indices;
  // The last index repeats that of the out tensor, as the return value.
  const uint32_t last = count - 1;
  for (uint32_t i = 0; i < last; ++i) {
    if (letters[i] == 0) return Status::kCorrupt;
    kernels::Arg* arg = new (frame.args() + i) kernels::Arg;
    const Status status = decode_argument(model, indices.index(i), letters[i], *arg);
    if (status != Status::kOk) return status;
  }
  return letters[last] == 0 && indices.index(last) == indices.index(last - 1) ? Status::kOk
                                                                              : Status::kCorrupt;
}

Instruction instruction_at(const Image& image, uint32_t index) {
  const Position instruction = image.instructions.target(index);
  const Position call = follow(field(instruction, pte::instruction::kInstrArgs));
  return {scalar<uint32_t>(call, pte::kernel_call::kOpIndex),
          vector(call, pte::kernel_call::kArgs)};
}

}  // namespace thimble::runtime
