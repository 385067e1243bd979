// SPDX-License-Identifier: Apache-2.0
// Load of a program from records: verifies each element once, in file order, and calls check() of
// each kernel.

#include "runtime/exec/load.h"
#include "runtime/exec/record_decode.h"
#include "runtime/exec/state.h"

namespace thimble::runtime {
namespace {

using abi::RecordShape;

constexpr uint32_t kElementsMax = kernels::kMaxTensorBytes / 8;  // for elements of up to 8 bytes

/// Sizes and dim_order of a RecordShape for check_shape().
struct RecordSizes {
  const RecordShape& shape;
  THIMBLE_INLINE uint32_t size(uint32_t i) const {
    return reinterpret_cast<const uint32_t*>(&shape + 1)[i];
  }
  THIMBLE_INLINE uint32_t dim(uint32_t i) const { return shape.dim_order[i]; }
};

constexpr uint32_t kShapeHeaderWords = sizeof(RecordShape) / 4;

/// Verifies the shape at the start of `words` words.
THIMBLE_INLINE bool check_record_shape(const RecordShape& shape, uint32_t words) {
  if (words < kShapeHeaderWords) return false;
  const uint32_t rank = shape.rank;
  if (rank > abi::kMaxRank || words - kShapeHeaderWords < rank) return false;
  uint32_t elements;
  return check_shape<kElementsMax>(RecordSizes{shape}, rank, 1, elements) &&
         elements == shape.elements;
}

/// Returns true if the place is kPlaceNone, or the index of an input that refers back to this
/// tensor.
bool is_input_or_none(const RecordProgram& records, uint32_t index) {
  const uint32_t place = records.places[index];
  if (place == abi::kPlaceNone) return true;
  const uint32_t input = place - abi::kPlaceInput;
  return input < records.header->inputs && records.inputs[input] == index;
}

/// Verifies that each tensor is inside the memory that its place refers to. Tensors refer to shapes
/// in file order, so that each shape is verified once. If `decoded_tensors` is not null, it
/// receives the kernels' view of each tensor.
THIMBLE_FAST Status check_tensors(const Model& model, kernels::Tensor* decoded_tensors) {
  const RecordProgram& records = model.records;
  const abi::RecordTensor* tensor = records.tensors;
  const abi::RecordTensor* const end = tensor + records.header->tensors;
  const uint32_t* place_at = records.places;
  const auto arena = reinterpret_cast<uintptr_t>(model.arena);
  const uint32_t arena_bytes = arena_bytes_of(records);
  const uint32_t constants_bytes = records.header->constants_bytes;
  uint32_t shape_at = 0;
  while (tensor != end) {
    if (tensor->shape != shape_at) return Status::kCorrupt;
    const auto& shape = *reinterpret_cast<const RecordShape*>(records.shapes + shape_at);
    if (!check_record_shape(shape, records.header->shape_words - shape_at)) return Status::kCorrupt;
    const uint32_t elements = shape.elements;
    const bool is_verified = elements != 0;
    do {
      const uint32_t dtype = tensor->dtype;
      const uint32_t element = element_bytes(dtype);
      if (element == 0) return Status::kUnsupported;
      const uint32_t bytes = elements * element;
      uint32_t packed_fields = shape.rank | dtype << kDTypeShift;
      const uint32_t place = *place_at++;
      void* data;
      if (place < abi::kPlaceConstant) {
        if (!is_valid_planned(place, bytes, element, arena_bytes)) return Status::kCorrupt;
        data = reinterpret_cast<void*>(arena + place);
      } else if (place < abi::kPlaceInput) {
        const uint32_t offset = place - abi::kPlaceConstant;
        if (!is_sum_inside(offset, bytes, constants_bytes) ||
            offset % abi::kConstantAlignment != 0) {
          return Status::kCorrupt;
        }
        data = const_cast<uint8_t*>(records.constants + offset);
        packed_fields |= kIsConstant;
      } else {
        if (!is_input_or_none(records, static_cast<uint32_t>(tensor - records.tensors)))
          return Status::kCorrupt;
        data = nullptr;  // no buffer yet
        if (place == abi::kPlaceNone) packed_fields |= kIsNull;
      }
      if (decoded_tensors != nullptr)
        make_tensor(&shape + 1, shape.dim_order, bytes, data, packed_fields, is_verified,
                    *decoded_tensors++);
    } while (++tensor != end && tensor->shape == shape_at);
    shape_at += kShapeHeaderWords + shape.rank;
  }
  return Status::kOk;
}

THIMBLE_FAST const kernels::Kernel* find_kernel_by_key(const kernels::KernelTable& table,
                                                       uint32_t key) {
  uint32_t first = 0;
  if (table.by_key == nullptr) {
    for (; first < table.count; ++first) {
      if (table.kernels[first]->key == key) return table.kernels[first];
    }
    return nullptr;
  }
  // Binary search for the first key that is not lower.
  const kernels::Kernel* const* const rows = table.by_key;
  uint32_t last = table.count;
  while (first != last) {
    const uint32_t middle = (first + last) / 2;
    if (rows[middle]->key < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == table.count || rows[first]->key != key) return nullptr;
  return rows[first];
}

template <uint32_t kArguments>
THIMBLE_FAST THIMBLE_OUT_OF_LINE Status check_call(const Model& model,
                                                   const kernels::Tensor* decoded_tensors,
                                                   const uint16_t* operands,
                                                   const kernels::Kernel& kernel) {
  RecordCall<kArguments> decoded(model, operands, record_list_item);
  const Status status = decode_call<true>(decoded_tensors, kernel, decoded, decoded.args());
  return status == Status::kOk ? kernel.check(decoded.call) : status;
}

/// See exec/load.h.
struct RecordLoader {
  Model& model;
  const PteRegions& file;
  const kernels::KernelTable& kernels;
  const abi::RecordsHeader* header = nullptr;
  const uint32_t* keys = nullptr;
  const uint16_t* at = nullptr;
  const uint16_t* end = nullptr;
  uint32_t operators = 0;
  kernels::Tensor* decoded_tensors = nullptr;

  THIMBLE_INLINE Status open(size_t& arena_bytes, size_t&) {
    THIMBLE_RETURN_IF_ERROR(open_records(file.segments, model.records));
    const abi::RecordsHeader& found = *model.records.header;
    if (found.state_at != 0) {
      model.state = file.segments.data + found.state_at;
      const ByteRegion state = {model.state, found.state_bytes};
      THIMBLE_RETURN_IF_ERROR(check_state(state, arena_bytes_of(model.records)));
    }
    header = model.records.header;
    arena_bytes = arena_bytes_of(model.records);
    return check_inputs_and_outputs();
  }

  /// Checks that inputs and outputs are indices of present tensors, and that each input is planned
  /// or has the place of its own input index.
  THIMBLE_INLINE Status check_inputs_and_outputs() const {
    const RecordProgram& records = model.records;
    const uint32_t inputs = header->inputs;
    const uint32_t all = inputs + header->outputs;
    for (uint32_t i = 0; i < all; ++i) {
      const uint32_t index = records.inputs[i];  // the outputs follow the inputs
      if (index >= header->tensors) return Status::kCorrupt;
      const uint32_t place = records.places[index];
      if (place == abi::kPlaceNone) return Status::kCorrupt;
      if (i >= inputs || place < abi::kPlaceConstant) continue;
      if (place != abi::kPlaceInput + i) return Status::kCorrupt;
    }
    return Status::kOk;
  }

  uint32_t input_count() const { return header->inputs; }
  bool is_input_planned(uint32_t i) const {
    return is_planned(model.records, model.records.inputs[i]);
  }
  uint32_t operator_count() const { return header->operators; }
  uint32_t call_count() const { return header->calls; }

  THIMBLE_INLINE Status check_values() {
    const RecordProgram& records = model.records;
    at = records.calls;
    end = at + header->call_words;
    operators = header->operators;
    keys = operators_of(records);
    const size_t bytes = header->tensors * sizeof *decoded_tensors;
    if (model.arena != nullptr && bytes <= arena_bytes_of(records))
      decoded_tensors = reinterpret_cast<kernels::Tensor*>(model.arena);
    return check_tensors(model, decoded_tensors);
  }

  THIMBLE_INLINE const kernels::Kernel* find_kernel(uint32_t row) const {
    return find_kernel_by_key(kernels, keys[row]);
  }

  THIMBLE_INLINE Status check_next_call() {
    if (at == end || *at >= operators) return Status::kCorrupt;
    const kernels::Kernel& kernel = kernel_of(*this, *at);
    const uint16_t* const operands = at + 1;
    const uint32_t arguments = arguments_of(kernel);
    if (arguments > static_cast<uint32_t>(end - operands)) return Status::kCorrupt;
    at = operands + arguments;
    return arguments <= kFewArguments
               ? check_call<kFewArguments>(model, decoded_tensors, operands, kernel)
               : check_call<abi::kMaxArgs>(model, decoded_tensors, operands, kernel);
  }
};

}  // namespace

Status load_records(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                    const Memory* memory, MemoryLayout& layout) {
  RecordLoader loader = {model, file, kernels};
  THIMBLE_RETURN_IF_ERROR(check_values(loader, memory, layout));
  THIMBLE_RETURN_IF_ERROR(check_calls(loader));
  return loader.at == loader.end ? Status::kOk : Status::kCorrupt;
}

}  // namespace thimble::runtime
