// SPDX-License-Identifier: Apache-2.0
// See flatbuffer_decode.h. The checked and the trusted version are instances of the same templates,
// so that run reads exactly what load has verified.

#include "runtime/exec/flatbuffer_decode.h"

#include "abi/freestanding.h"
#include "runtime/program/checks.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;
namespace tag = abi::pte::value_tag;

// --- Checks at load only -------------------------------------------------------------------------

/// Checks the fields that can make a tensor unsupported.
THIMBLE_OUT_OF_LINE Status check_rare_fields(CheckedAccess& access, Position tensor) {
  if (read_field<uint32_t>(tensor, pte::tensor::kStorageOffset) != 0) return Status::kUnsupported;
  if (read_field<uint8_t>(tensor, pte::tensor::kShapeDynamism) != 0) return Status::kUnsupported;
  if (field(tensor, pte::tensor::kExtraTensorInfo) == nullptr) return Status::kOk;
  TableKind kind("\10\4\1");
  const Position extra = access.verifier.child(tensor, pte::tensor::kExtraTensorInfo, kind);
  if (extra == nullptr) return Status::kCorrupt;
  const auto location = read_field<int8_t>(extra, pte::extra_tensor_info::kLocation);
  return location == pte::tensor_location::kSegment ? Status::kOk : Status::kUnsupported;
}

/// Finds a constant in the flatbuffer itself, where files without segments store them.
THIMBLE_OUT_OF_LINE Status find_buffer_checked(CheckedAccess& access,
                                               const FlatbufferProgram& flatbuffer, uint32_t index,
                                               uint32_t bytes, Position& data) {
  TableKind kind("\4");
  const Position buffer = access.verifier.table(flatbuffer.constants.item(index, 4), kind);
  if (buffer == nullptr) return Status::kCorrupt;
  const FlatVector storage = access.verifier.vector(buffer, pte::buffer::kStorage, 0);
  if (bytes > storage.count()) return Status::kCorrupt;
  data = bytes != 0 ? storage.item(0, 1) : nullptr;
  return Status::kOk;
}

THIMBLE_INLINE Status find_constant_checked(CheckedAccess& access,
                                            const FlatbufferProgram& flatbuffer, uint32_t index,
                                            uint32_t bytes, Position& data) {
  if (index >= flatbuffer.constants.count()) return Status::kCorrupt;
  if (flatbuffer.constant_data != nullptr) {
    const Position at = flatbuffer.constants.item(index, 8);
    const auto offset = read<uint32_t>(at);
    if (read<uint32_t>(at + 4) != 0 || !is_inside(offset, bytes, access.constant_bytes)) {
      return Status::kCorrupt;
    }
    data = flatbuffer.constant_data + offset;
  } else {
    Position found;  // a separate variable, because only `data` can then stay in a register
    THIMBLE_RETURN_IF_ERROR(find_buffer_checked(access, flatbuffer, index, bytes, found));
    data = found;
  }
  // The start of the file is aligned, so the result depends on the file and not on its address.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % abi::kConstantAlignment == 0;
  return aligned ? Status::kOk : Status::kCorrupt;
}

/// Checks that a planned tensor is inside the arena. The planned memories are stored one after
/// another in the arena; a tensor is not checked against the end of its own memory.
Status check_planned(const FlatbufferProgram& flatbuffer, const CheckedTable& allocation,
                     uint32_t bytes, uint32_t element) {
  const auto memory_id = read_field<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  const auto offset = read_field<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto high = read_field<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetHigh);
  if (high != 0 || offset > flatbuffer.arena_bytes) return Status::kCorrupt;
  uint32_t total = flatbuffer.arena_bytes;
  if (memory_id != 1) {
    if (memory_id == 0 || memory_id >= flatbuffer.memories.count()) return Status::kCorrupt;
    total -= memory_start(flatbuffer, memory_id);  // which is at most `total`
  }
  return is_valid_planned(offset, bytes, element, total) ? Status::kOk : Status::kCorrupt;
}

// --- Tensors -------------------------------------------------------------------------------------

/// Address of a constant; null if it is empty.
THIMBLE_INLINE Position find_constant(const FlatbufferProgram& flatbuffer, uint32_t index) {
  if (flatbuffer.constant_data != nullptr) {
    return flatbuffer.constant_data + read<uint32_t>(flatbuffer.constants.item(index, 8));
  }
  const FlatVector storage = vector(flatbuffer.constants.target(index), pte::buffer::kStorage);
  return storage.count() != 0 ? storage.item(0, 1) : nullptr;
}

