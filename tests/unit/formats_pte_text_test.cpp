// SPDX-License-Identifier: Apache-2.0
// The text of a program has every fact; JSON has the facts that scripts need.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "formats/pte/layout.h"
#include "formats/pte/print.h"
#include "formats/pte/write.h"
#include "tests/text/text_runner.h"
#include "tests/unit/formats_pte_sample.h"

namespace thimble::formats::pte {
namespace {

TEST(PteText, AddProgramReads) {
  EXPECT_EQ(print(add_program()),
            R"(pte 0
constants segment
constant 1 16
  x 0102030405060708090a0b0c0d0e0f10
plan "forward"
memory 1 32
operator 0 "aten::add" "out"
value 0 tensor float32 [1, 4] order [0, 1] memory 1 at 0
value 1 tensor float32 [1, 4] order [0, 1] constant 1
value 2 int 1
value 3 tensor float32 [1, 4] order [0, 1] memory 1 at 16
inputs [0]
outputs [3]
chain
instruction 0 call 0 [0, 1, 2, 3, 3]  # )"
            "aten::add.out(v0:float32[1, 4], v1:float32[1, 4], 1, v3:float32[1, 4], "
            "v3:float32[1, 4])\n");
}

TEST(PteText, EveryKindReads) {
  const Bytes file = *write(full_program());
  const Result<FileLayout> layout = read_layout(file, "test");
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  test::check_text_file("pte/every_kind.txt", [&](std::string_view, std::string_view) {
    return print(*layout) + print(full_program());
  });
}

TEST(PteText, AnEmptyProgramAndInlineConstantsRead) {
  EXPECT_EQ(print(Program{}), "pte 0\nconstants segment\n");
  Program program = add_program();
  program.constants_inline = true;
  std::string text = print(add_program());
  text.replace(text.find("segment"), std::string_view("segment").size(), "inline");
  EXPECT_EQ(print(program), text);
}

// A line of bytes starts with "x"; without data these lines are left out, and nothing else.
TEST(PteText, WithoutDataOnlyTheBytesAreLeftOut) {
  std::istringstream lines(print(full_program()));
  std::string expected;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  x ")) expected += line + "\n";
  }
  EXPECT_EQ(print(full_program(), {.data = false}), expected);
}

Tensor& tensor(Program& p, size_t i) {
  return std::get<Tensor>(p.plans[1].values[i]);
}
Chain& chain(Program& p) {
  return p.plans[1].chains[0];
}
std::byte& first(Bytes& bytes) {
  return bytes[0];
}

using Change = void (*)(Program&);
// Each change is a fact that the format can store.
const Change kChanges[] = {
    [](Program&) {},
    [](Program& p) { p.version = 4; },
    [](Program& p) { p.constants_inline = true; },
    [](Program& p) { first(p.constants[2]) = std::byte{1}; },
    [](Program& p) { p.constants.push_back({}); },
    [](Program& p) { first(p.mutable_segments[0].buffers[1]) = std::byte{1}; },
    [](Program& p) { p.mutable_segments.emplace_back(); },
    [](Program& p) { first(p.delegate_blobs[0].bytes) = std::byte{1}; },
    [](Program& p) { p.delegate_blobs[0].location = BlobLocation::kSegment; },
    [](Program& p) { p.delegate_blobs[1].alignment = 64; },
    [](Program& p) { p.named_data[0].key = "other"; },
    [](Program& p) { first(p.named_data[0].bytes) = std::byte{1}; },
    [](Program& p) { p.named_data[0].alignment = 32; },
    [](Program& p) { p.plans[1].name = "every kind"; },
    [](Program& p) { p.plans[1].container.reset(); },
    [](Program& p) { p.plans[1].container->encoded_output = "out"; },
    [](Program& p) { p.plans[1].memory_sizes[0] = 8; },
    [](Program& p) { p.plans[1].memory_sizes[2] = 256; },
    [](Program& p) { p.plans[1].memory_devices[0].device.index = 4; },
    [](Program& p) { p.plans[1].operators[1].overload = "out"; },
    [](Program& p) { p.plans[1].delegates[0].id = "Other"; },
    [](Program& p) { p.plans[1].delegates[1].blob = 0; },
    [](Program& p) { p.plans[1].delegates[0].compile_specs[1].key = "k"; },
    [](Program& p) { first(p.plans[1].delegates[0].compile_specs[0].value) = std::byte{1}; },
    [](Program& p) {
      p.plans[1].inputs = {1, 11};
    },
    [](Program& p) { p.plans[1].outputs = {9}; },
    [](Program& p) { p.plans[1].values[1] = Int{-6}; },
    [](Program& p) { p.plans[1].values[2] = Bool{false}; },
    [](Program& p) { p.plans[1].values[4] = Double{std::nextafter(0.1, 1.0)}; },
    [](Program& p) { p.plans[1].values[5] = Double{0.0}; },
    [](Program& p) { p.plans[1].values[7] = String{"a\"b\\x0ac"}; },
    [](Program& p) { p.plans[1].values[13] = IntList{{1}}; },
    [](Program& p) { p.plans[1].values[13] = TensorList{}; },
    [](Program& p) {
      p.plans[1].values[15] = BoolList{{true, true}};
    },
    [](Program& p) {
      p.plans[1].values[16] = OptionalTensorList{{8, 10}};
    },
    [](Program& p) { tensor(p, 8).scalar_type = ScalarType::kInt; },
    [](Program& p) { tensor(p, 8).scalar_type = static_cast<ScalarType>(99); },
    [](Program& p) { tensor(p, 8).sizes[0] = 3; },
    [](Program& p) { tensor(p, 8).data_buffer_idx = 1; },
    [](Program& p) { tensor(p, 8).allocation.reset(); },
    [](Program& p) { tensor(p, 8).allocation->memory_id = 2; },
    [](Program& p) { tensor(p, 8).allocation->offset = 8; },
    [](Program& p) { tensor(p, 8).requires_grad = false; },
    [](Program& p) { tensor(p, 8).layout = 0; },
    [](Program& p) { tensor(p, 8).extra.reset(); },
    [](Program& p) { tensor(p, 8).extra->mutable_segment = 1; },
    [](Program& p) { tensor(p, 8).extra->fully_qualified_name = "v"; },
    [](Program& p) { tensor(p, 8).extra->device.type = 0; },
    [](Program& p) { tensor(p, 10).extra->location = TensorLocation::kSegment; },
    [](Program& p) {
      tensor(p, 11).dim_order = {0, 1, 2, 3};
    },
    [](Program& p) { tensor(p, 11).shape_dynamism = ShapeDynamism::kStatic; },
    [](Program& p) { tensor(p, 12).shape_dynamism = ShapeDynamism::kDynamicBound; },
    [](Program& p) { tensor(p, 12).storage_offset = 0; },
    [](Program& p) { chain(p).inputs.clear(); },
    [](Program& p) { chain(p).outputs = {9}; },
    [](Program& p) {
      chain(p).instructions[0] = KernelCall{1, {11, 17, 8, 8}};
    },
    [](Program& p) {
      chain(p).instructions[0] = DelegateCall{0, {11, 17, 8, 8}};
    },
    [](Program& p) {
      chain(p).instructions[1] = DelegateCall{1, {11, 9}};
    },
    [](Program& p) {
      chain(p).instructions[2] = MoveCall{9, 8};
    },
    [](Program& p) {
      chain(p).instructions[3] = JumpFalseCall{2, 4};
    },
    [](Program& p) { chain(p).instructions[4] = FreeCall{11}; },
    [](Program& p) { chain(p).instructions.pop_back(); },
    [](Program& p) { chain(p).stacktrace.clear(); },
    [](Program& p) { chain(p).stacktrace[0][0].filename = "m.py"; },
    [](Program& p) { chain(p).stacktrace[0][1].line = 2; },
    [](Program& p) { std::swap(chain(p).stacktrace[0], chain(p).stacktrace[1]); },
    [](Program& p) { p.plans[1].chains.pop_back(); },
    [](Program& p) { p.plans.pop_back(); },
};

TEST(PteText, EveryFactChangesTheText) {
  std::map<std::string, size_t> texts;
  for (size_t i = 0; i < std::size(kChanges); ++i) {
    Program program = full_program();
    kChanges[i](program);
    const auto [known, is_new] = texts.emplace(print(program), i);
    EXPECT_TRUE(is_new) << "changes " << known->second << " and " << i << " have the same text";
  }
}

TEST(PteText, JsonContainsProgramProperties) {
  const auto json = nlohmann::json::parse(print_json(full_program()));
  EXPECT_EQ(json["format"], "ET12");
  EXPECT_EQ(json["constants_bytes"], 21);
  EXPECT_EQ(json["plans"][0]["operators"][0], "aten::add.out");
  EXPECT_EQ(json["plans"][0]["chains"][0]["instructions"][0]["operator"], "aten::add.out");
  EXPECT_EQ(json["plans"][1]["delegates"][1]["id"], "NobodyKnows");
  EXPECT_EQ(json["plans"][1]["memory_sizes"], nlohmann::json({0, 64, 128}));
  EXPECT_EQ(json["plans"][1]["values"].size(), full_program().plans[1].values.size());
  EXPECT_EQ(json["named_data"][0]["key"], "thimble");
  EXPECT_FALSE(json["named_data"][0].contains("hex"));
  const auto with_data = nlohmann::json::parse(print_json(full_program(), {.data = true}));
  EXPECT_EQ(with_data["constants"][1]["hex"], "6465666768");
}

TEST(PteText, LayoutNamesTheSegments) {
  const Bytes file = *write(full_program());
  const Result<FileLayout> layout = read_layout(file, "test");
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->file_bytes, file.size());
  ASSERT_EQ(layout->segments.size(), 6u);
  const char* roles[] = {"constants",     "mutable 0",          "mutable 1", "delegate NobodyKnows",
                         "named thimble", "named odd \"key\"\n"};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(layout->segments[i].role, roles[i]);
  EXPECT_EQ(layout->segments[0].offset, layout->segment_base);
  EXPECT_EQ(layout->segments[5].offset + layout->segments[5].size, file.size());
  EXPECT_EQ(nlohmann::json::parse(print_json(*layout))["segments"][4]["role"], "named thimble");
}

}  // namespace
}  // namespace thimble::formats::pte
