// SPDX-License-Identifier: Apache-2.0
// Properties of every graph: its text parses to the same graph, and a copy is equal. No text,
// however damaged, crashes the parser.

#include <gtest/gtest.h>

#include <set>

#include "ir/dce.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble {
namespace {

constexpr uint64_t kSeeds = 500;

TEST(RoundTrip, RandomGraphsRoundTrip) {
  std::set<ir::OpKind> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("random_graph({}, 12)", seed));
    const ir::Graph graph = test::random_graph(seed, 12);
    for (const ir::Op& op : graph.ops()) seen.insert(op.kind);
    const auto checked = ir::verify(graph);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    const std::string text = ir::print(graph);
    const auto read = ir::parse(text, "text");
    ASSERT_TRUE(read.ok()) << read.error().message << "\n" << text;
    ASSERT_EQ(ir::print(*read), text);
  }
  for (size_t i = 0; i < static_cast<size_t>(ir::OpKind::kCount); ++i) {
    const auto kind = static_cast<ir::OpKind>(i);
    if (kind == ir::OpKind::delegate) continue;  // partition_test.cpp parses delegates
    EXPECT_TRUE(seen.contains(kind)) << ir::op_name(kind) << " never occurred";
  }
}

TEST(RoundTrip, RemoveUnusedIsIdempotentAndVerified) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("random_graph({}, 12)", seed));
    const ir::Graph once = ir::remove_unused(test::random_graph(seed, 12));
    const auto checked = ir::verify(once);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    EXPECT_EQ(ir::print(ir::remove_unused(once)), ir::print(once));
  }
}

/// Makes one random edit: a byte changed, a piece removed, repeated, or replaced by a likely token.
std::string mutated(std::string text, test::Random& random) {
  static const std::vector<std::string> kTokens = {"%",
                                                   "@",
                                                   "\"",
                                                   "\\x",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "(",
                                                   ")",
                                                   ":",
                                                   "=",
                                                   ",",
                                                   "_",
                                                   "//",
                                                   "\n",
                                                   "-",
                                                   "0x",
                                                   "...",
                                                   "nan",
                                                   "-inf",
                                                   "1e999",
                                                   "-1",
                                                   "quant",
                                                   "order",
                                                   "input",
                                                   "const",
                                                   "output",
                                                   "graph",
                                                   "99999999999999999999",
                                                   "0",
                                                   "2147483647",
                                                   "9223372036854775807",
                                                   "%x",
                                                   "i8",
                                                   "bool",
                                                   "axis",
                                                   std::string(1, '\0')};
  const auto position = [&] {
    return static_cast<size_t>(random.between(0, static_cast<int64_t>(text.size())));
  };
  const size_t at = position();
  const size_t length = static_cast<size_t>(random.between(1, 30));
  switch (random.between(0, 4)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random.between(-128, 127));
      return text;
    case 1:
      return text.erase(at, length);
    case 2:
      return text.insert(position(), text.substr(at, length));
    case 3:
      return text.substr(0, at);
    default: {
      const size_t token = static_cast<size_t>(random.between(0, int64_t(kTokens.size()) - 1));
      return text.replace(at, static_cast<size_t>(random.between(0, 3)), kTokens[token]);
    }
  }
}

TEST(ParserFuzz, MutatedTextsNeverCrash) {
  constexpr uint64_t kTexts = 100;
  constexpr int kMutations = 100;  // per text; mutations accumulate
  int accepted = 0;
  for (uint64_t seed = 0; seed < kTexts; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::Random random(seed);
    const std::string original = ir::print(ir::remove_unused(test::random_graph(seed, 6)));
    std::string base = original;
    for (int i = 0; i < kMutations; ++i) {
      if (i % 20 == 0) base = original;
      const std::string text = mutated(base, random);
      const auto graph = ir::parse(text, "fuzz");
      if (!graph.ok()) {
        ASSERT_EQ(graph.error().message.rfind("fuzz:", 0), 0U) << graph.error().message;
        continue;
      }
      base = text;  // edits accumulate on texts that are still valid graphs
      ++accepted;
      const std::string printed = ir::print(*graph);
      const auto again = ir::parse(printed, "printed");
      ASSERT_TRUE(again.ok()) << again.error().message << "\n" << printed;
      ASSERT_EQ(ir::print(*again), printed);
    }
  }
  EXPECT_GT(accepted, 500) << "the mutations are too wild to test anything but the lexer";
}

}  // namespace
}  // namespace thimble
