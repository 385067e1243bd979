#pragma once
// One random kernel list: operands in any memory, with any strides.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "neutron_reference.h"

namespace thimble::neutron_test {

class World {
 public:
  explicit World(uint32_t seed) : random_(seed) {}

  List list;
  std::vector<Bytes> fed;  // inputs

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

  /// A tensor where a kernel may find it: an input, constants, or the scratch memory, where a copy
  /// brings it first. Dimensions in any order, some backward, with gaps; dense every third time.
  View place(const Dense& tensor);
  /// A new place for a result: an output or the scratch memory.
  View result(const Dims& dims);

  /// Brings sums of about this magnitude to codes; or makes many halves; or is any that is allowed.
  Factor factor(double magnitude);
  Ending ending();
  Weighted weighted(size_t weights, uint32_t channels, uint32_t depth);

  void use(KernelRecord& record, const Ending& ending);
  void use(KernelRecord& record, const Weighted& weighted);
  static void use(KernelRecord& record, uint32_t which, Factor factor);
  static void use(KernelRecord& record, const Window& window);

  /// Runs the list; its last kernel must give `expected`.
  void expect(const Dense& expected, const std::string& what);

 private:
  struct Layout {
    View view;  // offset of the element with the least address is 0 or a little more
    uint32_t bytes;
  };
  Layout layout(const Dims& dims, bool gaps);
  /// Lets kernels read their constants, or some of them, from the prefetch memory.
  void prefetch();

  std::mt19937 random_;
};

/// Numbers of `count` worlds, each named by its seed where it fails.
template <class Each>
void for_worlds(const char* what, uint32_t count, Each each) {
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(testing::Message() << what << ", seed " << seed);
    World world(seed);
    each(world);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace thimble::neutron_test
