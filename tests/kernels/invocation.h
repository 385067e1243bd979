// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel call built by a test: operands, scalars and lists in the order of the operator's
// argument letters. Buffers have exactly the operand's size, so that AddressSanitizer detects an
// access one byte after the end.

#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "abi/pte_ops.h"
#include "kernels/kernels.h"

namespace thimble::kernels::test {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
using Random = std::mt19937;

inline const Order kNhwc = {0, 2, 3, 1};

/// Returns the order 0, 1, 2, ...
Order contiguous(size_t rank);
/// Returns a uniform random integer in low..high.
int32_t uniform(Random& random, int32_t low, int32_t high);
Order random_order(Random& random, size_t rank);
uint32_t bytes_of(DType dtype);

struct FreeAligned {
  void operator()(uint8_t* p) const { ::operator delete (p, std::align_val_t{16}); }
};
using Buffer = std::unique_ptr<uint8_t, FreeAligned>;
Buffer allocate(uint32_t bytes);

struct Value {
  DType dtype = DType::kI8;
  Sizes sizes;
  Order order;
  uint32_t bytes = 0;
  bool constant = false, null = false;
  Buffer data;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.get());
  }
  int32_t count() const { return static_cast<int32_t>(bytes / bytes_of(dtype)); }
  /// Returns the memory position of a logical index.
  size_t at(const Sizes& index) const;
  int8_t& i8(const Sizes& index) { return as<int8_t>()[at(index)]; }
  Tensor tensor() const;
  void fill(Random& random);
};

/// Returns an uninitialized value. An empty `order` means contiguous.
Value make(DType dtype, Sizes sizes, Order order = {});
Value random_codes(Random& random, Sizes sizes, Order order = {});
Value constant_words(const std::vector<int32_t>& words);
Value constant_bytes(const std::vector<uint8_t>& bytes);
/// Returns the attribute constant of a direct operator.
Value attributes(const std::vector<int32_t>& words);
Value absent();

/// Advances `index` to the next index of a shape, the last dimension fastest. Start with an empty
/// index: for (Sizes i; next(shape, i);) ...
bool next(const Sizes& shape, Sizes& index);

struct Invocation {
  const Kernel* kernel = nullptr;
  std::deque<Value> values;
  std::vector<Arg> args;                  // refresh() fills in tensors
  std::vector<int> value_of;              // per argument: index into values, or -1
  std::vector<std::vector<int>> list_of;  // per argument: indices of the items of an R list

  explicit Invocation(abi::PteOp op);
  Invocation& add(Value value);
  Invocation& add(int64_t integer);
  Invocation& add(double number);
  Invocation& add(const std::vector<int32_t>& ints);
  Invocation& add_list(std::vector<Value> list);
  /// The text must outlive the call; string literals do.
  Invocation& add_text(const char* text);
  Invocation& add_doubles(const std::vector<double>& doubles);

  Value& value(size_t arg) { return values[static_cast<size_t>(value_of[arg])]; }
  Value& out() { return value(args.size() - 1); }

  Status check();
  /// Checks that check() passes, then runs the kernel.
  void run();
  /// Records that a test found every element of the result equal (tests/matrix).
  void record_equal();
  /// Calls check() without data pointers of non-constants, as before memory planning.
  Status check_unplaced();

 private:
  Arg& slot(const char* letters);
  Call refresh(bool placed);
};

/// Returns the kernel that all_kernels() selects.
const Kernel& kernel_of(abi::PteOp op);

}  // namespace thimble::kernels::test
