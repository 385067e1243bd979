// Executes programs from records (abi/records.h): arrays of tensors, shapes, lists and calls. Load
// verifies each element once, in file order, and calls check() of each kernel. Run adds a base
// address to each operand's place and calls the kernel. If a kernel needs more than addresses, its
// arguments are decoded as at load.

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "runtime/exec/element.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/state.h"

namespace thimble::runtime {
namespace {

using abi::RecordShape;
using abi::RecordTensor;

// The runtime is built with -Os. The functions marked THIMBLE_FAST handle every operand of every
// call. With -Os they would execute 25 % more instructions, so GCC builds them with -O2.
#if defined(__GNUC__) && !defined(__clang__)
#define THIMBLE_FAST [[gnu::optimize("O2")]]
#else
#define THIMBLE_FAST
#endif

constexpr uint32_t kElementsMax = kernels::kMaxTensorBytes / 8;  // for elements of up to 8 bytes

// --- The file ------------------------------------------------------------------------------------

/// Returns true if the range at offset `at` of the program entry is inside the segments. The entry
/// is the first data of the segments.
bool is_inside(ByteRegion segments, uint32_t at, uint32_t bytes) {
  return at <= segments.bytes && bytes <= segments.bytes - at;
}

Status check_records_header(ByteRegion segments) {
  const auto& entry = *reinterpret_cast<const abi::ProgramEntry*>(segments.data);
  const auto& header = *reinterpret_cast<const abi::RecordsHeader*>(segments.data + sizeof entry);
  if (!abi::is_known_kernel_layout(entry.kernel_layout_version)) return Status::kLayoutVersion;
  // A number is two words. A tensor has one word in `places` and one in `tensors`.
  const uint32_t words = 2U * header.numbers + header.operators + 2U * header.tensors +
                         header.shape_words + header.list_words;
  constexpr uint32_t kHeaderBytes = sizeof entry + sizeof header;
  const uint32_t bytes = kHeaderBytes + 4 * words + 2U * (header.inputs + header.outputs);
  const bool is_whole = header.bytes <= segments.bytes && bytes <= header.bytes &&
                        header.call_words == (header.bytes - bytes) / 2 && header.bytes % 2 == 0 &&
                        is_inside(segments, header.constants_at, header.constants_bytes) &&
                        header.constants_at % abi::kConstantAlignment == 0 &&
                        is_inside(segments, header.state_at, header.state_bytes) &&
                        header.state_at % 4 == 0 && entry.arena_bytes <= abi::kArenaBytesMax;
  return is_whole ? Status::kOk : Status::kCorrupt;
}

void locate_arrays(Position entry, RecordProgram& records) {
  const auto* const header =
      reinterpret_cast<const abi::RecordsHeader*>(entry + sizeof(abi::ProgramEntry));
  const auto* words = reinterpret_cast<const uint32_t*>(header + 1);
  records.header = header;
  words += 2 * header->numbers + header->operators;
  records.places = words;
  words += header->tensors;
  records.tensors = reinterpret_cast<const RecordTensor*>(words);
  words += header->tensors;
  records.shapes = words;
  words += header->shape_words;
  records.lists = reinterpret_cast<const int32_t*>(words);
  words += header->list_words;
  records.inputs = reinterpret_cast<const uint16_t*>(words);
  records.outputs = records.inputs + header->inputs;
  records.calls = records.outputs + header->outputs;
  records.constants = entry + header->constants_at;
}

// Not stored in RecordProgram, because only load and decoded calls read them.
const int64_t* numbers_of(const RecordProgram& records) {
  return reinterpret_cast<const int64_t*>(records.header + 1);
}
const uint32_t* operators_of(const RecordProgram& records) {
  return reinterpret_cast<const uint32_t*>(numbers_of(records) + records.header->numbers);
}
uint32_t arena_bytes_of(const RecordProgram& records) {
  return (reinterpret_cast<const abi::ProgramEntry*>(records.header) - 1)->arena_bytes;
}

// --- Tensors -------------------------------------------------------------------------------------

/// Verifies the shape at the start of `words` words. Returns its size in words; 0 if invalid.
uint32_t check_shape(const RecordShape& shape, uint32_t words) {
  constexpr uint32_t kHeaderWords = sizeof shape / 4;
  if (words < kHeaderWords) return 0;
  const uint32_t rank = shape.rank;
  if (rank > abi::kMaxRank || words - kHeaderWords < rank) return 0;
  const auto* const sizes = reinterpret_cast<const uint32_t*>(&shape + 1);
  if (rank == 1) {  // fast path for packed constants
    const bool is_valid = sizes[0] == shape.elements && sizes[0] <= kElementsMax;
    return is_valid && shape.dim_order[0] == 0 ? kHeaderWords + 1 : 0;
  }
  // `extent` counts a dimension of size 0 as 1: then products of any subset of the sizes fit too.
  uint32_t extent = 1, elements = 1, seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint32_t size = sizes[i];
    const uint32_t dim = shape.dim_order[i];
    if (dim >= rank) return 0;
    seen |= 1U << dim;
    if (size == 0) {
      elements = 0;
      continue;
    }
    const uint64_t more = uint64_t{extent} * size;
    if (more > kElementsMax) return 0;
    extent = static_cast<uint32_t>(more);
  }
  // `rank` entries that set exactly the bits below `rank` are a permutation.
  const bool is_valid = seen == (1U << rank) - 1 && shape.elements == elements * extent;
  return is_valid ? kHeaderWords + rank : 0;
}

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

// rank, dtype, is_constant and is_null of kernels::Tensor as one 32-bit word, so that one store
// writes all four.
constexpr uint32_t kDTypeShift = 8, kIsConstant = 1U << 16, kIsNull = 1U << 24;
static_assert(offsetof(kernels::Tensor, dtype) == offsetof(kernels::Tensor, rank) + 1 &&
              offsetof(kernels::Tensor, is_constant) == offsetof(kernels::Tensor, rank) + 2 &&
              offsetof(kernels::Tensor, is_null) == offsetof(kernels::Tensor, rank) + 3);

/// Makes the kernel's view of a verified tensor.
THIMBLE_INLINE void make_tensor(const RecordShape& shape, uint32_t bytes, void* data,
                                uint32_t packed_fields, bool is_verified, kernels::Tensor& tensor) {
  tensor.data = data;
  tensor.sizes = reinterpret_cast<const int32_t*>(&shape + 1);
  tensor.dim_order = shape.dim_order;
  tensor.bytes = bytes;
  constexpr size_t kAt = offsetof(kernels::Tensor, rank);
  std::memcpy(reinterpret_cast<char*>(&tensor) + kAt, &packed_fields, sizeof packed_fields);
  // Callers have verified alignment, range and dim_order. An empty tensor is not marked, because
  // kernels require at least one element.
  tensor.is_verified = is_verified;
}

/// Copies two halves, each small enough that no compiler emits a loop or a call.
THIMBLE_INLINE void copy_tensor(const kernels::Tensor& from, kernels::Tensor& to) {
  constexpr size_t kHalf = 16;
  const void* const source = std::assume_aligned<alignof(kernels::Tensor)>(&from);
  void* const target = std::assume_aligned<alignof(kernels::Tensor)>(&to);
  std::memcpy(target, source, kHalf);
  std::memcpy(static_cast<char*>(target) + kHalf, static_cast<const char*>(source) + kHalf,
              sizeof to - kHalf);
}

THIMBLE_FAST THIMBLE_OUT_OF_LINE void decode_tensor(const Model& model, uint32_t index,
                                                    kernels::Tensor& tensor) {
  const RecordProgram& records = model.records;
  const RecordTensor record = records.tensors[index];
  const uint32_t place = records.places[index];
  const auto& shape = *reinterpret_cast<const RecordShape*>(records.shapes + record.shape);
  const uint32_t bytes = shape.elements * known_element_bytes(record.dtype);
  uint32_t packed_fields = shape.rank | uint32_t{record.dtype} << kDTypeShift;
  if (place >= abi::kPlaceConstant && place < abi::kPlaceInput) packed_fields |= kIsConstant;
  if (place == abi::kPlaceNone) packed_fields |= kIsNull;
  make_tensor(shape, bytes, address_of_place(model, place), packed_fields, bytes != 0, tensor);
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
  const RecordTensor* const tensors = records.tensors;
  const uint32_t* const places = records.places;
  const auto arena = reinterpret_cast<uintptr_t>(model.arena);
  const uint32_t arena_bytes = arena_bytes_of(records);
  const uint32_t count = records.header->tensors;
  uint32_t shape_at = 0;
  for (uint32_t i = 0; i != count;) {
    if (tensors[i].shape != shape_at) return Status::kCorrupt;
    const auto& shape = *reinterpret_cast<const RecordShape*>(records.shapes + shape_at);
    const uint32_t words = check_shape(shape, records.header->shape_words - shape_at);
    if (words == 0) return Status::kCorrupt;
    const uint32_t elements = shape.elements;
    const bool is_verified = elements != 0;
    do {
      const uint32_t dtype = tensors[i].dtype;
      const uint32_t element = element_bytes(dtype);
      if (element == 0) return Status::kUnsupported;
      const uint32_t bytes = elements * element;
      uint32_t packed_fields = shape.rank | dtype << kDTypeShift;
      const uint32_t place = places[i];
      void* data;
      // No sum wraps: a place is below 2^31, an offset below 2^30, and a size at most 2^29 bytes.
      if (place < abi::kPlaceConstant) {
        if (place + bytes > arena_bytes || (place & (element - 1)) != 0) return Status::kCorrupt;
        data = reinterpret_cast<void*>(arena + place);
      } else if (place < abi::kPlaceInput) {
        const uint32_t offset = place - abi::kPlaceConstant;
        if (offset + bytes > records.header->constants_bytes ||
            offset % abi::kConstantAlignment != 0) {
          return Status::kCorrupt;
        }
        data = const_cast<uint8_t*>(records.constants + offset);
        packed_fields |= kIsConstant;
      } else {
        if (!is_input_or_none(records, i)) return Status::kCorrupt;
        data = nullptr;  // no buffer yet
        if (place == abi::kPlaceNone) packed_fields |= kIsNull;
      }
      if (decoded_tensors != nullptr)
        make_tensor(shape, bytes, data, packed_fields, is_verified, decoded_tensors[i]);
    } while (++i != count && tensors[i].shape == shape_at);
    shape_at += words;
  }
  return Status::kOk;
}

bool is_planned(const RecordProgram& records, uint32_t index) {
  return records.places[index] < abi::kPlaceConstant;
}

/// Checks that inputs and outputs are indices of present tensors, and that each input is planned or
/// has the place of its own input index.
Status check_inputs_and_outputs(const RecordProgram& records) {
  const uint32_t inputs = records.header->inputs;
  const uint32_t all = inputs + records.header->outputs;
  for (uint32_t i = 0; i < all; ++i) {
    const uint32_t index = records.inputs[i];  // the outputs follow the inputs
    if (index >= records.header->tensors) return Status::kCorrupt;
    const uint32_t place = records.places[index];
    if (place == abi::kPlaceNone) return Status::kCorrupt;
    if (i >= inputs || place < abi::kPlaceConstant) continue;
    if (place != abi::kPlaceInput + i) return Status::kCorrupt;
  }
  return Status::kOk;
}

// --- Calls ---------------------------------------------------------------------------------------

/// Call::context of a call from records.
struct RecordCallContext {
  kernels::Call call;
  const Model* model;
  const uint16_t* operands;
};

/// A decoded call with space for kArguments arguments.
template <uint32_t kArguments>
struct DecodedRecordCall : RecordCallContext {
  alignas(kernels::Arg) unsigned char storage[kArguments * sizeof(kernels::Arg)];
  kernels::Arg* args() { return reinterpret_cast<kernels::Arg*>(storage); }
};
// Few operators have more arguments. Calls of those use more of the stack.
constexpr uint32_t kFewArguments = 6;

uint32_t arguments_of(const kernels::Kernel& kernel) {
  return kernel.count_in_file - 1U;
}

kernels::Tensor list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const auto& context = *static_cast<const RecordCallContext*>(call.context);
  kernels::Tensor tensor;
  const int32_t* const list = context.model->records.lists + context.operands[arg];
  decode_tensor(*context.model, static_cast<uint32_t>(list[1 + index]), tensor);
  return tensor;
}

