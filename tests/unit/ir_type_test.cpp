// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <gtest/gtest.h>

#include "ir/infer.h"
#include "ir/op.h"
#include "ir/tensor.h"

namespace thimble::ir {
namespace {

TEST(DTypes, NamesReadBack) {
  for (const DType dtype :
       {DType::kF32, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kBool}) {
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("f16"), std::nullopt);
  EXPECT_EQ(dtype_bytes(DType::kI16), 2U);
  EXPECT_EQ(dtype_bytes(DType::kI64), 8U);
  EXPECT_EQ(dtype_bytes(DType::kBool), 1U);
}

TEST(Shapes, ElementCounts) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_EQ(checked_element_count({2, 3}), 6);
  EXPECT_EQ(checked_element_count({kMaxElements}), kMaxElements);
  EXPECT_EQ(checked_element_count({kMaxElements, 2}), std::nullopt);
  EXPECT_EQ(checked_element_count({INT64_MAX, INT64_MAX}), std::nullopt);
  EXPECT_EQ(checked_element_count({2, 0}), std::nullopt);
  EXPECT_EQ(checked_element_count({-2, -2}), std::nullopt);
}

TEST(DimOrders, StridesFollowTheOrder) {
  const Shape shape{2, 3, 4, 5};
  EXPECT_EQ(strides(shape, {}), (std::vector<int64_t>{60, 20, 5, 1}));
  EXPECT_EQ(strides(shape, channels_last_order()), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_TRUE(is_contiguous({}));
  EXPECT_TRUE(is_contiguous({0, 1, 2}));
  EXPECT_FALSE(is_contiguous({1, 0}));
}

TEST(DimOrders, DimensionsOfSizeOneAreIgnored) {
  EXPECT_TRUE(same_memory({1, 1, 8, 8}, {}, channels_last_order()));
  EXPECT_TRUE(same_memory({1, 8, 1, 1}, {}, channels_last_order()));
  EXPECT_FALSE(same_memory({1, 2, 8, 8}, {}, channels_last_order()));
  EXPECT_FALSE(same_memory({1, 2, 1, 8}, {}, channels_last_order()));
}

TEST(Tensors, MemoryOrderRoundTrip) {
  const std::vector<int8_t> logical{0, 1, 2, 3, 4, 5, 6, 7};  // [1, 2, 2, 2]: two planes
  const Tensor tensor = make_i8({1, 2, 2, 2}, logical);
  const auto memory = to_memory(tensor, channels_last_order());
  std::vector<int> found;
  for (const std::byte byte : memory) found.push_back(std::to_integer<int>(byte));
  EXPECT_EQ(found, (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(from_memory(memory, DType::kI8, tensor.shape, channels_last_order()), tensor);
  EXPECT_EQ(to_memory(tensor, {}), tensor.bytes);
}

TEST(Tensors, PermutedMovesWholeElements) {
  const std::vector<int32_t> values{1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> transposed{1, 4, 2, 5, 3, 6};
  const std::vector<int64_t> dims{1, 0};
  EXPECT_EQ(permuted(make_i32({2, 3}, values), dims), make_i32({3, 2}, transposed));
}

TEST(Broadcasting, FollowsNumpy) {
  EXPECT_EQ(broadcast_shape({2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape({2, 1}, {1, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape({}, {4}), (Shape{4}));
  EXPECT_EQ(broadcast_shape({2}, {3}), std::nullopt);
}

TEST(Windows, Extent) {
  EXPECT_EQ(window_extent(8, 1, 1, 3, 1, 1), 8);
  EXPECT_EQ(window_extent(8, 0, 1, 3, 2, 1), 4);
  EXPECT_EQ(window_extent(8, 0, 0, 3, 1, 3), 2);
  EXPECT_EQ(window_extent(2, 0, 0, 3, 1, 1), 0);
}

TEST(OpTable, RowsAreParsed) {
  const OpInfo& conv = op_info(OpKind::conv2d);
  EXPECT_EQ(conv.name, "conv2d");
  ASSERT_EQ(conv.operands.size(), 3U);
  EXPECT_EQ(conv.operands[2].name, "b");
  EXPECT_TRUE(conv.operands[2].optional);
  ASSERT_NE(conv.attr("groups"), nullptr);
  EXPECT_EQ(conv.attr("groups")->default_value, AttrValue(int64_t{1}));
  EXPECT_EQ(conv.attr("stride")->kind, AttrInfo::Kind::kInts);
  EXPECT_FALSE(conv.attr("stride")->default_value.has_value());
  EXPECT_TRUE(op_info(OpKind::concat).operands[0].variadic);
  EXPECT_EQ(op_info(OpKind::clamp).attr("min")->default_value, AttrValue(-HUGE_VAL));
  EXPECT_EQ(op_info(OpKind::qavg_pool2d).attr("min")->default_value, AttrValue(int64_t{-128}));
  EXPECT_EQ(conv.attr("nothing"), nullptr);
  for (size_t i = 0; i < static_cast<size_t>(OpKind::kCount); ++i) {
    EXPECT_EQ(op_from_name(op_name(static_cast<OpKind>(i))), static_cast<OpKind>(i));
  }
  EXPECT_EQ(op_from_name("kCount"), std::nullopt);
}

}  // namespace
}  // namespace thimble::ir