/// Sets the address of an unplanned tensor, which must be an input of the graph, to the input
/// buffer of the application.
Status set_input_data(const Model& model, uint32_t value_index, kernels::Tensor& tensor) {
  const FlatVector inputs = model.flatbuffer.inputs;
  for (uint32_t i = 0; i < inputs.count(); ++i) {
    if (inputs.index_at(i) != value_index) continue;
    // Kernels only read it: decode_argument() requires that an out argument is planned.
    if (model.input_data != nullptr) tensor.data = const_cast<void*>(model.input_data[i]);
    return Status::kOk;
  }
  return tensor.bytes == 0 ? Status::kOk : Status::kUnsupported;
}

/// Sizes and dim_order of a tensor for check_shape().
struct FlatSizes {
  FlatVector sizes, dim_order;
  THIMBLE_INLINE uint32_t size(uint32_t i) const { return sizes.index_at(i); }
  THIMBLE_INLINE uint32_t dim(uint32_t i) const { return *dim_order.item(i, 1); }
};

constexpr uint32_t kBytesMax = 0x7FFFFFFF;  // kernels limit their tensors to kMaxTensorBytes
constexpr uint32_t kNoShape = 0xFFFFFFFF;

/// Size in bytes of a tensor; kNoShape if the shape is invalid.
THIMBLE_INLINE uint32_t check_flat_shape(const FlatSizes& shape, uint32_t rank, uint32_t element) {
  uint32_t bytes;
  return check_shape<kBytesMax>(shape, rank, element, bytes) ? bytes : kNoShape;
}
THIMBLE_FAST THIMBLE_OUT_OF_LINE uint32_t check_long_shape(FlatVector sizes, FlatVector dim_order,
                                                           uint32_t rank, uint32_t element) {
  return check_flat_shape({sizes, dim_order}, rank, element);
}

/// Size in bytes of a tensor, whose rank is at most abi::kMaxRank.
template <class Access>
THIMBLE_INLINE uint32_t bytes_of(FlatVector sizes, FlatVector dim_order, uint32_t rank,
                                 uint32_t element) {
  uint32_t bytes = element;
  if constexpr (Access::kChecked) {
    if (rank == 1) {  // inlined: nearly all shapes
      bytes = check_flat_shape({sizes, dim_order}, 1, element);
    } else if (rank != 0) {
      bytes = check_long_shape(sizes, dim_order, rank, element);
    }
  } else {
    for (uint32_t i = 0; i < rank; ++i) bytes *= sizes.index_at(i);
  }
  return bytes;
}

/// `at`: position of the offset to the Tensor table. `planned` is set to true if the tensor is in
/// the arena.
template <class Access>
THIMBLE_INLINE Status decode_tensor_payload(Access& access, const Model& model,
                                            uint32_t value_index, Position at,
                                            kernels::Tensor& tensor, bool& planned) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  const auto table = access.tensor(at);
  if constexpr (Access::kChecked) {
    if (table.at == nullptr) return Status::kCorrupt;
    THIMBLE_RETURN_IF_ERROR(has_rare_fields(table) ? check_rare_fields(access, table.at)
                                                   : Status::kOk);
  }
  const auto type = read_field<uint8_t>(table, pte::tensor::kScalarType);
  const uint32_t element = element_bytes(type);
  const FlatVector sizes = access.vector(table, pte::tensor::kSizes, 2);
  const FlatVector dim_order = access.vector(table, pte::tensor::kDimOrder, 0);
  const uint32_t rank = sizes.count();
  if constexpr (Access::kChecked) {
    if (element == 0 || rank > abi::kMaxRank) return Status::kUnsupported;
    if (dim_order.count() != rank) return Status::kCorrupt;
  }
  const uint32_t bytes = bytes_of<Access>(sizes, dim_order, rank, element);
  if (Access::kChecked && bytes == kNoShape) return Status::kCorrupt;
  const Position size_at = rank != 0 ? sizes.item(0, 4) : nullptr;
  const Position dim_at = rank != 0 ? dim_order.item(0, 1) : nullptr;
  make_tensor(size_at, dim_at, bytes, nullptr, rank | uint32_t{type} << kDTypeShift,
              Access::kChecked && bytes - 1 < kernels::kMaxTensorBytes, tensor);

  planned = false;
  const auto constant = read_field<uint32_t>(table, pte::tensor::kDataBufferIdx);
  const Position allocation_at = table.field(pte::tensor::kAllocationInfo);
  if (constant != 0) {
    if (allocation_at == nullptr) {
      Position data;
      if constexpr (Access::kChecked) {
        THIMBLE_RETURN_IF_ERROR(find_constant_checked(access, flatbuffer, constant, bytes, data));
      } else {
        data = find_constant(flatbuffer, constant);
      }
      tensor.is_constant = true;
      tensor.data = const_cast<uint8_t*>(data);  // kernels never write constants
      return Status::kOk;
    }
    // A planned tensor with an initial value is a state. It is supported only if the file has an
    // entry abi::kStateKey, which contains the initial content.
    if (Access::kChecked && flatbuffer.state == nullptr) return Status::kUnsupported;
  }
  if (allocation_at == nullptr) return set_input_data(model, value_index, tensor);
  const auto allocation = access.allocation(allocation_at);
  if constexpr (Access::kChecked) {
    if (allocation.at == nullptr) return Status::kCorrupt;
    THIMBLE_RETURN_IF_ERROR(check_planned(flatbuffer, allocation, bytes, element));
  }
  planned = true;
  if (model.arena == nullptr) return Status::kOk;
  uint8_t* data =
      model.arena + read_field<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto memory_id = read_field<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  if (memory_id != 1) data += memory_start(flatbuffer, memory_id);
  tensor.data = data;
  return Status::kOk;
}

