// See decode.h. The checked and the trusted version are instances of the same templates, so that
// run reads exactly what load has verified. The frame is plain bytes, and only the fields that an
// argument's letter makes valid are written: clearing all twenty arguments would cost more than
// decoding the three of a native call.

#include "runtime/exec/decode.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;
namespace tag = abi::pte::value_tag;

// --- Checks at load only -------------------------------------------------------------------------

constexpr uint32_t kNoShape = 0xFFFFFFFF;

/// Size in bytes of a tensor with these sizes and dim_order, both of the same rank above 0;
/// kNoShape if they are invalid.
THIMBLE_OUT_OF_LINE uint32_t check_shape(Vector sizes, Vector dim_order, uint32_t rank,
                                         uint32_t element) {
  // `extent` counts a dimension of size 0 as 1: then products of any subset of the sizes fit too.
  uint32_t extent = element;
  uint32_t seen = 0;
  bool empty = false;
  Position dim_at = dim_order.item(0, 1);
  for (Position size_at = sizes.item(0, 4), end = sizes.item(rank, 4); size_at != end;
       size_at += 4) {
    const uint32_t dim = *dim_at++;
    const uint32_t size = load<uint32_t>(size_at);
    if (dim >= rank) return kNoShape;
    seen |= 1U << dim;
    if (size == 0) {
      empty = true;
      continue;
    }
    const uint64_t more = uint64_t{extent} * size;
    extent = static_cast<uint32_t>(more);
    if ((static_cast<uint32_t>(more >> 32) | extent >> 31) != 0) return kNoShape;
  }
  // `rank` entries that set exactly the bits below `rank` are a permutation.
  if (seen != (1U << rank) - 1) return kNoShape;
  return empty ? 0 : extent;
}

/// Checks the fields that can make a tensor unsupported.
THIMBLE_OUT_OF_LINE Status check_unusual(Checked& access, Position tensor) {
  if (scalar<uint32_t>(tensor, pte::tensor::kStorageOffset) != 0) return Status::kUnsupported;
  if (scalar<uint8_t>(tensor, pte::tensor::kShapeDynamism) != 0) return Status::kUnsupported;
  if (field(tensor, pte::tensor::kExtraTensorInfo) == nullptr) return Status::kOk;
  TableKind kind("\10\4\1");
  const Position extra = access.verifier.child(tensor, pte::tensor::kExtraTensorInfo, kind);
  if (extra == nullptr) return Status::kCorrupt;
  const auto location = scalar<int8_t>(extra, pte::extra_tensor_info::kLocation);
  return location == pte::tensor_location::kSegment ? Status::kOk : Status::kUnsupported;
}

/// Finds a constant in the flatbuffer itself, where files without segments store them.
THIMBLE_OUT_OF_LINE Status check_buffer(Checked& access, const Image& image, uint32_t index,
                                        uint32_t bytes, Position& data) {
  TableKind kind("\4");
  const Position buffer = access.verifier.table(image.constants.item(index, 4), kind);
  if (buffer == nullptr) return Status::kCorrupt;
  const Vector storage = access.verifier.vector(buffer, pte::buffer::kStorage, 0);
  if (bytes > storage.count()) return Status::kCorrupt;
  data = bytes != 0 ? storage.item(0, 1) : nullptr;
  return Status::kOk;
}

THIMBLE_INLINE Status check_constant(Checked& access, const Image& image, uint32_t index,
                                     uint32_t bytes, Position& data) {
  if (index >= image.constants.count()) return Status::kCorrupt;
  if (image.constant_data != nullptr) {
    const Position at = image.constants.item(index, 8);
    const auto offset = load<uint32_t>(at);
    if (load<uint32_t>(at + 4) != 0 || offset > access.constant_bytes ||
        bytes > access.constant_bytes - offset) {
      return Status::kCorrupt;
    }
    data = image.constant_data + offset;
  } else {
    Position found;  // a separate variable, because only `data` can then stay in a register
    const Status status = check_buffer(access, image, index, bytes, found);
    if (status != Status::kOk) return status;
    data = found;
  }
  // The start of the file is aligned, so the result depends on the file and not on its address.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % abi::kConstantAlignment == 0;
  return aligned ? Status::kOk : Status::kCorrupt;
}

