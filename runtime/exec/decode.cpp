// See decode.h. Both voices of the code come from one text, so that run reads exactly what load has
// proved. The frame is plain bytes, and only what an argument's letter makes valid is written:
// clearing twenty arguments would cost more than decoding a native call's three.

#include "runtime/exec/decode.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;
namespace tag = abi::pte::value_tag;

// --- What only load asks -------------------------------------------------------------------------

/// Sizes and dim_order of a tensor, and how many bytes they make.
Status check_shape(Vector sizes, Vector dim_order, uint32_t element, uint32_t& bytes) {
  const uint32_t rank = sizes.count();
  if (rank > abi::kMaxRank) return Status::kUnsupported;
  if (dim_order.count() != rank) return Status::kCorrupt;
  // The extent counts an empty dimension as 1: products of any subset of the sizes fit then too.
  uint32_t extent = element;
  uint32_t seen = 0;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint32_t dim = *dim_order.item(i, 1);
    const uint32_t size = sizes.index(i);
    if (dim >= rank) return Status::kCorrupt;
    seen |= 1U << dim;
    if (size == 0) {
      empty = true;
      continue;
    }
    const uint64_t more = uint64_t{extent} * size;
    if (more > 0x7FFFFFFF) return Status::kCorrupt;
    extent = static_cast<uint32_t>(more);
  }
  // `rank` entries that set exactly the bits below `rank` are a permutation.
  if (seen != (1U << rank) - 1) return Status::kCorrupt;
  bytes = empty ? 0 : extent;
  return Status::kOk;
}

/// The fields that make a tensor one that this runtime does not take.
Status check_unusual(Checked& access, Position tensor) {
  if (scalar<uint32_t>(tensor, pte::tensor::kStorageOffset) != 0) return Status::kUnsupported;
  if (scalar<uint8_t>(tensor, pte::tensor::kShapeDynamism) != 0) return Status::kUnsupported;
  if (field(tensor, pte::tensor::kExtraTensorInfo) == nullptr) return Status::kOk;
  TableKind kind("\10\4\1");
  const Position extra = access.verifier.child(tensor, pte::tensor::kExtraTensorInfo, kind);
  if (extra == nullptr) return Status::kCorrupt;
  const auto location = scalar<int8_t>(extra, pte::extra_tensor_info::kLocation);
  return location == pte::tensor_location::kSegment ? Status::kOk : Status::kUnsupported;
}

Status check_constant(Checked& access, const Image& image, uint32_t index, uint32_t bytes) {
  if (index >= image.constants.count()) return Status::kCorrupt;
  Position data;
  if (image.constant_data != nullptr) {
    const Position at = image.constants.item(index, 8);
    const auto offset = load<uint32_t>(at);
    if (load<uint32_t>(at + 4) != 0 || offset > access.constant_bytes ||
        bytes > access.constant_bytes - offset) {
      return Status::kCorrupt;
    }
    data = image.constant_data + offset;
  } else {
    TableKind kind("\4");
    const Position buffer = access.verifier.table(image.constants.item(index, 4), kind);
    if (buffer == nullptr) return Status::kCorrupt;
    const Vector storage = access.verifier.vector(buffer, pte::buffer::kStorage, 0);
    if (bytes > storage.count()) return Status::kCorrupt;
    if (bytes == 0) return Status::kOk;
    data = storage.item(0, 1);
  }
  // The file itself is aligned, so this is a fact of the file and not of where it lies.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % abi::kConstantAlignment == 0;
  return aligned ? Status::kOk : Status::kCorrupt;
}

Status check_planned(const Image& image, const CheckedTable& allocation, uint32_t bytes,
                     uint32_t element) {
  const auto memory_id = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  const auto offset = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto high = number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetHigh);
  if (memory_id != 1) return memory_id == 0 ? Status::kCorrupt : Status::kUnsupported;
  const uint32_t arena = image.arena_bytes;
  if (high != 0 || offset > arena || bytes > arena - offset) return Status::kCorrupt;
  return (offset & (element - 1)) == 0 ? Status::kOk : Status::kCorrupt;
}

// --- Tensors -------------------------------------------------------------------------------------

/// The address of a constant; the file is flash, so the kernel must not write there.
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