// --- Lists ---------------------------------------------------------------------------------------

template <class Access, class AnyTable>
Status decode_ints(Access& access, const FlatbufferProgram& flatbuffer, const AnyTable& table,
                   kernels::IntList& list) {
  const FlatVector items = access.vector(table, pte::list_value::kItems, 3);
  list.count = items.count();
  if constexpr (Access::kChecked) THIMBLE_RETURN_IF_ERROR(check_int_count(list.count));
  for (uint32_t i = 0; i < list.count; ++i) {
    const auto index = read<uint32_t>(items.item(i, 8));
    if constexpr (Access::kChecked) {
      if (read<uint64_t>(items.item(i, 8)) >= flatbuffer.values.count()) return Status::kCorrupt;
    }
    const Value value = access.value(flatbuffer.values.item(index, 4));
    if (Access::kChecked && value.tag != tag::kInt) return Status::kCorrupt;
    const auto payload = access.number(value.payload);
    if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
    const auto number = read_field<int64_t>(payload, pte::scalar_value::kValue);
    list.items[i] = static_cast<int32_t>(number);
    if (Access::kChecked && list.items[i] != number) return Status::kBadParameter;
  }
  return Status::kOk;
}

constexpr char kAnyTensor = 'X';  // not in pte_ops.def: any tensor, read or written

template <class Access>
Status decode_argument(Access& access, const Model& model, uint32_t value_index, char letter,
                       kernels::Arg& arg);

// The items of a list are tensors, never lists: the depth is bounded.
template <class Access, class AnyTable>
// NOLINTNEXTLINE(misc-no-recursion)
Status decode_tensors(Access& access, const Model& model, const AnyTable& table, char letter,
                      uint32_t& count) {
  const FlatVector items = access.vector(table, pte::list_value::kItems, 2);
  count = items.count();
  if constexpr (Access::kChecked) {
    const char item_letter = is_written<tag::kTensorList>(letter) ? 'o' : kAnyTensor;
    for (uint32_t i = 0; i < count; ++i) {
      kernels::Arg item;
      THIMBLE_RETURN_IF_ERROR(decode_argument(access, model, items.index_at(i), item_letter, item));
    }
  }
  return Status::kOk;
}

// --- Arguments -----------------------------------------------------------------------------------

/// Marks letters that accept values of several tags.
constexpr uint32_t kMultiType = 0x40;

/// The tag that a letter requires, with ValueCache::kPlanned if the kernel writes the tensor.
struct LetterTags {
  static constexpr char kFirst = 'R', kLast = 'z';
  uint8_t tags[kLast - kFirst + 1] = {};
  constexpr LetterTags() {
    tags[kAnyTensor - kFirst] = tag::kTensor;
    for (const ArgumentLetter& row : kArgumentLetters) {
      const bool is_planned = row.tag == tag::kTensor && row.is_written;
      const uint32_t required = row.tag | (is_planned ? ValueCache::kPlanned : 0);
      const bool is_multi_type = kernels::is_multi_type(row.letter);
      tags[row.letter - kFirst] = static_cast<uint8_t>(is_multi_type ? kMultiType : required);
    }
  }
};
constexpr LetterTags kLetterTags;

