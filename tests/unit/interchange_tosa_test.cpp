// SPDX-License-Identifier: Apache-2.0
// Contents of a .tosa, read back with the accessors of the schema and checked by its verifier.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "formats/tosa/program.h"
#include "interchange/tosa.h"
#include "ir/print.h"
#include "tosa_generated.h"

namespace thimble::interchange {
namespace {

namespace fb = formats::tosa::fb;
using formats::tosa::Op;

struct Made {
  Bytes bytes;
  const fb::BasicBlock* block = nullptr;

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const fb::Operator* op : *block->operators()) {
      if (op->op() == static_cast<uint32_t>(Op::kConst)) continue;
      if (op->op() == static_cast<uint32_t>(Op::kConstShape)) continue;
      all.emplace_back(formats::tosa::op_name(static_cast<Op>(op->op())));
    }
    return all;
  }
  [[nodiscard]] const fb::Operator* first(Op kind) const {
    for (const fb::Operator* op : *block->operators()) {
      if (op->op() == static_cast<uint32_t>(kind)) return op;
    }
    return nullptr;
  }
  [[nodiscard]] const fb::Tensor* tensor(const flatbuffers::String* name) const {
    for (const fb::Tensor* t : *block->tensors()) {
      if (t->name()->str() == name->str()) return t;
    }
    return nullptr;
  }
};

Made make(const std::string& text) {
  Made made;
  const auto graph = ir::parse(text, "test.ir");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!graph.ok()) return made;
  auto bytes = to_tosa(*graph);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  if (!bytes.ok()) return made;
  made.bytes = *bytes;
  const auto* data = reinterpret_cast<const uint8_t*>(made.bytes.data());
  flatbuffers::Verifier verifier(data, made.bytes.size());
  EXPECT_TRUE(fb::VerifyGraphBuffer(verifier));
  made.block = fb::GetGraph(data)->regions()->Get(0)->blocks()->Get(0);
  return made;
}

std::string add(const std::string& more) {
  return R"(graph @g {
    input %a: i8[1,4] quant(0.5, 2)
    input %b: i8[1,4] quant(0.5, -3)
    %y: i8[1,4] quant(1, 1) = qadd(%a, %b) {a_zp=2, a_mult=1073741824, a_shift=0, b_zp=-3,
        b_mult=1500000000, b_shift=-1, y_zp=1, y_mult=1073741824, y_shift=-19, min=-128, max=127)" +
         more + R"(}
    output %y
  })";
}

TEST(InterchangeTosa, VersionAndNames) {
  const Made made = make(add(""));
  ASSERT_NE(made.block, nullptr);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(made.bytes.data()) + 4, 4), "TOSA");
  const fb::Version* version = fb::GetGraph(made.bytes.data())->version();
  EXPECT_EQ(version->_major(), 1);
  EXPECT_EQ(version->_minor(), 0);
  EXPECT_FALSE(version->_draft());
  EXPECT_EQ(made.block->inputs()->Get(0)->str(), "a");
  EXPECT_EQ(made.block->outputs()->Get(0)->str(), "y");
  std::set<std::string> names;
  for (const fb::Tensor* t : *made.block->tensors()) {
    EXPECT_TRUE(names.insert(t->name()->str()).second) << t->name()->str();
  }
  for (const fb::Shape* s : *made.block->shapes()) {
    EXPECT_TRUE(names.insert(s->name()->str()).second) << s->name()->str();
  }
}

TEST(InterchangeTosa, AttributeIdsMatchOperators) {
  const Made made = make(add(""));
  for (const fb::Operator* op : *made.block->operators()) {
    EXPECT_EQ(static_cast<uint32_t>(op->attribute_type()), op->op());
  }
}

