#pragma once
// What a kernel is, seen by the runtime: a name, its argument kinds, a check done once at load, and
// a run.
//
// check() proves that run() on the same arguments touches only the operands' bytes and has no
// undefined behaviour: files come from outside. run() then checks nothing. Both see decoded
// arguments; data pointers may be null in check() for operands that live in caller buffers or are
// not placed yet; constants are always present.

#include <cstdint>

#include "abi/limits.h"
#include "abi/records.h"
#include "abi/status.h"

namespace thimble::runtime {
struct Delegates;
struct Reader;
}  // namespace thimble::runtime

namespace thimble::kernels {

using abi::Status;

/// Codes as in the file (abi/pte_format.h).
enum class DType : uint8_t { kU8 = 0, kI8 = 1, kI16 = 2, kI32 = 3, kI64 = 4, kF32 = 6, kBool = 11 };

/// Above this, sums of strides could leave 32 bits. No Cortex-M has such a memory.
inline constexpr uint32_t kMaxTensorBytes = 1U << 29;

struct Tensor {
  void* data = nullptr;
  const int32_t* sizes = nullptr;      // logical, `rank` entries
  const uint8_t* dim_order = nullptr;  // `rank` entries, outermost first
  uint32_t bytes = 0;                  // equals the product of sizes times the element size
  uint8_t rank = 0;
  DType dtype = DType::kI8;
  bool is_constant = false;
  bool is_null = false;  // an absent optional operand
  bool is_sound =
      false;  // who made it has seen to all that check_tensor() asks, once for all calls
};

struct IntList {
  uint32_t count = 0;
  int32_t items[abi::kMaxIntList] = {};
};

/// Of a `q` argument: as many as an image has dimensions.
struct DoubleList {
  uint32_t count = 0;
  double items[2] = {};
};

/// Not terminated.
struct Text {
  const char* data = nullptr;
  uint32_t bytes = 0;
};

/// A text or list of doubles where it lies in the file, before `settle`.
struct Items {
  const uint8_t* data = nullptr;
  uint32_t count = 0;
};

/// What a `j` argument is where the file has None.
inline constexpr int64_t kAbsent = INT64_MIN;

/// One decoded argument; which member is valid follows from the operator's argument letters.
struct Arg {
  union {
    Tensor tensor;       // T t o
    int64_t integer;     // i b; j: kAbsent for None
    double number;       // d y; z: NaN for None
    IntList ints;        // l; k: no items for None
    DoubleList doubles;  // q: no items for None
    Text text;           // c
    uint32_t list;       // R w: number of tensors, read through Call::list_item
    Items items;
  };
  Arg() : integer(0) {}
};

/// Letters of arguments that may be of several types in a file.
inline constexpr char kOpenLetters[] = {'c', 'j', 'k', 'q', 'y', 'z'};
constexpr bool is_open(char letter) {
  for (const char open : kOpenLetters) {
    if (letter == open) return true;
  }
  return false;
}

struct Call {
  const Arg* args = nullptr;
  const void* context = nullptr;
  Tensor (*list_item)(const Call& call, uint32_t arg, uint32_t index) = nullptr;
};

constexpr uint32_t length_of(const char* text) {
  uint32_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

/// Makes of an open letter's value, decoded by the tag it has in the file (abi/pte_format.h), what
/// kernels read, at each load and run. It belongs to the kernels: an image whose kernels have no
/// need of it does not hold it.
using Settle = Status(char letter, uint32_t tag, Arg& arg);
Settle settle_open;
consteval Settle* settle_for(const char* letters) {
  for (; *letters != 0; ++letters) {
    if (is_open(*letters)) return settle_open;
  }
  return nullptr;
}

struct Kernel {
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters of abi/pte_ops.def
  Status (*check)(const Call& call);
  void (*run)(const Call& call);
  Settle* settle = nullptr;  // null if there is no open letter
  /// Of an operator whose arguments are tensors only: run() needs no more of them than where they
  /// are, in the order of the letters (null: an absent one). check() has seen to the rest, and the
  /// packed constants say all that run() has to know. Null: run() needs sizes or scalars.
  void (*run_bare)(void* const* operands) = nullptr;
  uint16_t name_bytes = static_cast<uint16_t>(length_of(name));  // names are told apart by it first
  uint8_t count_in_file = static_cast<uint8_t>(length_of(arguments) + 1);  // with the return value
  uint32_t hash = abi::hash_of(name, arguments);  // what records call it by

  /// Several outputs, which have a list of them as the return value.
  constexpr bool returns_list() const {
    const char* const last = arguments + count_in_file - 2;
    return *last == 'w' || (count_in_file > 2 && last[-1] == 'o');
  }
};

/// A set of kernels; earlier entries win, so faster variants come first. Kernels of one name and
/// other arguments are forms of other releases, see abi/pte_ops.def.
struct KernelTable {
  const Kernel* const* kernels;
  uint32_t count;
  /// Of a table that is sorted by name_bytes, as a large one should be: [n] is how many names are
  /// shorter than n, for n up to kNameBytesMax + 1. Else null.
  const uint16_t* shorter = nullptr;
  /// What runs delegate calls (runtime/exec/delegates.h); null if the files have none.
  const runtime::Delegates* delegates = nullptr;
  /// The kernels in the order of their hashes, as a large table should have them. Else null.
  const Kernel* const* by_hash = nullptr;
  /// What reads files without records (runtime/exec/reader.h); null if there are none.
  const runtime::Reader* stock = nullptr;
};
inline constexpr uint32_t kNameBytesMax = 63;

/// Every kernel of this build, sorted. Products link a generated table of what their files call
/// instead.
KernelTable all_kernels();

}  // namespace thimble::kernels
