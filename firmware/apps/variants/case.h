// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares fast variants of kernels with the portable one, in one image.
//
// A row of cases.def names the function that makes the cases of an operator. The harness runs both
// kernels on the same operands, and compares the results, the bytes around them, and the operands.
// A kernel without run_bare() receives tensors, so its cases give each operand a shape, and its
// check() must accept them. The bytes after an operand differ between the two runs, so that a
// result that depends on them differs.
//
//   void make_example(uint32_t index, Case& c) {
//     const int32_t channels = c.uniform(1, 20);
//     int8_t* x = c.input<int8_t>(channels);   // filled with random bytes; may be changed
//     c.scratch(64);
//     c.output(channels);
//     c.text() << "channels " << channels;     // part of the message when the case fails
//   }

#include <cstddef>
#include <cstdint>

#include "firmware/common/text.h"
#include "kernels/kernel_list.h"

namespace thimble::firmware {

inline constexpr uint32_t kOperandsMax = 15;
inline constexpr uint32_t kGuardBytes = 32;

class Case {
 public:
  explicit Case(uint32_t seed)
      : state_(seed * 2654435761U + 88172645U), text_(note_, sizeof note_) {}

  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  /// A random number from low to high, both included.
  int32_t uniform(int32_t low, int32_t high) {
    const uint32_t count = static_cast<uint32_t>(high - low) + 1;
    return low + static_cast<int32_t>((next() >> 3) % count);
  }
  template <size_t kCount>
  int32_t one_of(const int32_t (&values)[kCount]) {
    return values[uniform(0, static_cast<int32_t>(kCount) - 1)];
  }

  /// Adds an operand, in the operator's order: `count` elements of random bytes, aligned to 16.
  template <class T>
  T* input(int32_t count) {
    return static_cast<T*>(operand(static_cast<uint32_t>(count) * sizeof(T), Role::kInput));
  }
  void scratch(int32_t bytes) { operand(static_cast<uint32_t>(bytes), Role::kScratch); }
  void output(int32_t bytes) { operand(static_cast<uint32_t>(bytes), Role::kOutput); }
  /// Gives the last operand a shape, in contiguous order, for kernels that receive tensors.
  void shape(kernels::DType dtype, const int32_t* sizes, uint32_t rank);
  /// Declares the last operand, which has a shape of four dimensions, to be channels-last in
  /// memory.
  void channels_last() { is_channels_last_[count_ - 1] = true; }
  /// Declares the last operand, which has a shape of three dimensions, to be transposed in memory.
  void transposed() { is_transposed_[count_ - 1] = true; }
  /// Declares the last operand to be a constant of the file.
  void constant() { is_constant_[count_ - 1] = true; }
  /// Adds an operand that is a number or a list, for kernels that receive arguments.
  void number(int32_t value) {
    roles_[count_] = Role::kNumber;
    sizes_[count_++][0] = value;
  }
  void real(double value) {
    roles_[count_] = Role::kReal;
    reals_[count_++] = value;
  }
  void list(int32_t first, int32_t second);
  /// Adds a list of `count` items, which must outlive the case.
  void list_of(const int32_t* items, uint32_t count) {
    roles_[count_] = Role::kList;
    data_[count_] = reinterpret_cast<uint8_t*>(const_cast<int32_t*>(items));
    ranks_[count_++] = count;
  }
  /// Adds an absent operand.
  void null() { roles_[count_++] = Role::kNull; }
  Text& text() { return text_; }

 private:
  friend class Trial;
  enum class Role : uint8_t { kInput, kScratch, kOutput, kNull, kNumber, kReal, kList };
  void* operand(uint32_t bytes, Role role);

  uint32_t state_;
  char note_[160] = {};
  Text text_;
  uint32_t count_ = 0;
  Role roles_[kOperandsMax] = {};
  uint8_t* data_[kOperandsMax] = {};
  uint32_t bytes_[kOperandsMax] = {};
  kernels::DType dtypes_[kOperandsMax] = {};
  int32_t sizes_[kOperandsMax][abi::kMaxRank] = {};
  uint32_t ranks_[kOperandsMax] = {};  // 0: no shape; of a list: its length
  double reals_[kOperandsMax] = {};
  bool is_channels_last_[kOperandsMax] = {};
  bool is_transposed_[kOperandsMax] = {};
  bool is_constant_[kOperandsMax] = {};
};

#define THIMBLE_CASES(op, make, count) void make(uint32_t index, Case& c);
#include "firmware/apps/variants/cases.def"
#undef THIMBLE_CASES

/// The loops of kernels/portable/dot.h, dot_int4.h and dot16.h, and their formulas.
extern const kernels::Kernel dot_loops, dot_formula, dot_int4_loops, dot_int4_formula, dot16_loops,
    dot16_formula, depthwise16_loops, depthwise16_formula, narrow16_loops, narrow16_formula;

}  // namespace thimble::firmware