/// Checks that a planned tensor is inside the arena. Each memory of the plan has a start there.
Status check_planned(const Image& image, const CheckedTable& allocation, uint32_t bytes,
                     uint32_t element) {
  const auto memory_id = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  const auto offset = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto high = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetHigh);
  if (high != 0 || offset > image.arena_bytes) return Status::kCorrupt;
  uint32_t rest = image.arena_bytes - offset;
  if (memory_id != 1) {
    if (memory_id == 0 || memory_id >= image.memories.count()) return Status::kCorrupt;
    const uint32_t start = memory_start(image, memory_id);
    if (start > rest) return Status::kCorrupt;
    rest -= start;
  }
  if (bytes > rest) return Status::kCorrupt;
  return (offset & (element - 1)) == 0 ? Status::kOk : Status::kCorrupt;
}

// --- Tensors -------------------------------------------------------------------------------------

/// Address of a constant. The file is in flash, so kernels must not write there.
THIMBLE_INLINE Position constant_data(const Image& image, uint32_t index) {
  if (image.constant_data != nullptr) {
    return image.constant_data + load<uint32_t>(image.constants.item(index, 8));
  }
  const Vector storage = vector(image.constants.target(index), pte::buffer::kStorage);
  return storage.count() != 0 ? storage.item(0, 1) : nullptr;
}

/// Sets the address of an unplanned tensor, which must be an input of the graph, to the input
/// buffer of the application.
Status set_input_data(const Model& model, uint32_t value_index, kernels::Tensor& tensor) {
  const Vector inputs = model.image.inputs;
  for (uint32_t i = 0; i < inputs.count(); ++i) {
    if (inputs.index(i) != value_index) continue;
    // Kernels only read it: decode_argument() requires that an out argument is planned.
    if (model.input_data != nullptr) tensor.data = const_cast<void*>(model.input_data[i]);
    return Status::kOk;
  }
  return tensor.bytes == 0 ? Status::kOk : Status::kUnsupported;
}

/// Size in bytes of a tensor, whose rank is at most abi::kMaxRank.
template <class Access>
THIMBLE_INLINE uint32_t bytes_of(Vector sizes, Vector dim_order, uint32_t rank, uint32_t element) {
  uint32_t bytes = element;
  if constexpr (Access::kChecked) {
    if (rank == 1) {  // fast path for biases, multipliers and shifts
      const uint64_t all = uint64_t{element} * sizes.index(0);
      const bool fits = all <= 0x7FFFFFFF && *dim_order.item(0, 1) == 0;
      bytes = fits ? static_cast<uint32_t>(all) : kNoShape;
    } else if (rank != 0) {
      bytes = check_shape(sizes, dim_order, rank, element);
    }
  } else {
    for (uint32_t i = 0; i < rank; ++i) bytes *= sizes.index(i);
  }
  return bytes;
}

