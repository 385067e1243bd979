// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_delegate.h"

#include <numeric>

#include "driver/engines.h"
#include "driver/recipe.h"
#include "driver/stages.h"
#include "engine/part.h"
#include "ir/refused_op.h"

namespace thimble::driver {
namespace {

/// Returns an error that lists the operators outside of the only subgraph.
Status check_whole(const FloatModel& model, const ir::Graph& graph,
                   const partition::Partition& split, const std::string& engine) {
  std::string lines;
  ErrorFacts facts;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    if (!split.subgraph_of.empty() && split.subgraph_of[i] == 0) continue;
    const ir::Op& op = graph.ops()[i];
    const std::string reason = !split.subgraph_of.empty() && split.subgraph_of[i] > 0
                                   ? "it is not connected to the other operators"
                                   : split.reasons[i];
    const RefusedOp refused = ir::refused_op(op.source, op.kind, reason);
    lines += fmt::format("\n  {:<14} {}: {}", refused.source, refused.op, reason);
    facts.ops.push_back(refused);
  }
  if (lines.empty() && split.subgraphs.size() == 1) return ok();
  return refusal(
      fmt::format("{}: {} does not run the whole model in one call{}", model.name, engine, lines),
      std::move(facts));
}

std::vector<IoReport> ports(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<IoReport> reports;
  for (const ir::ValueId id : values) reports.push_back({graph.value(id).name, graph.type(id)});
  return reports;
}

}  // namespace

Result<DelegateProgram> compile_delegate(const std::filesystem::path& path,
                                         const CompileOptions& asked) {
  THIMBLE_TRY(engine::Part part, engine::find_part(asked.target));
  CompileOptions options = with_recipe(asked, part.recipe);
  options.io = quant::Io::kInt8;
  if (part.engines.empty()) return bad_input("{} has no NPU", part.name);
  part.engines.resize(1);
  const engine::PartNpu& use = part.engines.front();
  StageFiles files(options.save_stages, {path, options.calibration});
  THIMBLE_TRY(FloatModel model, import_model(path, options, &files));
  release_imported_constants(&model);
  THIMBLE_TRY(const Calibration data, read_calibration(model, options));
  THIMBLE_TRY(quant::QuantizedModel quantized,
              quantize_model(model, data, options, arithmetic_of(options, part)));
  ir::Graph& graph = quantized.graph;
  THIMBLE_CHECK(files.save("integer.ir", graph));
  THIMBLE_TRY(const partition::Partition split, cut(graph, part, {}, true));
  THIMBLE_CHECK(check_whole(model, graph, split, use.name));
  DelegateProgram program;
  program.inputs = ports(graph, graph.inputs());
  program.outputs = ports(graph, graph.outputs());
  graph.name = std::filesystem::path(model.name).stem().string();
  if (use.engine->adapt != nullptr) {
    THIMBLE_TRY(graph, use.engine->adapt(graph, use));
    THIMBLE_CHECK(files.save("adapted.ir", graph));
  }
  engine::NpuOptions npu;
  npu.smallest = options.optimize == engine::Optimize::kSize;
  npu.external_weights = options.external_weights;
  npu.vendor = options.vendor;
  const auto sram = options.memory.find("sram");
  if (sram != options.memory.end()) {
    npu.sram_bytes = sram->second;
    npu.sram_is_budget = true;
  }
  // The caller's runtime may read an input again after the call.
  npu.read_only_inputs.resize(graph.inputs().size());
  std::iota(npu.read_only_inputs.begin(), npu.read_only_inputs.end(), size_t{0});
  THIMBLE_TRY(program.delegate, use.engine->compile(graph, use, npu));
  if (use.engine->compile_with_vendor_tools != nullptr) {
    THIMBLE_CHECK(use.engine->compile_with_vendor_tools(options.vendor, program.delegate));
  }
  THIMBLE_CHECK(files.save("payload.bin", program.delegate.payload));
  program.graph = std::move(graph);
  return program;
}

}  // namespace thimble::driver