bool is_list(char letter) {
  return letter == 'l' || letter == 'k' || letter == 'R' || letter == 'w';
}

/// Verifies an operand that is a list or a number.
THIMBLE_OUT_OF_LINE Status check_list_or_number(const RecordProgram& records, char letter,
                                                uint32_t operand) {
  if (is_list(letter)) {
    const uint32_t words = records.header->list_words;
    if (operand >= words) return Status::kCorrupt;
    const int32_t* const list = records.lists + operand;
    const auto count = static_cast<uint32_t>(list[0]);
    if (count > words - operand - 1) return Status::kCorrupt;
    if (letter == 'l' || letter == 'k') {
      return count <= abi::kMaxIntList ? Status::kOk : Status::kUnsupported;
    }
    for (uint32_t i = 1; i <= count; ++i) {
      const auto tensor = static_cast<uint32_t>(list[i]);
      if (tensor >= records.header->tensors) return Status::kCorrupt;
      const uint32_t place = records.places[tensor];
      if (place >= (letter == 'w' ? abi::kPlaceConstant : abi::kPlaceNone)) return Status::kCorrupt;
    }
    return Status::kOk;
  }
  if (letter == 'c' || letter == 'q') return Status::kUnsupported;
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
    arg.integer = letter == 'b' ? static_cast<int64_t>(bits != 0) : bits;  // or bits of a double
    return;
  }
  const int32_t* const list = records.lists + operand;
  const auto count = static_cast<uint32_t>(list[0]);
  arg.list = count;  // for l and k this is ints.count
  static_assert(offsetof(kernels::IntList, count) == 0);
  if (letter == 'R' || letter == 'w') return;
  for (uint32_t i = 0; i < count; ++i) arg.ints.items[i] = list[1 + i];
}