/// `at` is the offset of the payload. `planned` is set to true if the tensor is in the arena.
template <class Access>
THIMBLE_INLINE Status decode_payload(Access& access, const Model& model, uint32_t value_index,
                                     Position at, kernels::Tensor& tensor, bool& planned) {
  const Image& image = model.image;
  const auto table = access.tensor(at);
  if constexpr (Access::kChecked) {
    if (table.at == nullptr) return Status::kCorrupt;
    const Status status = is_unusual(table) ? check_unusual(access, table.at) : Status::kOk;
    if (status != Status::kOk) return status;
  }
  const auto type = number_in<uint8_t>(table, pte::tensor::kScalarType);
  const uint32_t element = element_bytes(type);
  const Vector sizes = access.vector(table, pte::tensor::kSizes, 2);
  const Vector dim_order = access.vector(table, pte::tensor::kDimOrder, 0);
  const uint32_t rank = sizes.count();
  if constexpr (Access::kChecked) {
    if (element == 0 || rank > abi::kMaxRank) return Status::kUnsupported;
    if (dim_order.count() != rank) return Status::kCorrupt;
  }
  const uint32_t bytes = bytes_of<Access>(sizes, dim_order, rank, element);
  if (Access::kChecked && bytes == kNoShape) return Status::kCorrupt;
  tensor.bytes = bytes;
  tensor.rank = static_cast<uint8_t>(rank);
  tensor.dtype = static_cast<kernels::DType>(type);
  tensor.is_null = false;
  // It is aligned, complete and in a valid order. Kernels also require at least one element.
  tensor.is_sound = Access::kChecked && bytes - 1 < kernels::kMaxTensorBytes;
  if (rank != 0) {
    tensor.sizes = reinterpret_cast<const int32_t*>(sizes.item(0, 4));
    tensor.dim_order = dim_order.item(0, 1);
  } else {
    tensor.sizes = nullptr;
    tensor.dim_order = nullptr;
  }

  planned = false;
  const auto constant = number_in<uint32_t>(table, pte::tensor::kDataBufferIdx);
  const Position allocation_at = table.field(pte::tensor::kAllocationInfo);
  if (constant != 0) {
    if (allocation_at == nullptr) {
      Position data;
      if constexpr (Access::kChecked) {
        const Status status = check_constant(access, image, constant, bytes, data);
        if (status != Status::kOk) return status;
      } else {
        data = constant_data(image, constant);
      }
      tensor.is_constant = true;
      tensor.data = const_cast<uint8_t*>(data);
      return Status::kOk;
    }
    // A planned tensor with an initial value. Native files store it in the entry that lists states.
    if (Access::kChecked && image.state == nullptr) return Status::kUnsupported;
  }
  tensor.data = nullptr;
  tensor.is_constant = false;
  if (allocation_at == nullptr) return set_input_data(model, value_index, tensor);
  const auto allocation = access.allocation(allocation_at);
  if constexpr (Access::kChecked) {
    if (allocation.at == nullptr) return Status::kCorrupt;
    const Status status = check_planned(image, allocation, bytes, element);
    if (status != Status::kOk) return status;
  }
  planned = true;
  if (model.arena == nullptr) return Status::kOk;
  uint8_t* data =
      model.arena + number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto memory_id = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  if (memory_id != 1) data += memory_start(image, memory_id);
  tensor.data = data;
  return Status::kOk;
}

// --- Lists ---------------------------------------------------------------------------------------

template <class Access, class AnyTable>
Status decode_ints(Access& access, const Image& image, const AnyTable& table,
                   kernels::IntList& list) {
  const Vector items = access.vector(table, pte::list_value::kItems, 3);
  list.count = items.count();
  if (Access::kChecked && list.count > abi::kMaxIntList) return Status::kUnsupported;
  for (uint32_t i = 0; i < list.count; ++i) {
    const auto index = load<uint32_t>(items.item(i, 8));
    if constexpr (Access::kChecked) {
      if (load<uint64_t>(items.item(i, 8)) >= image.values.count()) return Status::kCorrupt;
    }
    const Value value = access.value(image.values.item(index, 4));
    if (Access::kChecked && value.tag != tag::kInt) return Status::kCorrupt;
    const auto payload = access.number(value.payload);
    if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
    const auto number = number_in<int64_t>(payload, pte::scalar_value::kValue);
    list.items[i] = static_cast<int32_t>(number);
    if (Access::kChecked && list.items[i] != number) return Status::kBadParameter;
  }
  return Status::kOk;
}

/// Letters of an argument that must only be a tensor, of a written tensor, and of a written list.
constexpr char kAnyTensor = 'X', kOutput = 'o', kOutputs = 'w';

template <class Access>
Status decode_argument(Access& access, const Model& model, uint32_t value_index, char letter,
                       kernels::Arg& arg);

