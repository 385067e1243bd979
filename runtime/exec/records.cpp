// Executes programs from records (abi/records.h). Load verifies each record once, in file order,
// and calls the check() of each kernel. Run adds a base address to each operand's place and calls
// the kernel. If a kernel needs more than addresses, its arguments are decoded as at load.

#include "abi/limits.h"
#include "runtime/exec/element.h"
#include "runtime/exec/reader.h"
#include "runtime/exec/state.h"

namespace thimble::runtime {
namespace {

using abi::RecordShape;
using abi::RecordTensor;

// The rest of the runtime is built for size. Functions that handle every operand of every call
// would execute a quarter more instructions with that setting.
#if defined(__GNUC__) && !defined(__clang__)
#define THIMBLE_FAST [[gnu::optimize("O2")]]
#else
#define THIMBLE_FAST
#endif

constexpr uint32_t kArenaBytesMax = 0x7FFFFFFF;
constexpr uint32_t kElementsMax = kernels::kMaxTensorBytes / 8;  // for elements of up to 8 bytes

// --- The file ------------------------------------------------------------------------------------

/// Returns true if the range is inside the segments, which start at the entry.
bool is_inside(ByteRegion segments, uint32_t at, uint32_t bytes) {
  return at <= segments.bytes && bytes <= segments.bytes - at;
}

Status check_entry(ByteRegion segments) {
  const auto& entry = *reinterpret_cast<const abi::Entry*>(segments.data);
  const auto& head = *reinterpret_cast<const abi::Records*>(segments.data + sizeof entry);
  const bool known_layout =
      entry.kernel_layout_version == abi::kKernelLayoutVersion || entry.kernel_layout_version == 0;
  if (!known_layout) return Status::kLayoutVersion;
  const uint32_t words =
      2U * head.numbers + head.operators + 2U * head.tensors + head.shape_words + head.list_words;
  constexpr uint32_t kHeadBytes = sizeof entry + sizeof head;
  const uint32_t bytes = kHeadBytes + 4 * words + 2U * (head.inputs + head.outputs);
  const bool is_whole = head.bytes <= segments.bytes && bytes <= head.bytes &&
                        head.call_words == (head.bytes - bytes) / 2 && head.bytes % 2 == 0 &&
                        is_inside(segments, head.constants_at, head.constants_bytes) &&
                        head.constants_at % abi::kConstantAlignment == 0 &&
                        is_inside(segments, head.state_at, head.state_bytes) &&
                        head.state_at % 4 == 0 && entry.arena_bytes <= kArenaBytesMax;
  return is_whole ? Status::kOk : Status::kCorrupt;
}

void find_parts(Position entry, RecordImage& image) {
  const auto* const head = reinterpret_cast<const abi::Records*>(entry + sizeof(abi::Entry));
  const auto* words = reinterpret_cast<const uint32_t*>(head + 1);
  image.head = head;
  words += 2 * head->numbers + head->operators;
  image.places = words;
  words += head->tensors;
  image.tensors = reinterpret_cast<const RecordTensor*>(words);
  words += head->tensors;
  image.shapes = words;
  words += head->shape_words;
  image.lists = reinterpret_cast<const int32_t*>(words);
  words += head->list_words;
  image.inputs = reinterpret_cast<const uint16_t*>(words);
  image.outputs = image.inputs + head->inputs;
  image.calls = image.outputs + head->outputs;
  image.constants = entry + head->constants_at;
}

const int64_t* numbers_of(const RecordImage& image) {
  return reinterpret_cast<const int64_t*>(image.head + 1);
}
const uint32_t* operators_of(const RecordImage& image) {
  return reinterpret_cast<const uint32_t*>(numbers_of(image) + image.head->numbers);
}
uint32_t arena_bytes_of(const RecordImage& image) {
  return (reinterpret_cast<const abi::Entry*>(image.head) - 1)->arena_bytes;
}

// --- Tensors -------------------------------------------------------------------------------------

/// Verifies the shape at the start of `words` words. Returns its size in words; 0 if invalid.
uint32_t check_shape(const RecordShape& shape, uint32_t words) {
  constexpr uint32_t kHeadWords = sizeof shape / 4;
  if (words < kHeadWords) return 0;
  const uint32_t rank = shape.rank;
  if (rank > abi::kMaxRank || words - kHeadWords < rank) return 0;
  const auto* const sizes = reinterpret_cast<const uint32_t*>(&shape + 1);
  if (rank == 1) {  // fast path for packed constants
    const bool is_sound = sizes[0] == shape.elements && sizes[0] <= kElementsMax;
    return is_sound && shape.dim_order[0] == 0 ? kHeadWords + 1 : 0;
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
  const bool is_sound = seen == (1U << rank) - 1 && shape.elements == elements * extent;
  return is_sound ? kHeadWords + rank : 0;
}

THIMBLE_INLINE void* address_of(const Model& model, uint32_t place) {
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

// Four fields of kernels::Tensor, from `rank` on, as one 32-bit number.
constexpr uint32_t kDTypeShift = 8, kIsConstant = 1U << 16, kIsNull = 1U << 24;
static_assert(offsetof(kernels::Tensor, dtype) == offsetof(kernels::Tensor, rank) + 1 &&
              offsetof(kernels::Tensor, is_constant) == offsetof(kernels::Tensor, rank) + 2 &&
              offsetof(kernels::Tensor, is_null) == offsetof(kernels::Tensor, rank) + 3);

/// Makes the kernel's view of a verified tensor.
THIMBLE_INLINE void make_tensor(const RecordShape& shape, uint32_t bytes, void* data,
                                uint32_t fields, bool is_sound, kernels::Tensor& tensor) {
  tensor.data = data;
  tensor.sizes = reinterpret_cast<const int32_t*>(&shape + 1);
  tensor.dim_order = shape.dim_order;
  tensor.bytes = bytes;
  constexpr size_t kAt = offsetof(kernels::Tensor, rank);
  std::memcpy(reinterpret_cast<char*>(&tensor) + kAt, &fields, sizeof fields);
  // It is aligned, complete and in a valid order. Kernels also require at least one element.
  tensor.is_sound = is_sound;
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
  const RecordImage& image = model.records;
  const RecordTensor record = image.tensors[index];
  const uint32_t place = image.places[index];
  const auto& shape = *reinterpret_cast<const RecordShape*>(image.shapes + record.shape);
  const uint32_t bytes = shape.elements * known_element_bytes(record.dtype);
  uint32_t fields = shape.rank | uint32_t{record.dtype} << kDTypeShift;
  if (place >= abi::kPlaceConstant && place < abi::kPlaceInput) fields |= kIsConstant;
  if (place == abi::kPlaceNone) fields |= kIsNull;
  make_tensor(shape, bytes, address_of(model, place), fields, bytes != 0, tensor);
}

/// Returns true if the tensor is an input at its own index, or has no place.
bool is_input_or_none(const RecordImage& image, uint32_t index) {
  const uint32_t place = image.places[index];
  if (place == abi::kPlaceNone) return true;
  const uint32_t input = place - abi::kPlaceInput;
  return input < image.head->inputs && image.inputs[input] == index;
}

/// Verifies that each tensor is inside the memory that its place refers to. Tensors refer to shapes
/// in file order, so that each shape is verified once. If `made` is not null, it receives each
/// tensor as kernels use it.
THIMBLE_FAST Status check_tensors(const Model& model, kernels::Tensor* decoded_tensors) {
  const RecordImage& image = model.records;
  const RecordTensor* const tensors = image.tensors;
  const uint32_t* const places = image.places;
  const auto arena = reinterpret_cast<uintptr_t>(model.arena);
  const uint32_t arena_bytes = arena_bytes_of(image);
  const uint32_t count = image.head->tensors;
  uint32_t shape_at = 0;
  for (uint32_t i = 0; i != count;) {
    if (tensors[i].shape != shape_at) return Status::kCorrupt;
    const auto& shape = *reinterpret_cast<const RecordShape*>(image.shapes + shape_at);
    const uint32_t words = check_shape(shape, image.head->shape_words - shape_at);
    if (words == 0) return Status::kCorrupt;
    const uint32_t elements = shape.elements;
    const bool is_sound = elements != 0;
    do {
      const uint32_t dtype = tensors[i].dtype;
      const uint32_t element = element_bytes(dtype);
      if (element == 0) return Status::kUnsupported;
      const uint32_t bytes = elements * element;
      uint32_t fields = shape.rank | dtype << kDTypeShift;
      const uint32_t place = places[i];
      void* data;
      // No sum wraps: a place is below 2^31, an offset below 2^30, and a size at most 2^29 bytes.
      if (place < abi::kPlaceConstant) {
        if (place + bytes > arena_bytes || (place & (element - 1)) != 0) return Status::kCorrupt;
        data = reinterpret_cast<void*>(arena + place);
      } else if (place < abi::kPlaceInput) {
        const uint32_t offset = place - abi::kPlaceConstant;
        if (offset + bytes > image.head->constants_bytes || offset % abi::kConstantAlignment != 0) {
          return Status::kCorrupt;
        }
        data = const_cast<uint8_t*>(image.constants + offset);
        fields |= kIsConstant;
      } else {
        if (!is_input_or_none(image, i)) return Status::kCorrupt;
        data = nullptr;  // no buffer yet
        if (place == abi::kPlaceNone) fields |= kIsNull;
      }
      if (decoded_tensors != nullptr)
        make_tensor(shape, bytes, data, fields, is_sound, decoded_tensors[i]);
    } while (++i != count && tensors[i].shape == shape_at);
    shape_at += words;
  }
  return Status::kOk;
}

bool is_planned(const RecordImage& image, uint32_t index) {
  return image.places[index] < abi::kPlaceConstant;
}

/// Checks that inputs and outputs are tensors. An input is planned or has its own input place.
Status check_interface(const RecordImage& image) {
  const uint32_t inputs = image.head->inputs;
  const uint32_t all = inputs + image.head->outputs;
  for (uint32_t i = 0; i < all; ++i) {
    const uint32_t index = image.inputs[i];  // the outputs follow the inputs
    if (index >= image.head->tensors) return Status::kCorrupt;
    const uint32_t place = image.places[index];
    if (place == abi::kPlaceNone) return Status::kCorrupt;
    if (i >= inputs || place < abi::kPlaceConstant) continue;
    if (place != abi::kPlaceInput + i) return Status::kCorrupt;
  }
  return Status::kOk;
}

// --- Calls ---------------------------------------------------------------------------------------

struct FrameHead {
  kernels::Call call;
  const Model* model;
  const uint16_t* operands;
};

/// A decoded call with space for kArguments arguments.
template <uint32_t kArguments>
struct RecordFrame : FrameHead {
  alignas(kernels::Arg) unsigned char storage[kArguments * sizeof(kernels::Arg)];
  kernels::Arg* args() { return reinterpret_cast<kernels::Arg*>(storage); }
};
// Few operators have more arguments. Calls of those use more of the stack.
constexpr uint32_t kFewArguments = 6;

uint32_t arguments_of(const kernels::Kernel& kernel) {
  return kernel.count_in_file - 1U;
}

kernels::Tensor list_item(const kernels::Call& call, uint32_t arg, uint32_t index) {
  const auto& head = *static_cast<const FrameHead*>(call.context);
  kernels::Tensor tensor;
  const int32_t* const list = head.model->records.lists + head.operands[arg];
  decode_tensor(*head.model, static_cast<uint32_t>(list[1 + index]), tensor);
  return tensor;
}

bool is_list(char letter) {
  return letter == 'l' || letter == 'k' || letter == 'R' || letter == 'w';
}

/// Verifies an operand whose letter is not a tensor's.
THIMBLE_OUT_OF_LINE Status check_other(const RecordImage& image, char letter, uint32_t operand) {
  if (is_list(letter)) {
    const uint32_t words = image.head->list_words;
    if (operand >= words) return Status::kCorrupt;
    const int32_t* const list = image.lists + operand;
    const auto count = static_cast<uint32_t>(list[0]);
    if (count > words - operand - 1) return Status::kCorrupt;
    if (letter == 'l' || letter == 'k') {
      return count <= abi::kMaxIntList ? Status::kOk : Status::kUnsupported;
    }
    for (uint32_t i = 1; i <= count; ++i) {
      const auto tensor = static_cast<uint32_t>(list[i]);
      if (tensor >= image.head->tensors) return Status::kCorrupt;
      const uint32_t place = image.places[tensor];
      if (place >= (letter == 'w' ? abi::kPlaceConstant : abi::kPlaceNone)) return Status::kCorrupt;
    }
    return Status::kOk;
  }
  if (letter == 'c' || letter == 'q') return Status::kUnsupported;
  if (operand >= image.head->numbers) return Status::kCorrupt;
  // A NaN means None to a kernel that accepts any number, so a required number must not be a NaN.
  constexpr uint64_t kInfinite = uint64_t{0x7FF} << 52;
  const auto bits = static_cast<uint64_t>(numbers_of(image)[operand]);
  return letter == 'y' && bits << 1 > kInfinite << 1 ? Status::kBadParameter : Status::kOk;
}

void decode_other(const RecordImage& image, char letter, uint32_t operand, kernels::Arg& arg) {
  if (!is_list(letter)) {
    const int64_t bits = numbers_of(image)[operand];
    arg.integer = letter == 'b' ? static_cast<int64_t>(bits != 0) : bits;  // or bits of a double
    return;
  }
  const int32_t* const list = image.lists + operand;
  const auto count = static_cast<uint32_t>(list[0]);
  arg.list = count;
  static_assert(offsetof(kernels::IntList, count) == 0);
  if (letter == 'R' || letter == 'w') return;
  for (uint32_t i = 0; i < count; ++i) arg.ints.items[i] = list[1 + i];
}

/// Decodes a call's arguments from its operands. kChecked: the operands are not verified yet.
/// `made`: all tensors as made by check_tensors(), or null.
template <bool kChecked>
THIMBLE_INLINE Status decode_call(const Model& model, const kernels::Tensor* decoded_tensors,
                                  const uint16_t* operands, const kernels::Kernel& kernel,
                                  FrameHead& head, kernels::Arg* args) {
  const RecordImage& image = model.records;
  head.call = {args, &head, list_item};
  head.model = &model;
  head.operands = operands;
  const uint32_t tensors = image.head->tensors;
  for (const char* letters = kernel.arguments; *letters != 0; ++letters, ++args) {
    const char letter = *letters;
    const uint32_t operand = *operands++;
    if (letter == 'T' || letter == 'o' || letter == 's' || letter == 't') {
      if constexpr (kChecked) {
        if (operand >= tensors) return Status::kCorrupt;
        // Only the arena may be written, not the file or an input buffer.
        const uint32_t place = image.places[operand];
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
      const Status status = check_other(image, letter, operand);
      if (status != Status::kOk) return status;
    }
    decode_other(image, letter, operand, *args);
  }
  return Status::kOk;
}

template <uint32_t kArguments>
THIMBLE_FAST THIMBLE_OUT_OF_LINE Status check_call(const Model& model,
                                                   const kernels::Tensor* decoded_tensors,
                                                   const uint16_t* operands,
                                                   const kernels::Kernel& kernel) {
  RecordFrame<kArguments> frame;
  const Status status =
      decode_call<true>(model, decoded_tensors, operands, kernel, frame, frame.args());
  return status == Status::kOk ? kernel.check(frame.call) : status;
}

THIMBLE_FAST const kernels::Kernel* find_kernel(const kernels::KernelTable& table, uint32_t hash) {
  uint32_t first = 0;
  if (table.by_hash == nullptr) {
    for (; first < table.count; ++first) {
      if (table.kernels[first]->hash == hash) return table.kernels[first];
    }
    return nullptr;
  }
  // Hashes are evenly distributed, so the index is mostly near the interpolated one.
  constexpr uint32_t kNear = 16;
  const kernels::Kernel* const* const rows = table.by_hash;
  const auto guess = static_cast<uint32_t>(uint64_t{hash} * table.count >> 32);
  uint32_t last = table.count;
  if (guess > kNear && rows[guess - kNear]->hash < hash) first = guess - kNear;
  if (last - guess > kNear && rows[guess + kNear]->hash >= hash) last = guess + kNear;
  // Binary search for the first hash that is not lower.
  while (first != last) {
    const uint32_t middle = (first + last) / 2;
    if (rows[middle]->hash < hash) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == table.count || table.by_hash[first]->hash != hash) return nullptr;
  return table.by_hash[first];
}

Status check_calls(const Model& model, const kernels::Tensor* decoded_tensors,
                   const kernels::KernelTable& kernels) {
  const RecordImage& image = model.records;
  const uint32_t operators = image.head->operators;
  const uint32_t* const hashes = operators_of(image);
  for (uint32_t i = 0; i < operators; ++i) {
    const kernels::Kernel* const kernel = find_kernel(kernels, hashes[i]);
    if (kernel == nullptr) return Status::kMissingKernel;
    if (model.resolved != nullptr) model.resolved[i] = kernel;
  }
  const uint16_t* at = image.calls;
  const uint16_t* const end = at + image.head->call_words;
  for (uint32_t left = image.head->calls; left != 0; --left) {
    if (at == end || *at >= operators) return Status::kCorrupt;
    // The loop above has found a kernel for every operator.
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
    const kernels::Kernel& kernel =
        model.resolved != nullptr ? *model.resolved[*at] : *find_kernel(kernels, hashes[*at]);
    ++at;
    const uint32_t arguments = arguments_of(kernel);
    if (arguments > static_cast<uint32_t>(end - at)) return Status::kCorrupt;
    const Status status = arguments <= kFewArguments
                              ? check_call<kFewArguments>(model, decoded_tensors, at, kernel)
                              : check_call<abi::kMaxArgs>(model, decoded_tensors, at, kernel);
    if (status != Status::kOk) return status;
    at += arguments;
  }
  return at == end ? Status::kOk : Status::kCorrupt;
}

// --- The reader ----------------------------------------------------------------------------------

Status load_records(Model& model, const File& file, const kernels::KernelTable& kernels,
                    const Memory* memory, Layout& layout) {
  const ByteRegion segments = file.segments;
  if (segments.bytes < sizeof(abi::Entry) + sizeof(abi::Records) ||
      reinterpret_cast<uintptr_t>(segments.data) % abi::kConstantAlignment != 0) {
    return Status::kCorrupt;
  }
  Status status = check_entry(segments);
  if (status != Status::kOk) return status;
  RecordImage& image = model.records;
  find_parts(segments.data, image);
  const uint32_t arena_bytes = arena_bytes_of(image);
  if (image.head->state_at != 0) {
    const ByteRegion state = {segments.data + image.head->state_at, image.head->state_bytes};
    status = check_state(state, arena_bytes);
    model.state = state.data;
  }
  if (status == Status::kOk) status = check_interface(image);
  if (status != Status::kOk) return status;

  uint32_t inputs = 0;
  for (uint32_t i = 0; i < image.head->inputs && inputs == 0; ++i) {
    if (!is_planned(image, image.inputs[i])) inputs = image.head->inputs;
  }
  layout.set(arena_bytes, image.head->operators, 0, inputs);
  kernels::Tensor* decoded_tensors = nullptr;
  if (memory != nullptr) {
    status = place_arrays(model, *memory, layout);
    if (status != Status::kOk) return status;
    for (uint32_t i = 0; i < inputs; ++i) model.input_data[i] = nullptr;
    // The arena is unused until the first run.
    const bool has_room = image.head->tensors * sizeof *decoded_tensors <= arena_bytes;
    if (has_room) decoded_tensors = reinterpret_cast<kernels::Tensor*>(model.arena);
  }
  status = check_tensors(model, decoded_tensors);
  return status == Status::kOk ? check_calls(model, decoded_tensors, kernels) : status;
}

uint32_t count(const Model& model, ProgramList part) {
  const abi::Records& head = *model.records.head;
  return part == ProgramList::kInputs    ? head.inputs
         : part == ProgramList::kOutputs ? head.outputs
                                         : head.calls;
}

Port port(const Model& model, ProgramList part, uint32_t index) {
  const RecordImage& image = model.records;
  const uint32_t tensor = (part == ProgramList::kInputs ? image.inputs : image.outputs)[index];
  Port found;
  decode_tensor(model, tensor, found.tensor);
  found.is_planned = is_planned(image, tensor);
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
  RecordFrame<kArguments> frame;
  (void)decode_call<false>(model, nullptr, operands, kernel, frame, frame.args());
  traced(model, kernel, index, [&] { kernel.run(frame.call); });
}

/// Runs the calls in order. kTraced: a hook needs their indices. The cost is 6 to 8 instructions
/// per operand and about 20 per call. To reach this, values that are read repeatedly are local
/// variables, because the compiler must assume that a write to `operands` changes memory. No helper
/// is called between calls, and the operands of most calls are read without a loop.
template <bool kTraced>
THIMBLE_FAST Status run_calls(const Model& model) {
  const RecordImage& image = model.records;
  const kernels::Kernel* const* const resolved = model.resolved;
  const uint32_t* const places = image.places;
  uint8_t* const arena = model.arena;
  const uintptr_t constants = reinterpret_cast<uintptr_t>(image.constants) - abi::kPlaceConstant;
  const auto address_of = [&](uint32_t tensor) -> void* {
    const uint32_t place = places[tensor];
    if (place < abi::kPlaceConstant) [[likely]]
      return arena + place;
    if (place < abi::kPlaceInput) [[likely]]
      return reinterpret_cast<void*>(constants + place);
    if (place == abi::kPlaceNone) return nullptr;
    return const_cast<void*>(model.input_data[place - abi::kPlaceInput]);
  };
  const uint16_t* at = image.calls;
  const uint16_t* const end = at + image.head->call_words;
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
          for (uint32_t i = 6; i < words; ++i) operands[i - 1] = address_of(call[i]);
          [[fallthrough]];
        case 6:
          operands[4] = address_of(call[5]);
          [[fallthrough]];
        case 5:
          operands[3] = address_of(call[4]);
          [[fallthrough]];
        case 4:
          operands[2] = address_of(call[3]);
          [[fallthrough]];
        case 3:
          operands[1] = address_of(call[2]);
          [[fallthrough]];
        case 2:  // every operator has at least one argument
          operands[0] = address_of(call[1]);
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
  for (; instruction != 0; --instruction) at += 1 + arguments_of(*model.resolved[*at]);
  return model.resolved[*at]->name;
}

}  // namespace

constinit const Reader record_reader = {load_records, count, port, run, instruction_op};

}  // namespace thimble::runtime
