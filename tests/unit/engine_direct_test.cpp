// SPDX-License-Identifier: Apache-2.0
// Parameters of direct operators: attributes written as a struct and read back are the same.

#include "engine/direct.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <random>

namespace thimble::engine {
namespace {

std::vector<const DirectOp*> all_direct() {
  std::vector<const DirectOp*> rows;
  for (size_t i = 0; i < static_cast<size_t>(ir::OpKind::kCount); ++i) {
    const DirectOp* row = direct_op(static_cast<ir::OpKind>(i));
    if (row != nullptr) rows.push_back(row);
  }
  return rows;
}

ir::Op random_op(const DirectOp& row, std::mt19937& random) {
  const auto number = [&] { return static_cast<int64_t>(static_cast<int32_t>(random())); };
  ir::Op op;
  op.kind = row.kind;
  for (const ParamField& field : row.fields) {
    if (field.kind == ParamField::Kind::kInt) {
      op.attrs.set_value(field.attr, ir::AttrValue(number()));
      continue;
    }
    const bool tail = field.kind == ParamField::Kind::kTail;
    std::vector<int64_t> items(tail ? random() % 5 : static_cast<size_t>(field.items));
    for (int64_t& item : items) item = number();
    op.attrs.set_value(field.attr, ir::AttrValue(std::move(items)));
  }
  return op;
}

TEST(Direct, AttributesAreTheSameAfterParams) {
  std::mt19937 random(1);
  ASSERT_GT(all_direct().size(), 40U);
  for (const DirectOp* row : all_direct()) {
    SCOPED_TRACE(ir::op_name(row->kind));
    EXPECT_EQ(direct_op(row->op), row);
    for (int trial = 0; trial < 20; ++trial) {
      const ir::Op op = random_op(*row, random);
      const auto params = direct_params(*row, op);
      ASSERT_TRUE(params.ok()) << params.error().message;
      const auto attrs = attrs_from_params(*row, *params);
      ASSERT_TRUE(attrs.ok()) << attrs.error().message;
      EXPECT_EQ(*attrs, op.attrs);
    }
  }
}

TEST(Direct, EveryAttributeIsInTheParams) {
  for (const DirectOp* row : all_direct()) {
    // weight_bits and weight_group select the operator of the device.
    const auto attributes =
        std::ranges::count_if(ir::op_info(row->kind).attrs,
                              [](const auto& attr) { return !attr.name.starts_with("weight_"); });
    EXPECT_EQ(std::ssize(row->fields), attributes) << ir::op_name(row->kind);
  }
}

TEST(Direct, ParamsOfAnotherSizeAreRefused) {
  std::mt19937 random(2);
  for (const DirectOp* row : all_direct()) {
    if (row->params_bytes == 0) continue;
    SCOPED_TRACE(ir::op_name(row->kind));
    const auto params = direct_params(*row, random_op(*row, random));
    ASSERT_TRUE(params.ok());
    for (size_t size = 0; size <= params->size() + 8; ++size) {
      Bytes bytes = *params;
      bytes.resize(size);
      const auto attrs = attrs_from_params(*row, bytes);
      EXPECT_EQ(attrs.ok(), size == params->size()) << size;
      if (!attrs.ok()) {
        EXPECT_EQ(attrs.error().kind, ErrorKind::kBadInput);
      }
    }
  }
}

TEST(Direct, ListOfAnotherLengthIsRefused) {
  std::mt19937 random(3);
  for (const DirectOp* row : all_direct()) {
    for (const ParamField& field : row->fields) {
      if (field.kind == ParamField::Kind::kInt) continue;
      auto params = direct_params(*row, random_op(*row, random));
      ASSERT_TRUE(params.ok());
      (*params)[field.offset] = static_cast<std::byte>(99);
      const auto attrs = attrs_from_params(*row, *params);
      ASSERT_FALSE(attrs.ok()) << ir::op_name(row->kind);
      EXPECT_NE(attrs.error().message.find("has 99 items, expected "), std::string::npos);
    }
  }
}

TEST(Direct, NumberThatDoesNotFit32BitsIsUnsupported) {
  const DirectOp* row = direct_op(ir::OpKind::qmul16);
  ASSERT_NE(row, nullptr);
  ir::Op op;
  op.kind = row->kind;
  op.attrs = {{ir::attr::mult, int64_t{1} << 31}, {ir::attr::shift, 0}};
  const auto params = direct_params(*row, op);
  ASSERT_FALSE(params.ok());
  EXPECT_EQ(params.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(params.error().message, "qmul16: mult = 2147483648 does not fit 32 bits");
}

}  // namespace
}  // namespace thimble::engine
