// parse_text() is the inverse of print(); the JSON output has the program's facts.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/pte/layout.h"
#include "formats/pte/parse.h"
#include "formats/pte/print.h"
#include "formats/pte/write.h"
#include "tests/unit/formats_pte_sample.h"

namespace thimble::formats::pte {
namespace {

TEST(PteText, RoundTrip) {
  Program inline_constants = add_program();
  inline_constants.constants_inline = true;
  for (const Program& program : {Program{}, add_program(), inline_constants, full_program()}) {
    const std::string text = print(program);
    const Result<Program> parsed = parse_text(text, "text");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message << "\n" << text;
    EXPECT_EQ(*parsed, program) << text;
    EXPECT_EQ(print(*parsed), text);
    EXPECT_EQ(*write(*parsed), *write(program));
  }
}

TEST(PteText, ParsesAddProgram) {
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

TEST(PteText, WithoutDataIsShortAndNotParsable) {
  const std::string text = print(add_program(), {.data = false});
  EXPECT_EQ(text.find("  x "), std::string::npos);
  const Result<Program> parsed = parse_text(text, "short.txt");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "short.txt:4: 0 bytes so far, 16 announced");
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(PteText, ErrorsAreLocated) {
  const BadText cases[] = {
      {"", "t: expected a line 'pte VERSION'"},
      {"plan \"f\"", "t:1: expected a line 'pte VERSION' first"},
      {"pte 0\npte 0", "t:2: a second 'pte' line"},
      {"pte x", "t:1: 'x' is not an integer of 32 bits"},
      {"pte 0 0", "t:1: unexpected '0'"},
      {"pte 0\nwhat 1", "t:2: unknown word 'what'"},
      {"pte 0\nconstant 2 0", "t:2: expected number 1, found 2"},
      {"pte 0\nconstant 1 2\nx 0g", "t:3: '0g' is not hex"},
      {"pte 0\nconstant 1 2\nx 00", "t: 1 bytes so far, 2 announced"},
      {"pte 0\nx 00", "t:2: bytes of nothing"},
      {"pte 0\nvalue 0 null", "t:2: outside of a plan"},
      {"pte 0\nplan \"f", "t:2: a string does not end"},
      {"pte 0\nplan \"f\\q\"", "t:2: unknown escape in a string"},
      {"pte 0\nplan \"f\"\ninstruction 0 free 1", "t:3: outside a chain"},
      {"pte 0\nplan \"f\"\nchain\ninstruction 0 halt 1", "t:4: unknown instruction 'halt'"},
      {"pte 0\nplan \"f\"\nchain\nframe \"a\" 1 \"b\" \"c\"", "t:4: a frame of no instruction"},
      {"pte 0\nplan \"f\"\nvalue 0 tensor int3 [] order []", "t:3: unknown scalar type 'int3'"},
      {"pte 0\nplan \"f\"\nvalue 0 ints [1 2]", "t:3: expected ']'"},
      {"pte 0\nplan \"f\"\nvalue 0 double 1.5x", "t:3: '1.5x' is not a number"},
      {"pte 0\nplan \"f\"\nvalue 0 int 99999999999999999999",
       "t:3: '99999999999999999999' is not an integer of 64 bits"},
      {"pte 0\nplan \"f\"\nchain\ninputs [0]",
       "t: plan f: inputs[0]: 0 is not an index of 0 entries"},
  };
  for (const BadText& bad : cases) {
    const Result<Program> parsed = parse_text(bad.text, "t");
    ASSERT_FALSE(parsed.ok()) << bad.text;
    EXPECT_EQ(parsed.error().message, bad.message);
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
  const std::string text = print(*layout) + print(full_program());
  EXPECT_TRUE(parse_text(text, "text").ok());
  EXPECT_EQ(nlohmann::json::parse(print_json(*layout))["segments"][4]["role"], "named thimble");
}

}  // namespace
}  // namespace thimble::formats::pte