/// Where the elements of `table` are; everything else of `tensor` is there already.
template <class Access, class AnyTable>
Status place_tensor(Access& access, const Model& model, uint32_t value_index,
                    const AnyTable& table, uint32_t element, kernels::Tensor& tensor) {
  const Image& image = model.image;
  tensor.data = nullptr;
  tensor.is_constant = false;
  if constexpr (Access::kChecked) {
    access.planned = table.field(pte::tensor::kAllocationInfo) != nullptr;
  }
  const auto constant = number_in<uint32_t>(table, pte::tensor::kDataBufferIdx);
  if (const Position at = table.field(pte::tensor::kAllocationInfo)) {
    const auto allocation = access.allocation(at);
    if constexpr (Access::kChecked) {
      if (constant != 0) return Status::kUnsupported;  // a buffer with a start value
      if (allocation.at == nullptr) return Status::kCorrupt;
      const Status status = check_planned(image, allocation, tensor.bytes, element);
      if (status != Status::kOk) return status;
    }
    if (model.arena == nullptr) return Status::kOk;
    tensor.data =
        model.arena + number_in<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
    return Status::kOk;
  }
  if (constant == 0) return caller_data(model, value_index, tensor);
  if constexpr (Access::kChecked) {
    const Status status = check_constant(access, image, constant, tensor.bytes);
    if (status != Status::kOk) return status;
  }
  tensor.is_constant = true;
  tensor.data = const_cast<uint8_t*>(constant_data(image, constant));
  return Status::kOk;
}

