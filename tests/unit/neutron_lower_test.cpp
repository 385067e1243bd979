// SPDX-License-Identifier: Apache-2.0
// Views of the Neutron's compiler, compared with elements enumerated one by one; and the memory
// orders of values in a subgraph.

#include "engines/neutron/compiler/location.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engines/neutron/compiler/lower.h"
#include "engines/neutron/compiler/memory_orders.h"
#include "engines/neutron/compiler/place.h"
#include "ir/print.h"

namespace thimble::engine::neutron {
namespace {

/// Returns the byte offsets of all elements in logical order.
std::vector<int64_t> addresses(const Location& place) {
  std::vector<int64_t> result = {place.offset};
  for (const Axes& dim : place.dims) {
    for (const Axis& factor : dim) {
      std::vector<int64_t> next;
      for (const int64_t address : result) {
        for (int64_t i = 0; i < factor.size; ++i) next.push_back(address + i * factor.stride);
      }
      result = std::move(next);
    }
  }
  return result;
}

/// Calls `visit` for small shapes in each dimension order.
template <typename Visit>
void each_small(size_t rank, const Visit& visit) {
  const std::vector<ir::Shape> shapes = {{1, 2, 3, 4}, {2, 3, 2, 2}, {2, 1, 4, 3}, {3, 2, 1, 2}};
  for (ir::Shape shape : shapes) {
    shape.resize(rank);
    ir::DimOrder order(rank);
    std::iota(order.begin(), order.end(), uint8_t{0});
    do {
      visit(dense(0, shape, order));
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(NeutronStrided, DenseStridesFollowOrder) {
  each_small(4, [](const Location& place) {
    std::vector<int64_t> all = addresses(place);
    EXPECT_EQ(place.extent(), place.elements());
    std::ranges::sort(all);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int64_t>(i));
  });
}

/// A reshape has the same elements in the same logical order, for any memory order.
TEST(NeutronStrided, ReshapeKeepsElements) {
  int64_t done = 0;
  each_small(4, [&](const Location& place) {
    const int64_t count = place.elements();
    for (int64_t a = 1; a <= count; ++a) {
      for (int64_t b = 1; count % a == 0 && b <= count / a; ++b) {
        if (count / a % b != 0) continue;
        const ir::Shape shape = {a, b, count / a / b};
        const auto other = reshaped(place, shape);
        if (!other) continue;
        ++done;
        EXPECT_EQ(other->shape(), shape);
        EXPECT_EQ(addresses(*other), addresses(place));
        const auto back = reshaped(*other, place.shape());
        ASSERT_TRUE(back.has_value());
        EXPECT_TRUE(same_layout(*back, place));
      }
    }
  });
  EXPECT_GT(done, 1000);
}

TEST(NeutronStrided, RowOfAnyShapeIsAddressable) {
  each_small(4, [](const Location& place) {
    EXPECT_TRUE(reshaped(place, {place.elements()}).has_value());
    EXPECT_TRUE(reshaped(place, {1, place.elements(), 1}).has_value());
  });
}

TEST(NeutronStrided, PermuteAndItsInverse) {
  each_small(3, [](const Location& place) {
    std::vector<int64_t> dims = {0, 1, 2};
    do {
      const Location turned = permuted(place, dims);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(turned.shape()[i], place.shape()[static_cast<size_t>(dims[i])]);
      }
      EXPECT_TRUE(same_layout(unpermuted(turned, dims), place));
    } while (std::ranges::next_permutation(dims).found);
  });
}

/// The elements of a slice are the whole's elements with the same indices.
TEST(NeutronStrided, SliceElementsEqualElementsOfWhole) {
  int64_t refused = 0, done = 0;
  each_small(3, [&](const Location& small) {
    const Location flat = *reshaped(small, {small.elements()});
    const std::vector<int64_t> all = addresses(flat);
    const auto count = static_cast<int64_t>(all.size());
    for (int64_t start = 0; start < count; ++start) {
      for (int64_t step = 1; step <= 3; ++step) {
        for (int64_t size = 1; start + (size - 1) * step < count; ++size) {
          const auto slice = sliced(flat, 0, start, size, step);
          if (!slice) {
            ++refused;
            continue;
          }
          ++done;
          std::vector<int64_t> wanted;
          for (int64_t i = 0; i < size; ++i) {
            wanted.push_back(all[static_cast<size_t>(start + i * step)]);
          }
          EXPECT_EQ(addresses(*slice), wanted);
        }
      }
    }
  });
  EXPECT_GT(done, 1000);
  EXPECT_GT(refused, 0);
}

/// A loop nest visits each pair of corresponding elements of two views exactly once.
TEST(NeutronStrided, LoopNestVisitsCorrespondingElements) {
  int64_t done = 0;
  each_small(3, [&](const Location& a) {
    each_small(3, [&](const Location& b) {
      if (a.shape() != b.shape()) return;
      const auto loops = common_loops(std::vector<const Location*>{&a, &b}, all_dims(a));
      ASSERT_TRUE(loops.has_value());
      ++done;
      std::map<int64_t, int64_t> wanted, got;  // byte offset in b by byte offset in a
      const std::vector<int64_t> of_a = addresses(a), of_b = addresses(b);
      for (size_t i = 0; i < of_a.size(); ++i) wanted[of_a[i]] = of_b[i];
      std::vector<std::pair<int64_t, int64_t>> at = {{a.offset, b.offset}};
      for (const Loop& loop : *loops) {
        std::vector<std::pair<int64_t, int64_t>> next;
        for (const auto& [x, y] : at) {
          for (int64_t i = 0; i < loop.size; ++i) {
            next.emplace_back(x + i * loop.strides[0], y + i * loop.strides[1]);
          }
        }
        at = std::move(next);
      }
      EXPECT_EQ(at.size(), of_a.size());
      for (const auto& [x, y] : at) got[x] = y;
      EXPECT_EQ(got, wanted);
    });
  });
  EXPECT_GT(done, 100);
}

TEST(NeutronStrided, BroadcastRepeatsElements) {
  const Location row = dense(0, {3}, {});
  const std::vector<int64_t> all = addresses(broadcast(row, {2, 3}));
  EXPECT_EQ(all, (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
}

// --- subgraphs ----------------------------------------------------------------------------------

ir::Graph parsed(std::string_view text) {
  auto graph = ir::parse(text, "subgraph.ir");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *std::move(graph);
}

std::map<std::string, ir::DimOrder> orders_of(const ir::Graph& graph) {
  const std::vector<ir::DimOrder> orders = memory_orders(graph);
  std::map<std::string, ir::DimOrder> result;
  for (size_t i = 0; i < orders.size(); ++i) {
    result[graph.value(static_cast<ir::ValueId>(i)).name] = orders[i];
  }
  return result;
}

constexpr std::string_view kPool =
    "{kernel=[1,1], stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}";

TEST(NeutronFormats, OrdersPropagateForwardAndBackward) {
  const ir::Graph graph = parsed(fmt::format(R"(graph @forward {{
  input %x: i8[1,4,6,6] quant(0.1, 0)
  input %other: i8[1,4,6,6] quant(0.1, 0)
  %early: i8[1,4,6,6] quant(0.1, 0) = maximum(%x, %other)
  %pool: i8[1,4,6,6] quant(0.1, 0) = max_pool2d(%early) {}
  %late: i8[1,4,6,6] quant(0.1, 0) = minimum(%pool, %x)
  output %late
}}
)",
                                             kPool));
  const auto orders = orders_of(graph);
  for (const auto name : {"x", "other", "early", "pool", "late"}) {
    EXPECT_EQ(orders.at(name), ir::channels_last_order()) << name;
  }
}

TEST(NeutronFormats, OrdersPropagateThroughPermutesAndReshapes) {
  const ir::Graph graph = parsed(fmt::format(R"(graph @forward {{
  input %line: i8[1,4,6] quant(0.1, 0)
  input %rows: i8[1,6,6,4] quant(0.1, 0)
  %image: i8[1,4,1,6] quant(0.1, 0) = reshape(%line) {{shape=[1,4,1,6]}}
  %pool: i8[1,4,1,6] quant(0.1, 0) = max_pool2d(%image) {0}
  %back: i8[1,4,6] quant(0.1, 0) = reshape(%pool) {{shape=[1,4,6]}}
  %flat: i8[1,24] quant(0.1, 0) = reshape(%pool) {{shape=[1,24]}}
  %turned: i8[1,4,6,6] quant(0.1, 0) = permute(%rows) {{dims=[0,3,1,2]}}
  %second: i8[1,4,6,6] quant(0.1, 0) = max_pool2d(%turned) {0}
  output %back
  output %flat
  output %second
}}
)",
                                             kPool));
  const auto orders = orders_of(graph);
  EXPECT_EQ(orders.at("image"), ir::channels_last_order());
  EXPECT_EQ(orders.at("line"), (ir::DimOrder{0, 2, 1}));
  EXPECT_EQ(orders.at("back"), (ir::DimOrder{0, 2, 1}));
  EXPECT_TRUE(orders.at("flat").empty());
  EXPECT_EQ(orders.at("turned"), ir::channels_last_order());
  EXPECT_TRUE(ir::same_memory({1, 6, 6, 4}, orders.at("rows"), {}));
}