/// Decodes a call's arguments from its operands. kChecked: the operands are not verified yet.
/// `decoded_tensors`: all tensors, written by check_tensors(), or null.
template <bool kChecked>
THIMBLE_INLINE Status decode_call(const Model& model, const kernels::Tensor* decoded_tensors,
                                  const uint16_t* operands, const kernels::Kernel& kernel,
                                  RecordCallContext& context, kernels::Arg* args) {
  const RecordProgram& records = model.records;
  context.call = {args, &context, list_item};
  context.model = &model;
  context.operands = operands;
  const uint32_t tensors = records.header->tensors;
  for (const char* letters = kernel.arguments; *letters != 0; ++letters, ++args) {
    const char letter = *letters;
    const uint32_t operand = *operands++;
    if (letter == 'T' || letter == 'o' || letter == 's' || letter == 't') {
      if constexpr (kChecked) {
        if (operand >= tensors) return Status::kCorrupt;
        // Only the arena may be written, not the file or an input buffer.
        const uint32_t place = records.places[operand];
        if ((letter == 'o' || letter == 's') && place >= abi::kPlaceConstant) {
          return Status::kCorrupt;
        }
        if (place == abi::kPlaceNone && letter != 't') return Status::kUnsupported;
      }
      if (kChecked && decoded_tensors != nullptr) {
        copy_tensor(decoded_tensors[operand], args->tensor);
      } else {
        decode_tensor(model, operand, args->tensor);
      }
      continue;
    }
    if constexpr (kChecked) {
      THIMBLE_RETURN_IF_ERROR(check_list_or_number(records, letter, operand));
    }
    decode_list_or_number(records, letter, operand, *args);
  }
  return Status::kOk;
}

