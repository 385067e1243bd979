// SPDX-License-Identifier: Apache-2.0
// Runs the text tests of parse/ (printed result or located error), ops/ (accepted and refused uses
// of every operator) and remove_unused/.

#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "ir/dce.h"
#include "ir/print.h"
#include "tests/folders.h"
#include "tests/text/text_runner.h"

namespace thimble {
namespace {

class ParseText : public testing::TestWithParam<std::string> {};
class OpsText : public testing::TestWithParam<std::string> {};
class RemoveUnusedText : public testing::TestWithParam<std::string> {};

std::string print_or_error(const Result<ir::Graph>& graph) {
  return graph.ok() ? ir::print(*graph) : "error: " + graph.error().message + "\n";
}

TEST_P(ParseText, Prints) {
  test::check_text_file(GetParam(), [](std::string_view input, std::string_view name) {
    return print_or_error(ir::parse(input, name));
  });
}

TEST_P(RemoveUnusedText, Prints) {
  test::check_text_file(GetParam(), [](std::string_view input, std::string_view name) {
    auto graph = ir::parse(input, name);
    if (graph.ok()) graph = ir::remove_unused(*graph);
    return print_or_error(graph);
  });
}

/// Returns the result's type as printed, or the error message without its location.
std::string try_operator(std::string_view prelude, std::string_view trial) {
  const auto text = fmt::format("graph @trial {{\n{}%result = {}\n}}\n", prelude, trial);
  const auto graph = ir::parse(text, "trial");
  if (!graph.ok()) {
    std::string message = graph.error().message;
    for (int colons = 0; colons < 3; ++colons) message.erase(0, message.find(':') + 1);
    const bool unsupported = graph.error().kind == ErrorKind::kUnsupported;
    return (unsupported ? "! unsupported:" : "!") + message;
  }
  std::string line = ir::print(*graph);
  line.erase(0, line.rfind("%result: ") + 9);
  return "= " + line.substr(0, line.find(" = "));
}

TEST_P(OpsText, AcceptsAndRefuses) {
  test::check_trial_file(GetParam(), try_operator);
}

TEST(DocumentedIrText, DocumentedExampleRoundTrip) {
  std::ifstream file(test::source_folder() / "docs/ir.md");
  std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t start = page.find("graph @forward");
  ASSERT_NE(start, std::string::npos);
  const std::string example = page.substr(start, page.find("```", start) - start);
  EXPECT_EQ(print_or_error(ir::parse(example, "docs/ir.md")), example);
}

TEST(OpsTextFiles, EveryOperatorHasOne) {
  const auto files = test::text_files("ops");
  const std::set<std::string> names(files.begin(), files.end());
  for (size_t i = 0; i < static_cast<size_t>(ir::OpKind::kCount); ++i) {
    const auto name = ir::op_name(static_cast<ir::OpKind>(i));
    EXPECT_EQ(names.count(fmt::format("ops/{}.ir", name)), 1U) << name;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& letter : name) {
    if (letter == '/' || letter == '.') letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, ParseText, testing::ValuesIn(test::text_files("parse")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, OpsText, testing::ValuesIn(test::text_files("ops")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, RemoveUnusedText,
                         testing::ValuesIn(test::text_files("remove_unused")), test_name);

}  // namespace
}  // namespace thimble
