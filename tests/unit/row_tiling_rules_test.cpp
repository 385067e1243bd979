// SPDX-License-Identifier: Apache-2.0
// Which images row tiling accepts. tests/conformance/row_tiling_test.cpp compares the results of
// tiled graphs.

#include <gtest/gtest.h>

#include <string>

#include "ir/print.h"
#include "memory/row_tiling.h"

namespace thimble::memory {
namespace {

/// Returns true if two poolings of an image of this type can be tiled.
bool is_tiled(const std::string& type) {
  const std::string pool = "{kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}\n";
  const auto graph =
      ir::parse("graph @forward {\n  input %x: " + type + "\n  %a = max_pool2d(%x) " + pool +
                    "  %b = max_pool2d(%a) " + pool + "  output %b\n}\n",
                "test.ir");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return graph.ok() && row_tiling_cost(*graph, {0, 1, 2}).has_value();
}

TEST(RowTilingRules, ImagesOfOneBatchAndOneByte) {
  EXPECT_TRUE(is_tiled("i8[1,4,12,12]"));
  EXPECT_FALSE(is_tiled("i8[2,4,12,12]")) << "two images";
  EXPECT_FALSE(is_tiled("f32[1,4,12,12]")) << "elements of four bytes";
}

}  // namespace
}  // namespace thimble::memory
