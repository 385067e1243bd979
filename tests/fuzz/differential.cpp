// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/differential.h"

#include "driver/engines.h"
#include "emit/emit.h"
#include "eval/evaluate.h"
#include "hostrun/host.h"
#include "ir/print.h"
#include "partition/partition.h"
#include "tests/fuzz/differential_c.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble::fuzz {
namespace {

using Series = std::vector<std::vector<ir::Tensor>>;

struct Compiled {
  ir::Graph reference;  // in the arithmetic of the part's engines
  engine::Lowered lowered;
  Bytes pte;
};

Result<Compiled> compile(const ir::Graph& graph, const engine::Part& part) {
  THIMBLE_TRY(auto split, driver::cut(graph, part, {}, /*keep_small=*/true));
  Compiled compiled;
  THIMBLE_TRY(compiled.reference, partition::inline_subgraphs(split.graph, split.subgraphs));
  THIMBLE_TRY(compiled.lowered, part.cpu->lower(split.graph, *part.cpu, {}));
  THIMBLE_TRY(const auto plan, driver::compile_subgraphs(split.subgraphs, {}, &compiled.lowered));
  THIMBLE_TRY(auto emitted, emit::write_program(compiled.lowered, plan, *part.cpu, {}));
  compiled.pte = std::move(emitted.bytes);
  return compiled;
}

Series inputs_of(const ir::Graph& graph, uint64_t seed) {
  constexpr size_t kCallsWithState = 3;
  Series calls;
  while (calls.size() < (graph.states().empty() ? 1 : kCallsWithState)) {
    calls.push_back(test::random_inputs(graph, seed + calls.size()));
  }
  return calls;
}

Result<Series> evaluate(const ir::Graph& graph, const Series& calls) {
  eval::StateTensors state = eval::initial_state(graph);
  Series results;
  for (const auto& inputs : calls) {
    THIMBLE_TRY(auto outputs, eval::evaluate(graph, inputs, state));
    results.push_back(std::move(outputs));
  }
  return results;
}

Result<Series> run(const Bytes& pte, const Series& calls) {
  THIMBLE_TRY(auto model, hostrun::HostModel::load(pte, "fuzz.pte"));
  Series results;
  for (const auto& inputs : calls) {
    THIMBLE_TRY(auto outputs, model.run(inputs));
    results.push_back(std::move(outputs));
  }
  return results;
}

/// Returns the first difference as text; empty if there is none.
std::string difference_of(const char* path, const Result<Series>& got, const Series& expected) {
  if (!got.ok()) return fmt::format("{}: error: {}", path, got.error().message);
  for (size_t call = 0; call < expected.size(); ++call) {
    for (size_t i = 0; i < expected[call].size(); ++i) {
      if ((*got)[call].size() != expected[call].size()) return fmt::format("{}: outputs", path);
      if ((*got)[call][i] == expected[call][i]) continue;
      return fmt::format("{}: output {} of call {} is not that of the evaluator", path, i, call);
    }
  }
  return "";
}

std::string text_difference(const ir::Graph& graph) {
  const std::string text = ir::print(graph);
  const auto parsed = ir::parse(text, "fuzz.ir");
  if (!parsed.ok()) return fmt::format("text: error: {}", parsed.error().message);
  return ir::print(*parsed) == text ? "" : "text: the parsed graph prints another text";
}

}  // namespace

Comparison compare_paths(const ir::Graph& graph, const engine::Part& part, uint64_t seed,
                         bool c_output) {
  Comparison comparison;
  comparison.difference = text_difference(graph);
  if (!comparison.difference.empty()) return comparison;
  const auto compiled = compile(graph, part);
  if (!compiled.ok()) {
    if (compiled.error().kind != ErrorKind::kUnsupported) {
      comparison.difference = fmt::format("compile: error: {}", compiled.error().message);
    }
    return comparison;
  }
  comparison.ran = true;
  const Series calls = inputs_of(graph, seed);
  const auto expected = evaluate(compiled->reference, calls);
  if (!expected.ok()) {
    comparison.difference = fmt::format("evaluator: error: {}", expected.error().message);
    return comparison;
  }
  comparison.difference = difference_of("runtime", run(compiled->pte, calls), *expected);
  if (!comparison.difference.empty() || !c_output || !compiled->lowered.delegates.empty()) {
    return comparison;
  }
  comparison.difference =
      difference_of("C", run_c(compiled->pte, compiled->lowered, *part.cpu, calls), *expected);
  return comparison;
}

}  // namespace thimble::fuzz
