// SPDX-License-Identifier: Apache-2.0
// Random graphs on every path (differential.h). An input is a choice of the generator, or a graph:
//
//   0 u8 generator   1 u8 part   2 u8 number of operators   3.. seed, up to 8 bytes
//   // part: cortex-m4, seed: 17        and the text of a graph (ir/print.h)
//
// A failure prints the smallest graph that was found in the second form, which is an input too.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"
#include "tests/conformance/random_direct_graph.h"
#include "tests/conformance/random_integer_graph.h"
#include "tests/conformance/random_move_graph.h"
#include "tests/conformance/random_spectrum_graph.h"
#include "tests/conformance/random_wide_graph.h"
#include "tests/fuzz/differential.h"
#include "tests/fuzz/targets.h"
#include "tests/unit/quant_random_network.h"

namespace thimble::fuzz {
namespace {

constexpr const char* kParts[] = {"cortex-m0plus", "cortex-m4",    "cortex-m33",
                                  "cortex-m55",    "corstone-300", "ethos-u65-512",
                                  "corstone-320",  "nrf54lm20b",   "imxrt700cm"};
/// One of so many graphs on a core is also compiled as C, which takes as long as 50 other runs.
constexpr uint64_t kGraphsPerC = 64;
constexpr std::string_view kHeading = "// part: ";

struct Case {
  std::string part;
  uint64_t seed = 0;
  ir::Graph graph;
};

/// A float network, quantized with the preferences of the part's first engine.
Result<ir::Graph> quantized_network(uint64_t seed, int ops, const engine::Part& part) {
  THIMBLE_TRY(const ir::Graph network, passes::run_float_passes(test::random_network(seed, ops)));
  quant::QuantSpec spec;
  if (!part.engines.empty() && part.engines[0].engine->preferences != nullptr) {
    const auto& preferences = *part.engines[0].engine->preferences;
    spec.symmetric_products = preferences.symmetric_products;
    spec.tables.assign(preferences.tables.begin(), preferences.tables.end());
  }
  quant::QuantizeOptions options;
  options.io = seed % 2 == 0 ? quant::Io::kInt8 : quant::Io::kFloat;
  THIMBLE_TRY(auto model,
              quant::quantize(network, test::random_calibration(network, seed, 4), spec, options));
  return std::move(model.graph);
}

Result<ir::Graph> generate(uint8_t generator, int ops, uint64_t seed, const engine::Part& part) {
  constexpr ir::DType kTypes[] = {ir::DType::kI8,  ir::DType::kI16,  ir::DType::kI32,
                                  ir::DType::kF32, ir::DType::kBool, ir::DType::kU8};
  switch (generator % 8) {
    case 0:
      return test::random_wide_graph(seed, ops);
    case 1:
      return test::random_move_graph(seed, kTypes[seed % std::size(kTypes)]);
    case 2:
      return test::random_direct_graph(seed);
    case 3:
    case 4:
      return quantized_network(seed, ops, part);
    default:
      return test::random_integer_graph(seed, {ops, false});
  }
}

std::optional<Case> generated(ByteView bytes) {
  constexpr size_t kSeedAt = 3;
  if (bytes.size() <= kSeedAt) return std::nullopt;
  const auto byte = [&](size_t at) { return std::to_integer<uint8_t>(bytes[at]); };
  Case made;
  made.part = kParts[byte(1) % std::size(kParts)];
  for (size_t i = kSeedAt; i < std::min<size_t>(bytes.size(), kSeedAt + 8); ++i) {
    made.seed = made.seed << 8 | byte(i);
  }
  const auto part = engine::find_part(made.part);
  if (!part.ok()) std::abort();
  auto graph = generate(byte(0), 1 + byte(2) % 12, made.seed, *part);
  if (!graph.ok()) return std::nullopt;
  made.graph = std::move(*graph);
  return made;
}

std::optional<Case> parsed(std::string_view text) {
  Case made;
  char name[64] = {};
  const std::string line(text.substr(0, text.find('\n')));
  if (std::sscanf(line.c_str(), "// part: %63[^,], seed: %" SCNu64, name, &made.seed) != 2) {
    return std::nullopt;
  }
  made.part = name;
  if (!std::ranges::count(kParts, made.part)) return std::nullopt;
  auto graph = ir::parse(text, "input.ir");
  if (!graph.ok() || !ir::verify(*graph).ok()) return std::nullopt;
  made.graph = std::move(*graph);
  return made;
}

/// Large extents in the text of a graph would only take longer.
bool is_small(const ir::Graph& graph) {
  constexpr int64_t kElementsMax = 1 << 14;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    if (graph.type(static_cast<ir::ValueId>(i)).elements() > kElementsMax) return false;
  }
  return true;
}

[[noreturn]] void report(const Case& made, const engine::Part& part, const Comparison& first,
                         bool c_output) {
  const std::string path = first.difference.substr(0, first.difference.find(':'));
  const ir::Graph smallest = shrink(made.graph, [&](const ir::Graph& graph) {
    const std::string found = compare_paths(graph, part, made.seed, c_output).difference;
    return found.substr(0, found.find(':')) == path;
  });
  const Comparison last = compare_paths(smallest, part, made.seed, c_output);
  std::fprintf(stderr,
               "%s\n%zu of %zu operators remain. To repeat it, store the following lines in a file "
               "x.ir:\n  thimble_fuzz --target=differential x.ir\n%s%s, seed: %" PRIu64 "\n%s\n",
               last.difference.c_str(), smallest.ops().size(), made.graph.ops().size(),
               kHeading.data(), made.part.c_str(), made.seed, ir::print(smallest).c_str());
  std::abort();
}

Outcome compare(ByteView bytes) {
  const std::string_view text = as_text(bytes);
  const auto made = text.starts_with(kHeading) ? parsed(text) : generated(bytes);
  if (!made || !is_small(made->graph)) return Outcome::kRejected;
  const auto part = engine::find_part(made->part);
  if (!part.ok()) std::abort();
  const bool c_output = made->seed % kGraphsPerC == 0;
  const Comparison comparison = compare_paths(made->graph, *part, made->seed, c_output);
  if (!comparison.difference.empty()) report(*made, *part, comparison, c_output);
  return comparison.ran ? Outcome::kExecuted : Outcome::kRejected;
}

}  // namespace

std::vector<Target> differential_targets() {
  return {{"differential", compare}};
}

}  // namespace thimble::fuzz