template <uint32_t kArguments>
THIMBLE_FAST THIMBLE_OUT_OF_LINE Status check_call(const Model& model,
                                                   const kernels::Tensor* decoded_tensors,
                                                   const uint16_t* operands,
                                                   const kernels::Kernel& kernel) {
  DecodedRecordCall<kArguments> decoded;
  const Status status =
      decode_call<true>(model, decoded_tensors, operands, kernel, decoded, decoded.args());
  return status == Status::kOk ? kernel.check(decoded.call) : status;
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

Status check_calls(const Model& model, const kernels::Tensor* decoded_tensors,
                   const kernels::KernelTable& kernels) {
  const RecordProgram& records = model.records;
  const uint32_t operators = records.header->operators;
  const uint32_t* const keys = operators_of(records);
  for (uint32_t i = 0; i < operators; ++i) {
    const kernels::Kernel* const kernel = find_kernel_by_key(kernels, keys[i]);
    if (kernel == nullptr) return Status::kMissingKernel;
    if (model.kernel_of_op != nullptr) model.kernel_of_op[i] = kernel;
  }
  const uint16_t* at = records.calls;
  const uint16_t* const end = at + records.header->call_words;
  for (uint32_t left = records.header->calls; left != 0; --left) {
    if (at == end || *at >= operators) return Status::kCorrupt;
    // The loop above has found a kernel for every operator.
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
    const kernels::Kernel& kernel = model.kernel_of_op != nullptr
                                        ? *model.kernel_of_op[*at]
                                        : *find_kernel_by_key(kernels, keys[*at]);
    ++at;
    const uint32_t arguments = arguments_of(kernel);
    if (arguments > static_cast<uint32_t>(end - at)) return Status::kCorrupt;
    THIMBLE_RETURN_IF_ERROR(arguments <= kFewArguments
                                ? check_call<kFewArguments>(model, decoded_tensors, at, kernel)
                                : check_call<abi::kMaxArgs>(model, decoded_tensors, at, kernel));
    at += arguments;
  }
  return at == end ? Status::kOk : Status::kCorrupt;
}

// --- The executor --------------------------------------------------------------------------------

Status load_records(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                    const Memory* memory, MemoryLayout& layout) {
  const ByteRegion segments = file.segments;
  if (segments.bytes < sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader) ||
      reinterpret_cast<uintptr_t>(segments.data) % abi::kConstantAlignment != 0) {
    return Status::kCorrupt;
  }
  Status status = check_records_header(segments);
  if (status != Status::kOk) return status;
  RecordProgram& records = model.records;
  locate_arrays(segments.data, records);
  const uint32_t arena_bytes = arena_bytes_of(records);
  if (records.header->state_at != 0) {
    const ByteRegion state = {segments.data + records.header->state_at,
                              records.header->state_bytes};
    status = check_state(state, arena_bytes);
    model.state = state.data;
  }
  if (status == Status::kOk) status = check_inputs_and_outputs(records);
  if (status != Status::kOk) return status;

  uint32_t input_data_count = 0;
  for (uint32_t i = 0; i < records.header->inputs && input_data_count == 0; ++i) {
    if (!is_planned(records, records.inputs[i])) input_data_count = records.header->inputs;
  }
  layout.set(arena_bytes, records.header->operators, 0, input_data_count);
  kernels::Tensor* decoded_tensors = nullptr;
  if (memory != nullptr) {
    status = place_arrays(model, *memory, layout);
    if (status != Status::kOk) return status;
    for (uint32_t i = 0; i < input_data_count; ++i) model.input_data[i] = nullptr;
    // Decoded tensors are stored temporarily in the arena, which is unused until the first run.
    const bool has_room = records.header->tensors * sizeof *decoded_tensors <= arena_bytes;
    if (has_room) decoded_tensors = reinterpret_cast<kernels::Tensor*>(model.arena);
  }
  status = check_tensors(model, decoded_tensors);
  return status == Status::kOk ? check_calls(model, decoded_tensors, kernels) : status;
}