THIMBLE_INLINE uint32_t required_tag(char letter) {
  return kLetterTags.tags[letter - LetterTags::kFirst];
}

/// Handles a value whose tag is not the one that the letter requires. For None it writes the absent
/// tensor of an optional argument; any other value is an error.
THIMBLE_OUT_OF_LINE Status decode_mismatched_tag(uint32_t value_tag, char letter,
                                                 kernels::Arg& arg) {
  if (value_tag == tag::kNone) return Status::kCorrupt;
  if (value_tag != tag::kNull) {
    return letter == kAnyTensor ? Status::kUnsupported : Status::kCorrupt;
  }
  if (required_tag(letter) == kMultiType) return Status::kOk;
  if (!is_optional(letter)) return Status::kUnsupported;
  arg.tensor = {};
  arg.tensor.is_null = true;
  return Status::kOk;
}

/// Decodes an argument that is a bool, a list or a string.
template <class Access>
// NOLINTNEXTLINE(misc-no-recursion): see decode_tensors
THIMBLE_OUT_OF_LINE Status decode_bool_or_list(Access& access, const Model& model,
                                               uint32_t value_tag, Position at, char letter,
                                               kernels::Arg& arg) {
  const bool is_bool = value_tag == tag::kBool;
  const auto payload = is_bool ? access.boolean(at) : access.list(at);
  if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
  if (is_bool) {
    arg.integer = read_field<uint8_t>(payload, pte::scalar_value::kValue) != 0;
    return Status::kOk;
  }
  if (value_tag == tag::kIntList) return decode_ints(access, model.flatbuffer, payload, arg.ints);
  if (value_tag == tag::kTensorList) {
    return decode_tensors(access, model, payload, letter, arg.list);
  }
  const bool is_text = value_tag == tag::kString;
  if (Access::kChecked && !is_text && value_tag != tag::kDoubleList) return Status::kUnsupported;
  const FlatVector items = access.vector(payload, pte::list_value::kItems, is_text ? 0 : 3);
  arg.items = {items.item(0, 1), items.count()};
  return Status::kOk;
}

template <class Access>
// NOLINTNEXTLINE(misc-no-recursion): see decode_tensors
THIMBLE_OUT_OF_LINE Status decode_argument(Access& access, const Model& model, uint32_t value_index,
                                           char letter, kernels::Arg& arg) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  if (Access::kChecked && value_index >= flatbuffer.values.count()) return Status::kCorrupt;
  const Value value = access.value(flatbuffer.values.item(value_index, 4));
  const uint32_t required = required_tag(letter);
  if constexpr (Access::kChecked) {
    if (value.tag != (required & ~ValueCache::kPlanned)) {
      const bool is_multi_type = required == kMultiType && value.tag > tag::kNull;
      if (!is_multi_type) return decode_mismatched_tag(value.tag, letter, arg);
    }
  } else if (value.tag == tag::kNull) {
    return decode_mismatched_tag(value.tag, letter, arg);
  }
  [[maybe_unused]] uint32_t known = value.tag;
  if (value.tag == tag::kTensor) {
    bool planned;
    const Status status =
        decode_tensor_payload(access, model, value_index, value.payload, arg.tensor, planned);
    if constexpr (Access::kChecked) {
      if (status != Status::kOk) return status;
      if (planned) known |= ValueCache::kPlanned;
      if ((required & ~known) != 0) return Status::kCorrupt;
    }
  } else if (value.tag == tag::kInt || value.tag == tag::kDouble) {
    const auto payload = access.number(value.payload);
    if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
    const auto bits = read_field<uint64_t>(payload, pte::scalar_value::kValue);
    if (value.tag == tag::kInt) {
      arg.integer = static_cast<int64_t>(bits);
    } else {
      arg.number = abi::bit_cast<double>(bits);
    }
  } else {
    const Status status = decode_bool_or_list(access, model, value.tag, value.payload, letter, arg);
    if (Access::kChecked && status != Status::kOk) return status;
    if (value.tag == tag::kTensorList) return Status::kOk;
  }
  // Constants are not kept: nearly every constant is used by one instruction only.
  if constexpr (Access::kChecked) {
    if (value.tag != tag::kTensor || !arg.tensor.is_constant) {
      access.value_cache.store(value_index, known, arg);
    }
  }
  return Status::kOk;
}