std::vector<std::string> kernels_of(const ir::Graph& graph) {
  const auto network = lower(graph);
  EXPECT_TRUE(network.ok()) << network.error().message;
  std::vector<std::string> names;
  for (const KernelOp& kernel : network->kernels) names.push_back(kernel_text(kernel));
  return names;
}

using Names = std::vector<std::string>;

/// An NCHW image at the subgraph's border needs a Transpose at the input and one at the output. A
/// channels-last image needs none.
TEST(NeutronFormats, TransposesOnlyForOtherInterfaceOrder) {
  constexpr std::string_view kText = R"(graph @forward {{
  input %x: i8[1,4,6,6] {0}quant(0.1, 0)
  %pool: i8[1,4,6,6] quant(0.1, 0) = max_pool2d(%x) {1}
  %again: i8[1,4,6,6] {0}quant(0.1, 0) = max_pool2d(%pool) {1}
  output %again
}}
)";
  EXPECT_EQ(kernels_of(parsed(fmt::format(kText, "order(0,2,3,1) ", kPool))),
            (Names{"MaxPool 1x1", "MaxPool 1x1"}));
  EXPECT_EQ(kernels_of(parsed(fmt::format(kText, "", kPool))),
            (Names{"Transpose", "MaxPool 1x1", "MaxPool 1x1", "Transpose"}));
}

