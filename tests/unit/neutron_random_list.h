// SPDX-License-Identifier: Apache-2.0
#pragma once
// One random kernel list: operands in any memory, with any strides.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "neutron_reference.h"

namespace thimble::neutron_test {

class RandomList {
 public:
  explicit RandomList(uint32_t seed) : random_(seed) {}

  List list;
  std::vector<Bytes> input_bytes;  // bytes of the inputs

  uint32_t pick(uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random_() % (to - from + 1));
  }
  int32_t pick_signed(int32_t from, int32_t to) {
    return from + static_cast<int32_t>(pick(0, static_cast<uint32_t>(to - from)));
  }
  bool chance(uint32_t in) { return pick(1, in) == 1; }
  std::vector<int8_t> codes(size_t count);
  Dense tensor(const Dims& dims) { return {dims, codes(elements(dims))}; }
  Dims dims(uint32_t rank, uint32_t most);
  int32_t zero_point() { return chance(3) ? 0 : pick_signed(-128, 127); }

  /// Places a tensor in an input, in constants, or in scratch, where a kernel copies it first.
  /// Dimensions have any order, some have negative strides or gaps; one in three views is dense.
  View place(const Dense& tensor);
  /// Allocates memory for a result: an output or scratch.
  View result(const Dims& dims);

  /// Returns a factor that scales sums of this magnitude to int8, one that gives halves, or any.
  Factor factor(double magnitude);
  OutputStage output_stage();
  WeightedParams weighted(size_t weights, uint32_t channels, uint32_t depth);

  void use(KernelRecord& record, const OutputStage& output_stage);
  void use(KernelRecord& record, const WeightedParams& weighted);
  static void use(KernelRecord& record, uint32_t which, Factor factor);
  static void use(KernelRecord& record, const Window& window);

  /// Runs the list and compares the last kernel's result with `expected`.
  void expect(const Dense& expected, const std::string& what);

 private:
  struct Layout {
    View view;  // its lowest-addressed element is at offset 0 or slightly above
    uint32_t bytes;
  };
  Layout layout(const Dims& dims, bool gaps);
  /// Makes kernels read all or some of their constants from the prefetch memory.
  void prefetch();

  std::mt19937 random_;
};

/// Runs `each` for `count` worlds; a failure names the seed.
template <class Each>
void for_random_lists(const char* what, uint32_t count, Each each) {
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(testing::Message() << what << ", seed " << seed);
    RandomList world(seed);
    each(world);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace thimble::neutron_test