uint32_t count(const Model& model, ProgramList list) {
  const abi::RecordsHeader& header = *model.records.header;
  return list == ProgramList::kInputs    ? header.inputs
         : list == ProgramList::kOutputs ? header.outputs
                                         : header.calls;
}

GraphTensor graph_tensor(const Model& model, ProgramList list, uint32_t index) {
  const RecordProgram& records = model.records;
  const uint32_t tensor = (list == ProgramList::kInputs ? records.inputs : records.outputs)[index];
  GraphTensor found;
  decode_tensor(model, tensor, found.tensor);
  found.is_planned = is_planned(records, tensor);
  return found;
}

/// Runs a kernel, between two calls of the trace hook if there is one.
template <class Body>
THIMBLE_INLINE void traced([[maybe_unused]] const Model& model,
                           [[maybe_unused]] const kernels::Kernel& kernel,
                           [[maybe_unused]] uint32_t index, Body body) {
#if THIMBLE_TRACE
  const thimble_trace_hook hook = model.trace_hook;
  if (hook != nullptr) {
    hook(model.trace_user, index, kernel.name, 0);
    body();
    hook(model.trace_user, index, kernel.name, 1);
    return;
  }
#endif
  body();
}

template <uint32_t kArguments>
THIMBLE_OUT_OF_LINE void run_decoded(const Model& model, const uint16_t* operands,
                                     const kernels::Kernel& kernel, uint32_t index) {
  DecodedRecordCall<kArguments> decoded;
  (void)decode_call<false>(model, nullptr, operands, kernel, decoded, decoded.args());
  traced(model, kernel, index, [&] { kernel.run(decoded.call); });
}