TEST(InterchangeTosa, SumsAreRescaledWithTheExactMultipliers) {
  const Made made = make(add(""));
  EXPECT_EQ(made.names(), (std::vector<std::string>{"RESCALE", "RESCALE", "RESCALE", "RESCALE",
                                                    "ADD", "RESCALE"}));
  std::vector<std::pair<int32_t, int>> scales;
  for (const fb::Operator* op : *made.block->operators()) {
    if (op->op() != static_cast<uint32_t>(Op::kRescale)) continue;
    const auto* mult = made.tensor(op->inputs()->Get(1))->data();
    int32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= static_cast<int32_t>(mult->Get(i)) << (8 * i);
    scales.emplace_back(value, made.tensor(op->inputs()->Get(2))->data()->Get(0));
  }
  // Values times 2^20, then a multiplier mult * 2^-(31 - shift).
  EXPECT_EQ(scales,
            (std::vector<std::pair<int32_t, int>>{
                {1 << 30, 10}, {1 << 30, 31}, {1 << 30, 10}, {1500000000, 32}, {1 << 30, 50}}));
}

TEST(InterchangeTosa, RoundingModeFollowsAttribute) {
  const auto last = [](const Made& made) {
    uint32_t mode = 0;
    for (const fb::Operator* op : *made.block->operators()) {
      if (const auto* r = op->attribute_as_RescaleBy()) mode = r->rounding_mode();
    }
    return mode;
  };
  EXPECT_EQ(last(make(add(""))), 3U);              // DOUBLE_ROUND
  EXPECT_EQ(last(make(add(", rounding=1"))), 1U);  // SINGLE_ROUND
}

TEST(InterchangeTosa, UnreadPaddingIsRemoved) {
  // 6 + 1 + 1 - 3 = 5 is not a multiple of 2: the last row of padding is never read.
  const Made made = make(R"(graph @g {
    input %x: i8[1,2,6,6] quant(0.5, 0)
    %y: i8[1,2,3,3] quant(0.5, 0) = qavg_pool2d(%x) {kernel=[3,3], stride=[2,2], padding=[1,1,1,1]}
    output %y
  })");
  const auto* pool = made.first(Op::kAvgPool2d)->attribute_as_AvgPool2d();
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ((std::vector<int32_t>{pool->pad()->begin(), pool->pad()->end()}),
            (std::vector<int32_t>{1, 0, 1, 0}));
  for (const unsigned operand : {1U, 2U}) {  // zero points
    EXPECT_EQ(made.tensor(made.first(Op::kAvgPool2d)->inputs()->Get(operand))->data()->Get(0), 0);
  }
}

TEST(InterchangeTosa, SoftmaxOfLongRowsIsRefused) {
  const auto graph = ir::parse(R"(graph @g {
    input %x: i8[1,5000] quant(0.5, 0)
    %y: i8[1,5000] quant(0.00390625, -128) = qsoftmax(%x) {dim=1, mult=1073741824, shift=26,
        diff_min=-31}
    output %y
  })",
                               "test.ir");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto made = to_tosa(*graph);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("4095"), std::string::npos) << made.error().message;
}

TEST(InterchangeTosa, OnlyPublishedOperatorsOfVersionOne) {
  const Made made = make(R"(graph @g {
    input %x: i8[2,40] quant(0.5, 0)
    %n: i8[2,40] quant(0.5, 0) = qlayer_norm(%x, _, _) {dims=1, eps=1, y_zp=0, mult=1073741824,
        shift=-10}
    %s: i8[2,40] quant(0.00390625, -128) = qsoftmax(%n) {dim=1, mult=1073741824, shift=26,
        diff_min=-31}
    output %s
  })");
  ASSERT_NE(made.block, nullptr);
  constexpr uint32_t kLastOfVersionOne = 75;
  for (const fb::Operator* op : *made.block->operators()) EXPECT_LE(op->op(), kLastOfVersionOne);
  for (const fb::Tensor* t : *made.block->tensors()) EXPECT_LE(t->shape()->size(), 6U);
}

}  // namespace
}  // namespace thimble::interchange
