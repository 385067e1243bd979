// SPDX-License-Identifier: Apache-2.0
// Cascades: which divisions into tiles are possible, and the rows of their steps.

#include "engines/ethos_u/compiler/cascade.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "ethos_u_programs.h"

namespace thimble::test {
namespace {

using engine::ethos_u::analyse;
using engine::ethos_u::make_cascade;

/// An image of 3 rows is doubled by a convolution with one row of padding. A tile must begin at the
/// first copy of a row of the image: rows 3 to 5 begin at row 2 of the doubled image, rows 2 and 3
/// at row 1.
TEST(EthosUCascade, TilesBeginAtFirstCopyOfUpscaledRow) {
  ProgramBuilder builder(*thimble::ethos_u::find_config("ethos-u55-128"), 1);
  const int image = builder.conv(builder.input({3, 8, 8}), 8, 1, 1);
  builder.output(builder.upsampled_conv(image, 8));
  const NpuProgram program = builder.take();
  const auto analysis = analyse(program);
  EXPECT_FALSE(make_cascade(analysis, 0, 2, 2));
  const auto cascade = make_cascade(analysis, 0, 2, 3);
  ASSERT_TRUE(cascade);
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (const auto& step : cascade->steps) {
    if (step.op == 1) rows.emplace_back(step.rows.begin, step.rows.end);
  }
  EXPECT_EQ(rows, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 6}}));
}

}  // namespace
}  // namespace thimble::test
