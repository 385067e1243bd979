// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/record_decode.h"

namespace thimble::runtime {
namespace {

namespace tag = abi::pte::value_tag;

THIMBLE_INLINE void* address_of_place(const Model& model, uint32_t place) {
  if (place < abi::kPlaceConstant) {
    return model.arena != nullptr ? model.arena + place : nullptr;
  }
  // Kernels only read these: tensors that they write are planned.
  if (place < abi::kPlaceInput) {
    return const_cast<uint8_t*>(model.records.constants + (place - abi::kPlaceConstant));
  }
  if (place == abi::kPlaceNone || model.input_data == nullptr) return nullptr;
  return const_cast<void*>(model.input_data[place - abi::kPlaceInput]);
}

bool is_list(char letter) {
  return has_tag<tag::kIntList>(letter) || has_tag<tag::kTensorList>(letter);
}

}  // namespace

THIMBLE_FAST void decode_tensor(const Model& model, uint32_t index, kernels::Tensor& tensor) {
  const RecordProgram& records = model.records;
  const abi::RecordTensor record = records.tensors[index];
  const uint32_t place = records.places[index];
  const auto& shape = *reinterpret_cast<const abi::RecordShape*>(records.shapes + record.shape);
  const uint32_t bytes = shape.elements * known_element_bytes(record.dtype);
  uint32_t packed_fields = shape.rank | uint32_t{record.dtype} << kDTypeShift;
  if (place >= abi::kPlaceConstant && place < abi::kPlaceInput) packed_fields |= kIsConstant;
  if (place == abi::kPlaceNone) packed_fields |= kIsNull;
  void* const data = address_of_place(model, place);
  make_tensor(&shape + 1, shape.dim_order, bytes, data, packed_fields, bytes != 0, tensor);
}

kernels::Tensor record_list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const auto& context = *static_cast<const RecordCallContext*>(call.context);
  kernels::Tensor tensor;
  const int32_t* const list = context.model->records.lists + context.operands[arg];
  decode_tensor(*context.model, static_cast<uint32_t>(list[1 + index]), tensor);
  return tensor;
}

Status check_list_or_number(const RecordProgram& records, char letter, uint32_t operand) {
  if (is_list(letter)) {
    const uint32_t words = records.header->list_words;
    if (operand >= words) return Status::kCorrupt;
    const int32_t* const list = records.lists + operand;
    const auto count = static_cast<uint32_t>(list[0]);
    if (count > words - operand - 1) return Status::kCorrupt;
    if (has_tag<tag::kIntList>(letter)) return check_int_count(count);
    for (uint32_t i = 1; i <= count; ++i) {
      const auto tensor = static_cast<uint32_t>(list[i]);
      if (tensor >= records.header->tensors) return Status::kCorrupt;
      const uint32_t place = records.places[tensor];
      const bool is_planned = is_written<tag::kTensorList>(letter);
      if (place >= (is_planned ? abi::kPlaceConstant : abi::kPlaceNone)) return Status::kCorrupt;
    }
    return Status::kOk;
  }
  if (has_tag<tag::kString>(letter) || has_tag<tag::kDoubleList>(letter)) {
    return Status::kUnsupported;
  }
  if (operand >= records.header->numbers) return Status::kCorrupt;
  // A NaN encodes None of a `z` argument. Kernels read `y` arguments in the same way, so a `y` must
  // not be a NaN.
  constexpr uint64_t kInfinite = uint64_t{0x7FF} << 52;
  const auto bits = static_cast<uint64_t>(numbers_of(records)[operand]);
  return letter == 'y' && bits << 1 > kInfinite << 1 ? Status::kBadParameter : Status::kOk;
}

void decode_list_or_number(const RecordProgram& records, char letter, uint32_t operand,
                           kernels::Arg& arg) {
  if (!is_list(letter)) {
    const int64_t bits = numbers_of(records)[operand];
    const bool is_bool = has_tag<tag::kBool>(letter);
    arg.integer = is_bool ? static_cast<int64_t>(bits != 0) : bits;  // or bits of a double
    return;
  }
  const int32_t* const list = records.lists + operand;
  const auto count = static_cast<uint32_t>(list[0]);
  arg.list = count;  // for lists of integers this is ints.count
  static_assert(offsetof(kernels::IntList, count) == 0);
  if (has_tag<tag::kTensorList>(letter)) return;
  for (uint32_t i = 0; i < count; ++i) arg.ints.items[i] = list[1 + i];
}

}  // namespace thimble::runtime