template <class Access, class AnyTable>
Status decode_tensors(Access& access, const Model& model, const AnyTable& table, char letter,
                      uint32_t& count) {
  const Vector items = access.vector(table, pte::list_value::kItems, 2);
  count = items.count();
  if constexpr (Access::kChecked) {
    const char item_letter = letter == kOutputs ? kOutput : kAnyTensor;
    for (uint32_t i = 0; i < count; ++i) {
      kernels::Arg item;
      const Status status = decode_argument(access, model, items.index(i), item_letter, item);
      if (status != Status::kOk) return status;
    }
  }
  return Status::kOk;
}

kernels::Tensor list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const Frame& frame = *static_cast<const Frame*>(call.context);
  const Position list = payload_of(frame.model->image.values.target(frame.indices.index(arg)));
  return tensor_of(*frame.model, vector(list, pte::list_value::kItems).index(index));
}

// --- Arguments -----------------------------------------------------------------------------------

/// Marks letters that accept values of several tags.
constexpr uint32_t kOpen = 0x40;

/// The tag that a letter requires, with Memo::kPlanned if the tensor is written.
struct LetterTags {
  static constexpr char kFirst = 'R', kLast = 'z';
  uint8_t tags[kLast - kFirst + 1] = {};
  constexpr LetterTags() {
    set(kAnyTensor, tag::kTensor);
    set('T', tag::kTensor);
    set('t', tag::kTensor);
    // Only the arena may be written, not the file or an input buffer.
    set(kOutput, tag::kTensor | ValueCache::kPlanned);
    set('s', tag::kTensor | ValueCache::kPlanned);
    set('i', tag::kInt);
    set('b', tag::kBool);
    set('d', tag::kDouble);
    set('l', tag::kIntList);
    set('R', tag::kTensorList);
    set(kOutputs, tag::kTensorList);
    for (const char letter : kernels::kMultiTypeLetters) set(letter, kOpen);
  }
  constexpr void set(char letter, uint32_t tag) {
    tags[letter - kFirst] = static_cast<uint8_t>(tag);
  }
};
constexpr LetterTags kLetterTags;

THIMBLE_INLINE uint32_t required_tag(char letter) {
  return kLetterTags.tags[letter - LetterTags::kFirst];
}

/// Status for a value whose tag is not the one that the letter requires. Accepts None for optional
/// arguments.
THIMBLE_OUT_OF_LINE Status check_other_tag(uint32_t value_tag, char letter, kernels::Arg& arg) {
  if (value_tag == tag::kNone) return Status::kCorrupt;
  if (value_tag != tag::kNull) {
    return letter == kAnyTensor ? Status::kUnsupported : Status::kCorrupt;
  }
  if (required_tag(letter) == kOpen) return Status::kOk;
  if (letter != 't') return Status::kUnsupported;
  arg.tensor = {};
  arg.tensor.is_null = true;
  return Status::kOk;
}

/// Decodes an argument that is neither a tensor nor a number.
template <class Access>
THIMBLE_OUT_OF_LINE Status decode_other(Access& access, const Model& model, uint32_t value_tag,
                                        Position at, char letter, kernels::Arg& arg) {
  const bool is_bool = value_tag == tag::kBool;
  const auto payload = is_bool ? access.boolean(at) : access.list(at);
  if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
  if (is_bool) {
    arg.integer = number_in<uint8_t>(payload, pte::scalar_value::kValue) != 0;
    return Status::kOk;
  }
  if (value_tag == tag::kIntList) return decode_ints(access, model.image, payload, arg.ints);
  if (value_tag == tag::kTensorList) {
    return decode_tensors(access, model, payload, letter, arg.list);
  }
  const bool is_text = value_tag == tag::kString;
  if (Access::kChecked && !is_text && value_tag != tag::kDoubleList) return Status::kUnsupported;
  const Vector items = access.vector(payload, pte::list_value::kItems, is_text ? 0 : 3);
  arg.items = {items.item(0, 1), items.count()};
  return Status::kOk;
}