/// Two permutes that cancel each other, and a permute at the border, need no kernel.
TEST(NeutronFormats, PermutesNeedNoKernel) {
  const ir::Graph graph = parsed(fmt::format(R"(graph @forward {{
  input %x: i8[1,6,5,4] quant(0.1, 0)
  %turned: i8[1,4,6,5] quant(0.1, 0) = permute(%x) {{dims=[0,3,1,2]}}
  %pool: i8[1,4,6,5] quant(0.1, 0) = max_pool2d(%turned) {0}
  %rows: i8[1,6,5,4] quant(0.1, 0) = permute(%pool) {{dims=[0,2,3,1]}}
  %again: i8[1,4,6,5] quant(0.1, 0) = permute(%rows) {{dims=[0,3,1,2]}}
  %second: i8[1,4,6,5] quant(0.1, 0) = max_pool2d(%again) {0}
  %out: i8[1,6,5,4] quant(0.1, 0) = permute(%second) {{dims=[0,2,3,1]}}
  output %out
}}
)",
                                             kPool));
  EXPECT_EQ(kernels_of(graph), (Names{"MaxPool 1x1", "MaxPool 1x1"}));
}

/// The result of an elementwise kernel reuses the buffer of an operand that is dead afterwards. An
/// input's buffer is free after its last reader. Here at most two tensors are live at a time.
TEST(NeutronPlacement, ScratchSizeEqualsPeakOfLiveValues) {
  const ir::Graph graph = parsed(fmt::format(R"(graph @forward {{
  input %x: i8[1,16,8,8] order(0,2,3,1) quant(0.1, 0)
  %a: i8[1,16,8,8] quant(0.1, 0) = max_pool2d(%x) {0}
  %b: i8[1,16,8,8] quant(0.1, 0) = max_pool2d(%a) {0}
  %c: i8[1,16,8,8] quant(0.1, 0) = maximum(%a, %b)
  %d: i8[1,16,8,8] order(0,2,3,1) quant(0.1, 0) = max_pool2d(%c) {0}
  output %d
}}
)",
                                             kPool));
  Network network = *lower(graph);
  const IoPositions places = place(&network);
  EXPECT_EQ(network.scratch_bytes, 2 * 1024);
  ASSERT_EQ(places.inputs.size(), 1U);
  EXPECT_EQ(places.inputs[0].bytes, 1024);
  const std::vector<size_t> kept = {0};
  Network other = *lower(graph);
  EXPECT_EQ(place(&other, kept).inputs[0].bytes, -1);
}

}  // namespace
}  // namespace thimble::engine::neutron