/// `at`: the offset of the payload.
template <class Access>
Status decode_payload(Access& access, const Model& model, uint32_t value_index, Position at,
                      kernels::Tensor& tensor) {
  const auto table = access.tensor(at);
  if constexpr (Access::kChecked) {
    if (table.at == nullptr) return Status::kCorrupt;
    const Status status = is_unusual(table) ? check_unusual(access, table.at) : Status::kOk;
    if (status != Status::kOk) return status;
  }
  const Vector sizes = access.vector(table, pte::tensor::kSizes, 2);
  const Vector dim_order = access.vector(table, pte::tensor::kDimOrder, 0);
  const uint32_t rank = sizes.count();
  const auto type = number_in<uint8_t>(table, pte::tensor::kScalarType);
  const uint32_t element = element_bytes(type);
  if constexpr (Access::kChecked) {
    if (element == 0) return Status::kUnsupported;
    const Status status = check_shape(sizes, dim_order, element, tensor.bytes);
    if (status != Status::kOk) return status;
  } else {
    uint32_t bytes = element;
    for (uint32_t i = 0; i < rank; ++i) bytes *= sizes.index(i);
    tensor.bytes = bytes;
  }
  tensor.rank = static_cast<uint8_t>(rank);
  tensor.dtype = static_cast<kernels::DType>(type);
  tensor.is_null = false;
  tensor.sizes = nullptr;
  tensor.dim_order = nullptr;
  if (rank != 0) {
    tensor.sizes = reinterpret_cast<const int32_t*>(sizes.item(0, 4));
    tensor.dim_order = dim_order.item(0, 1);
  }
  return place_tensor(access, model, value_index, table, element, tensor);
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

template <class Access, class AnyTable>
Status decode_tensors(Access& access, const Model& model, const AnyTable& table,
                      uint32_t& count) {
  const Vector items = access.vector(table, pte::list_value::kItems, 2);
  count = items.count();
  if constexpr (Access::kChecked) {
    for (uint32_t i = 0; i < count; ++i) {
      kernels::Tensor item;
      const Status status = decode_tensor(access, model, items.index(i), item);
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

/// What tag a value must have for a letter; none for a letter that there is not.
struct LetterTags {
  static constexpr char kFirst = 'R', kLast = 't';
  uint8_t tags[kLast - kFirst + 1] = {};
  constexpr LetterTags() {
    for (const char letter : {'T', 't', 'o'}) tags[letter - kFirst] = tag::kTensor;
    tags['i' - kFirst] = tag::kInt;
    tags['b' - kFirst] = tag::kBool;
    tags['d' - kFirst] = tag::kDouble;
    tags['l' - kFirst] = tag::kIntList;
    tags['R' - kFirst] = tag::kTensorList;
  }
};
constexpr LetterTags kLetterTags;

THIMBLE_INLINE uint32_t tag_for(char letter) {
  const auto place = static_cast<uint32_t>(letter - LetterTags::kFirst);
  return place < sizeof kLetterTags.tags ? kLetterTags.tags[place] : tag::kNone;
}

/// An argument that is neither tensor nor number.
template <class Access>
Status decode_other(Access& access, const Model& model, Value value, kernels::Arg& arg) {
  const bool is_bool = value.tag == tag::kBool;
  const auto payload = is_bool ? access.boolean(value.payload) : access.list(value.payload);
  if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
  if (is_bool) {
    arg.integer = number_in<uint8_t>(payload, pte::scalar_value::kValue) != 0;
    return Status::kOk;
  }
  if (value.tag == tag::kIntList) return decode_ints(access, model.image, payload, arg.ints);
  return decode_tensors(access, model, payload, arg.list);
}

template <class Access>
Status decode_argument(Access& access, const Model& model, uint32_t value_index, char letter,
                       kernels::Arg& arg) {
  const Image& image = model.image;
  if (Access::kChecked && value_index >= image.values.count()) return Status::kCorrupt;
  const Value value = access.value(image.values.item(value_index, 4));
  if (value.tag == tag::kNull) {
    if (letter != 't') return Status::kUnsupported;
    arg.tensor = {};
    arg.tensor.is_null = true;
    return Status::kOk;
  }
  if constexpr (Access::kChecked) {
    if (value.tag == tag::kNone || value.tag != tag_for(letter)) return Status::kCorrupt;
  }
  uint32_t known = value.tag;
  if (value.tag == tag::kInt || value.tag == tag::kDouble) {
    const auto payload = access.number(value.payload);
    if (Access::kChecked && payload.at == nullptr) return Status::kCorrupt;
    const auto bits = number_in<uint64_t>(payload, pte::scalar_value::kValue);
    if (value.tag == tag::kInt) {
      arg.integer = static_cast<int64_t>(bits);
    } else {
      arg.number = std::bit_cast<double>(bits);
    }
  } else {
    const bool is_tensor = value.tag == tag::kTensor;
    const Status status =
        is_tensor ? decode_payload(access, model, value_index, value.payload, arg.tensor)
                  : decode_other(access, model, value, arg);
    if constexpr (Access::kChecked) {
      if (status != Status::kOk) return status;
      if (is_tensor && access.planned) known |= Memo::kPlanned;
      // Only the arena is ever written: not the file, and not a caller's input.
      if (letter == 'o' && !access.planned) return Status::kCorrupt;
    }
  }
  if constexpr (Access::kChecked) {
    if (value.tag != tag::kTensorList) access.memo.keep(value_index, known, arg);
  }
  return Status::kOk;
}

/// The same from the memo: what was verified there needs to fit this letter still.
THIMBLE_INLINE Status recall(const Memo& memo, uint32_t known, uint32_t value_index, char letter,
                             kernels::Arg& arg) {
  if ((known & ~Memo::kPlanned) != tag_for(letter)) return Status::kCorrupt;
  if (letter == 'o' && known != (tag::kTensor | Memo::kPlanned)) return Status::kCorrupt;
  Memo::copy(known, memo.arg(value_index), arg);
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
  const Image& image = model.image;
  if (Access::kChecked && value_index >= image.values.count()) return Status::kCorrupt;
  const Value value = access.value(image.values.item(value_index, 4));
  if constexpr (Access::kChecked) {
    if (value.tag == tag::kNone) return Status::kCorrupt;
    if (value.tag != tag::kTensor) return Status::kUnsupported;
  }
  return decode_payload(access, model, value_index, value.payload, tensor);
}

template <class Access>
Status decode_call(Access& access, const Model& model, Vector indices, const char* letters,
                   Frame& frame) {
  const uint32_t count = indices.count();
  if constexpr (Access::kChecked) {
    if (count < 2) return Status::kCorrupt;
    if (count > abi::kMaxArgs) return Status::kUnsupported;
  }
  frame.call = {frame.args(), &frame, list_item};
  frame.model = &model;
  frame.indices = indices;
  // The last index repeats that of the out tensor, as the return value.
  const uint32_t last = count - 1;
  for (uint32_t i = 0; i < last; ++i) {
    const uint32_t value_index = indices.index(i);
    kernels::Arg& arg = frame.args()[i];
    Status status;
    if constexpr (Access::kChecked) {
      if (letters[i] == 0) return Status::kCorrupt;
      const uint32_t known = access.memo.tag(value_index);
      status = known != 0 ? recall(access.memo, known, value_index, letters[i], arg)
                          : decode_argument(access, model, value_index, letters[i], arg);
      if (status != Status::kOk) return status;
    } else {
      status = decode_argument(access, model, value_index, letters[i], arg);
    }
  }
  if constexpr (Access::kChecked) {
    if (letters[last] != 0 || indices.index(last) != indices.index(last - 1)) {
      return Status::kCorrupt;
    }
  }
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

template Status decode_tensor(Checked&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_tensor(Trusted&, const Model&, uint32_t, kernels::Tensor&);
template Status decode_call(Checked&, const Model&, Vector, const char*, Frame&);
template Status decode_call(Trusted&, const Model&, Vector, const char*, Frame&);

Instruction instruction_at(const Image& image, uint32_t index) {
  const Position instruction = image.instructions.target(index);
  const Position call = follow(field(instruction, pte::instruction::kInstrArgs));
  return {scalar<uint32_t>(call, pte::kernel_call::kOpIndex),
          vector(call, pte::kernel_call::kArgs)};
}

}  // namespace thimble::runtime
