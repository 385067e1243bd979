// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime's interface to a kernel: a name, its argument letters, a check that runs once at
// load, and a run function.
//
// check() proves that run() with the same arguments accesses only the operands' bytes and has no
// undefined behaviour, because files are not trusted. run() then checks nothing. Both receive
// decoded arguments. In check(), data pointers may be null for operands in caller buffers and for
// operands without an address yet; constants always have an address.

#include <cstdint>

#include "abi/limits.h"
#include "abi/records.h"
#include "abi/status.h"

namespace thimble::runtime {
struct DelegateBackends;
struct Executor;
}  // namespace thimble::runtime

namespace thimble::kernels {

using abi::Status;

/// Element types, with the values used in the file (abi/pte_format.h).
enum class DType : uint8_t { kU8 = 0, kI8 = 1, kI16 = 2, kI32 = 3, kI64 = 4, kF32 = 6, kBool = 11 };

/// Maximum size of a tensor. Above it, sums of strides could overflow 32 bits. No Cortex-M has that
/// amount of memory.
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
  bool is_verified =
      false;  // true if check_tensor()'s conditions were already verified for all calls
};

struct IntList {
  uint32_t count = 0;
  int32_t items[abi::kMaxIntList] = {};
};

/// A `q` argument, with at most one item per spatial dimension of an image.
struct DoubleList {
  uint32_t count = 0;
  double items[2] = {};
};

/// A string without a terminating 0.
struct Text {
  const char* data = nullptr;
  uint32_t bytes = 0;
};

/// A string or list of doubles in the file's memory, before normalize_multi_type_arg().
struct Items {
  const uint8_t* data = nullptr;
  uint32_t count = 0;
};

/// The value of a `j` argument that is None in the file.
inline constexpr int64_t kAbsent = INT64_MIN;

/// One decoded argument. The operator's argument letters determine which member is valid.
struct Arg {
  union {
    Tensor tensor;       // T t o s
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
inline constexpr char kMultiTypeLetters[] = {'c', 'j', 'k', 'q', 'y', 'z'};
constexpr bool is_multi_type(char letter) {
  for (const char multi_type : kMultiTypeLetters) {
    if (letter == multi_type) return true;
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

/// Converts the argument of a multi-type letter to the type that kernels read. The argument was
/// decoded by its tag in the file (abi/pte_format.h). Called at each load and run. Kernels refer to
/// this function, so that it is linked only into images with kernels that need it.
using NormalizeArg = Status(char letter, uint32_t tag, Arg& arg);
NormalizeArg normalize_multi_type_arg;

struct Kernel {
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters of abi/pte_ops.def
  uint32_t key;           // abi::word_of() the operator's key; 0: no operator of abi/pte_ops.def
  Status (*check)(const Call& call);
  void (*run)(const Call& call);
  NormalizeArg* normalize_arg = nullptr;  // null if no letter is multi-type
  /// Runs an operator whose arguments are all tensors. It receives only their addresses, in the
  /// order of the letters (null for an absent tensor). check() has verified everything else, and
  /// packed constants contain all parameters. Null if run() needs sizes or scalars.
  void (*run_bare)(void* const* operands) = nullptr;
  uint16_t name_bytes = static_cast<uint16_t>(length_of(name));  // compared before the names
  uint8_t count_in_file = static_cast<uint8_t>(length_of(arguments) + 1);  // with the return value

  /// Returns true if the operator has several outputs; its return value is then a list of them.
  constexpr bool returns_list() const {
    const char* const last = arguments + count_in_file - 2;
    return *last == 'w' || (count_in_file > 2 && last[-1] == 'o');
  }
};

/// A set of kernels. Earlier entries have priority, so faster variants come first. Kernels with the
/// same name and other arguments are signatures of other releases, see abi/pte_ops.def.
struct KernelTable {
  const Kernel* const* kernels;
  uint32_t count;
  /// Index of a table that is sorted by name_bytes: [n] is the number of names shorter than n, for
  /// n up to kNameBytesMax + 1. Null if the table is not sorted. Large tables should be sorted.
  const uint16_t* shorter = nullptr;
  /// Executes delegate calls (runtime/exec/delegates.h); null if no file has any.
  const runtime::DelegateBackends* delegates = nullptr;
  /// The kernels sorted by key, or null. Large tables should have it.
  const Kernel* const* by_key = nullptr;
  /// Executes files without records (runtime/exec/executor.h); null if no such files are loaded.
  const runtime::Executor* flatbuffer_executor = nullptr;
};
inline constexpr uint32_t kNameBytesMax = 63;

/// Returns every kernel of this build, sorted. Products instead link a generated table of the
/// kernels that their files call.
KernelTable all_kernels();

}  // namespace thimble::kernels
