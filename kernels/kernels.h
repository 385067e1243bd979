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
#include "abi/status.h"

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

/// One decoded argument; which member is valid follows from the operator's argument letters.
struct Arg {
  union {
    Tensor tensor;    // T t o
    int64_t integer;  // i b
    double number;    // d
    IntList ints;     // l
    uint32_t list;    // R: number of tensors, read through Call::list_item
  };
  Arg() : integer(0) {}
};

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

struct Kernel {
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters of abi/pte_ops.def
  Status (*check)(const Call& call);
  void (*run)(const Call& call);
  uint32_t name_bytes = length_of(name);  // what names are told apart by first
};

/// A set of kernels; earlier entries win, so faster variants come first.
struct KernelTable {
  const Kernel* const* kernels;
  uint32_t count;
};

#define THIMBLE_KERNEL(variant, op) extern const Kernel variant##_##op;
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL

/// Every kernel of this build. Products link a generated table of what their files call instead.
KernelTable all_kernels();

}  // namespace thimble::kernels