/// Runs the calls in order. kTraced: calls the trace hook before and after each call. The cost is 6
/// to 8 instructions per operand and about 20 per call. To reach this, values that are read
/// repeatedly are local variables, because the compiler must assume that a write to `operands`
/// changes memory. No helper is called between calls, and the operands of most calls are read
/// without a loop.
template <bool kTraced>
THIMBLE_FAST Status run_calls(const Model& model) {
  const RecordProgram& records = model.records;
  const kernels::Kernel* const* const resolved = model.kernel_of_op;
  const uint32_t* const places = records.places;
  uint8_t* const arena = model.arena;
  const uintptr_t constants = reinterpret_cast<uintptr_t>(records.constants) - abi::kPlaceConstant;
  const auto operand_address = [&](uint32_t tensor) -> void* {
    const uint32_t place = places[tensor];
    if (place < abi::kPlaceConstant) [[likely]]
      return arena + place;
    if (place < abi::kPlaceInput) [[likely]]
      return reinterpret_cast<void*>(constants + place);
    if (place == abi::kPlaceNone) return nullptr;
    return const_cast<void*>(model.input_data[place - abi::kPlaceInput]);
  };
  const uint16_t* at = records.calls;
  const uint16_t* const end = at + records.header->call_words;
  uint32_t index = 0;
  while (at != end) {
    const uint16_t* const call = at;
    const kernels::Kernel& kernel = *resolved[*call];
    const auto run_bare = kernel.run_bare;
    const uint32_t words = 1 + arguments_of(kernel);
    at += words;
    if (run_bare == nullptr) {
      if (words <= 1 + kFewArguments) {
        run_decoded<kFewArguments>(model, call + 1, kernel, index);
      } else {
        run_decoded<abi::kMaxArgs>(model, call + 1, kernel, index);
      }
    } else {
      void* operands[abi::kMaxArgs];
      switch (words) {
        default:
          for (uint32_t i = 6; i < words; ++i) operands[i - 1] = operand_address(call[i]);
          [[fallthrough]];
        case 6:
          operands[4] = operand_address(call[5]);
          [[fallthrough]];
        case 5:
          operands[3] = operand_address(call[4]);
          [[fallthrough]];
        case 4:
          operands[2] = operand_address(call[3]);
          [[fallthrough]];
        case 3:
          operands[1] = operand_address(call[2]);
          [[fallthrough]];
        case 2:  // every operator has at least one argument
          operands[0] = operand_address(call[1]);
      }
      if constexpr (kTraced) {
        traced(model, kernel, index, [&] { run_bare(operands); });
      } else {
        run_bare(operands);
      }
    }
    if constexpr (kTraced) ++index;
  }
  return Status::kOk;
}

Status run(const Model& model) {
#if THIMBLE_TRACE
  if (model.trace_hook != nullptr) return run_calls<true>(model);
#endif
  return run_calls<false>(model);
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const uint16_t* at = model.records.calls;
  for (; instruction != 0; --instruction) at += 1 + arguments_of(*model.kernel_of_op[*at]);
  return model.kernel_of_op[*at]->name;
}

}  // namespace

constinit const Executor record_executor = {load_records, count, graph_tensor, run, instruction_op};

}  // namespace thimble::runtime