/// Converts the decoded arguments of multi-type letters to the type that the kernel reads.
THIMBLE_OUT_OF_LINE Status normalize_multi_type_args(const kernels::Kernel& kernel,
                                                     FlatbufferCall& decoded) {
  kernels::Arg* arg = decoded.args();
  const char* letter = kernel.arguments;
  for (uint32_t i = 0; letter[i] != 0; ++i) {
    if (required_tag(letter[i]) != kMultiType) continue;
    const uint32_t tag =
        tag_of(decoded.model->flatbuffer.values.target(decoded.operands.index_at(i)));
    THIMBLE_RETURN_IF_ERROR(kernel.normalize_arg(letter[i], tag, arg[i]));
  }
  return Status::kOk;
}

}  // namespace

bool is_planned(const FlatbufferProgram& flatbuffer, uint32_t value_index) {
  const Position tensor = payload_of(flatbuffer.values.target(value_index));
  return field(tensor, pte::tensor::kAllocationInfo) != nullptr;
}

template <class Access>
Status decode_tensor(Access& access, const Model& model, uint32_t value_index,
                     kernels::Tensor& tensor) {
  kernels::Arg arg;
  const Status status = decode_argument(access, model, value_index, kAnyTensor, arg);
  if (status == Status::kOk) tensor = arg.tensor;
  return status;
}

Status check_tensors(CheckedAccess& access, const Model& model, FlatVector indices) {
  kernels::Tensor tensor;
  for (uint32_t i = 0; i < indices.count(); ++i)
    THIMBLE_RETURN_IF_ERROR(decode_tensor(access, model, indices.index_at(i), tensor));
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

kernels::Tensor flatbuffer_list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const auto& decoded = *static_cast<const CallContext<FlatVector>*>(call.context);
  const Position list =
      payload_of(decoded.model->flatbuffer.values.target(decoded.operands.index_at(arg)));
  return tensor_of(*decoded.model, vector(list, pte::list_value::kItems).index_at(index));
}

template <class Access>
Status decode_call(Access& access, const kernels::Kernel& kernel, FlatbufferCall& decoded) {
  const Model& model = *decoded.model;
  const FlatVector indices = decoded.operands;
  const char* const letters = kernel.arguments;
  // The last index is the return value, which repeats the out tensor.
  const uint32_t last = indices.count() - 1;
  kernels::Arg* arg = decoded.args();
  uint32_t i = 0;
  do {
    const uint32_t value_index = indices.index_at(i);
    const char letter = letters[i];
    if constexpr (Access::kChecked) {
      if (const uint32_t known = access.value_cache.tag(value_index); known != 0) {
        const uint32_t required = required_tag(letter);
        if (known == required || (known & ~ValueCache::kPlanned) == required) {
          access.value_cache.load_into(value_index, *arg);
          continue;
        }
      }
    }
    const Status status = decode_argument(access, model, value_index, letter, *arg);
    if (Access::kChecked && status != Status::kOk) return status;
  } while (++arg, ++i != last);
  if constexpr (Access::kChecked) {
    if (access.failed()) return Status::kCorrupt;
    // The return value of several outputs is a list, which is not read.
    if (indices.index_at(last) != indices.index_at(last - 1) && !kernel.returns_list()) {
      return Status::kCorrupt;
    }
  }
  return kernel.normalize_arg != nullptr ? normalize_multi_type_args(kernel, decoded) : Status::kOk;
}

template Status decode_tensor(CheckedAccess&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_tensor(TrustedAccess&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_call(CheckedAccess&, const kernels::Kernel&, FlatbufferCall&);
template Status decode_call(TrustedAccess&, const kernels::Kernel&, FlatbufferCall&);

bool is_delegate_call(const FlatbufferProgram& flatbuffer, uint32_t index) {
  const Position instruction = flatbuffer.instructions.target(index);
  return read_field<uint8_t>(instruction, pte::instruction::kInstrArgsType) ==
         pte::instruction_tag::kDelegateCall;
}

Instruction instruction_at(const FlatbufferProgram& flatbuffer, uint32_t index) {
  const Position instruction = flatbuffer.instructions.target(index);
  const Position call = follow(field(instruction, pte::instruction::kInstrArgs));
  return {read_field<uint32_t>(call, pte::kernel_call::kOpIndex),
          vector(call, pte::kernel_call::kArgs)};
}

}  // namespace thimble::runtime