template <class Access>
THIMBLE_OUT_OF_LINE Status decode_argument(Access& access, const Model& model, uint32_t value_index,
                                           char letter, kernels::Arg& arg) {
  const Image& image = model.image;
  if (Access::kChecked && value_index >= image.values.count()) return Status::kCorrupt;
  const Value value = access.value(image.values.item(value_index, 4));
  const uint32_t required = required_tag(letter);
  if constexpr (Access::kChecked) {
    if (value.tag != (required & ~ValueCache::kPlanned)) {
      const bool open = required == kOpen && value.tag > tag::kNull;
      if (!open) return check_other_tag(value.tag, letter, arg);
    }
  } else if (value.tag == tag::kNull) {
    return check_other_tag(value.tag, letter, arg);
  }
  [[maybe_unused]] uint32_t known = value.tag;
  if (value.tag == tag::kTensor) {
    bool planned;
    const Status status =
        decode_payload(access, model, value_index, value.payload, arg.tensor, planned);
    if constexpr (Access::kChecked) {
      if (status != Status::kOk) return status;
      if (planned) known |= ValueCache::kPlanned;
      if ((required & ~known) != 0) return Status::kCorrupt;
    }
  } else if (value.tag == tag::kInt || value.tag == tag::kDouble) {
    const auto payload = access.number(value.payload);
    if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
    const auto bits = number_in<uint64_t>(payload, pte::scalar_value::kValue);
    if (value.tag == tag::kInt) {
      arg.integer = static_cast<int64_t>(bits);
    } else {
      arg.number = std::bit_cast<double>(bits);
    }
  } else {
    const Status status = decode_other(access, model, value.tag, value.payload, letter, arg);
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

/// Decodes the arguments of open letters, which accept values of several tags.
THIMBLE_OUT_OF_LINE Status normalize_arg(const kernels::Kernel& kernel, Frame& frame) {
  kernels::Arg* arg = frame.args();
  const char* letter = kernel.arguments;
  for (uint32_t i = 0; letter[i] != 0; ++i) {
    if (required_tag(letter[i]) != kOpen) continue;
    const uint32_t tag = tag_of(frame.model->image.values.target(frame.indices.index(i)));
    const Status status = kernel.normalize_arg(letter[i], tag, arg[i]);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace

bool is_planned(const Image& image, uint32_t value_index) {
  const Position tensor = payload_of(image.values.target(value_index));
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

template <class Access>
Status decode_call(Access& access, const Model& model, Vector indices,
                   const kernels::Kernel& kernel, Frame& frame) {
  const char* const letters = kernel.arguments;
  frame.call = {frame.args(), &frame, list_item};
  frame.model = &model;
  frame.indices = indices;
  // The last index is the return value, which repeats the out tensor.
  const uint32_t last = indices.count() - 1;
  kernels::Arg* arg = frame.args();
  uint32_t i = 0;
  do {
    const uint32_t value_index = indices.index(i);
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
    if (indices.index(last) != indices.index(last - 1) && !kernel.returns_list()) {
      return Status::kCorrupt;
    }
  }
  return kernel.normalize_arg != nullptr ? normalize_arg(kernel, frame) : Status::kOk;
}

template Status decode_tensor(Checked&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_tensor(Trusted&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_call(Checked&, const Model&, Vector, const kernels::Kernel&, Frame&);
template Status decode_call(Trusted&, const Model&, Vector, const kernels::Kernel&, Frame&);

bool is_delegate_call(const Image& image, uint32_t index) {
  const Position instruction = image.instructions.target(index);
  return scalar<uint8_t>(instruction, pte::instruction::kInstrArgsType) ==
         pte::instruction_tag::kDelegateCall;
}

Instruction instruction_at(const Image& image, uint32_t index) {
  const Position instruction = image.instructions.target(index);
  const Position call = follow(field(instruction, pte::instruction::kInstrArgs));
  return {scalar<uint32_t>(call, pte::kernel_call::kOpIndex),
          vector(call, pte::kernel_call::kArgs)};
}

}  // namespace thimble::runtime
