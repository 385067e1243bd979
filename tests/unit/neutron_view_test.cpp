// SPDX-License-Identifier: Apache-2.0
// Proofs about views, compared with the bytes that the views contain.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "engines/neutron/container/view.h"
#include "neutron_list.h"

namespace thimble::neutron_test {
namespace {

std::set<size_t> bytes_met(const View& view) {
  std::set<size_t> bytes;
  for_each_index(dims_of(view), [&](const Dims& index) { bytes.insert(byte_of(view, index)); });
  return bytes;
}

View random_view(std::mt19937& random) {
  Dims dims(1 + random() % 3);
  for (uint32_t& dim : dims) dim = 1 + static_cast<uint32_t>(random() % 4);
  View view = dense_view(Memory::kScratch, 0, 200 + static_cast<uint32_t>(random() % 30), dims);
  for (size_t k = 0; k < dims.size(); ++k) {
    view.strides[k] = static_cast<int32_t>(random() % 50) - 25;
  }
  return view;
}

/// For random views, proven properties are true, and most true properties are proven.
TEST(NeutronView, ProvenPropertiesOfRandomViewsAreTrue) {
  std::mt19937 random(5);
  int injective = 0, proven = 0, disjoint = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const View a = random_view(random);
    const View b = random_view(random);
    const std::set<size_t> of_a = bytes_met(a);
    const std::set<size_t> of_b = bytes_met(b);
    const neutron::Extent extent = neutron::extent_of(a);
    ASSERT_EQ(extent.first, static_cast<int64_t>(*of_a.begin()));
    ASSERT_EQ(extent.end, static_cast<int64_t>(*of_a.rbegin()) + 1);
    const bool once = of_a.size() == elements(dims_of(a));
    ASSERT_TRUE(once || !neutron::is_injective(a)) << "seed 5, view " << i;
    injective += once;
    proven += neutron::is_injective(a);
    const bool meet =
        std::any_of(of_a.begin(), of_a.end(), [&](size_t byte) { return of_b.contains(byte); });
    ASSERT_TRUE(!meet || !neutron::are_disjoint(a, b)) << "seed 5, views " << i;
    disjoint += !meet;
    apart += neutron::are_disjoint(a, b);
  }
  EXPECT_GT(proven, injective / 2);
  EXPECT_GT(apart, disjoint / 2);
}

/// Adjacent pieces of one tensor are disjoint, along any dimension and in any memory order.
TEST(NeutronView, AdjacentPiecesAreDisjoint) {
  for (uint32_t along = 0; along < 4; ++along) {
    for (const bool turned : {false, true}) {
      View whole = dense_view(Memory::kScratch, 0, 100, {4, 6, 8, 10});
      if (turned) {
        std::swap(whole.strides[1], whole.strides[3]);
        std::swap(whole.dims[1], whole.dims[3]);
      }
      for (uint32_t cut = 1; cut < whole.dims[along]; ++cut) {
        View first = whole, second = whole;
        first.dims[along] = cut;
        second.dims[along] -= cut;
        second.offset += cut * static_cast<uint32_t>(whole.strides[along]);
        EXPECT_TRUE(neutron::are_disjoint(first, second)) << along << " at " << cut;
        ++first.dims[along];
        EXPECT_FALSE(neutron::are_disjoint(first, second)) << along << " at " << cut;
      }
    }
  }
}

/// A view differs from another one in each of its properties.
TEST(NeutronView, SameElements) {
  const View view = dense_view(Memory::kScratch, 1, 64, {4, 6});
  EXPECT_TRUE(neutron::same_elements(view, view));
  const auto differs = [&](void (*change)(View&)) {
    View other = view;
    change(other);
    return !neutron::same_elements(view, other) && !neutron::same_elements(other, view);
  };
  EXPECT_TRUE(differs([](View& v) { v.memory = Memory::kOutput; }));
  EXPECT_TRUE(differs([](View& v) { v.index = 0; }));
  EXPECT_TRUE(differs([](View& v) { v.offset += 1; }));
  EXPECT_TRUE(differs([](View& v) { v.dims[0] -= 1; }));
  EXPECT_TRUE(differs([](View& v) { v.strides[0] += 1; }));
}

/// Interleaved views, of which one begins far below a multiple of their stride.
TEST(NeutronView, InterleavedViewsAreDisjoint) {
  View even = dense_view(Memory::kScratch, 0, 0, {1000, 2});
  even.strides[0] = 8;
  View odd = even;
  odd.offset = 8 * 999 + 4;
  odd.strides[0] = -8;
  EXPECT_TRUE(neutron::are_disjoint(even, odd));
  odd.offset -= 3;
  EXPECT_FALSE(neutron::are_disjoint(even, odd));
}

}  // namespace
}  // namespace thimble::neutron_test
