// SPDX-License-Identifier: Apache-2.0
#include "run_series.h"

#include <gtest/gtest.h>

#include "base/aligned_bytes.h"
#include "eval/evaluate.h"
#include "runtime/include/thimble.h"

namespace thimble::test {
namespace {

/// Makes one call with inputs and outputs in the graph's memory orders.
std::vector<ir::Tensor> call_host(thimble_model& model, const ir::Graph& graph,
                                  std::span<const ir::Tensor> inputs) {
  std::vector<AlignedBytes> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto bytes = ir::to_memory(inputs[i], graph.type(graph.inputs()[i]).dim_order);
    buffers.emplace_back(bytes);
    EXPECT_EQ(
        thimble_set_input(&model, static_cast<uint32_t>(i), buffers.back().data(), bytes.size()),
        0);
  }
  EXPECT_EQ(thimble_run(&model), 0);
  std::vector<ir::Tensor> outputs;
  for (uint32_t i = 0; i < thimble_output_count(&model); ++i) {
    thimble_view view = {};
    EXPECT_EQ(thimble_output(&model, i, &view), 0);
    const ir::Type& type = graph.type(graph.outputs()[i]);
    EXPECT_EQ(view.bytes, type.bytes());
    ir::DimOrder order(view.dim_order, view.dim_order + view.rank);
    EXPECT_TRUE(ir::same_memory(type.shape, order, type.dim_order));
    outputs.push_back(ir::from_memory({static_cast<const std::byte*>(view.data), view.bytes},
                                      type.dtype, type.shape, order));
  }
  return outputs;
}

}  // namespace

Result<Series> run_on_evaluator(const ir::Graph& graph, const Series& calls) {
  eval::StateTensors state = eval::initial_state(graph);
  Series outputs;
  for (const auto& inputs : calls) {
    THIMBLE_TRY(auto result, eval::evaluate(graph, inputs, state));
    outputs.push_back(std::move(result));
  }
  return outputs;
}

Series run_on_host(const ir::Graph& graph, const Bytes& pte, const Series& calls) {
  const AlignedBytes file(pte);
  thimble_needs needs = {};
  EXPECT_EQ(thimble_size(file.data(), pte.size(), thimble_all_kernels(), &needs), 0);
  AlignedBytes memory(needs.arena_bytes + needs.state_bytes);
  thimble_model model;
  const thimble_status status = thimble_init(&model, file.data(), pte.size(), thimble_all_kernels(),
                                             memory.data(), needs.arena_bytes + needs.state_bytes);
  EXPECT_EQ(status, 0) << thimble_status_text(status);
  if (status != 0) return {};
  Series outputs;
  for (const auto& inputs : calls) outputs.push_back(call_host(model, graph, inputs));
  if (needs.saved_bytes == 0) return outputs;

  // Restoring the state saved before the last call repeats that call; a reset repeats the first.
  std::vector<std::byte> saved(needs.saved_bytes);
  EXPECT_EQ(thimble_reset(&model), 0);
  for (size_t i = 0; i + 1 < calls.size(); ++i) call_host(model, graph, calls[i]);
  EXPECT_EQ(thimble_save(&model, saved.data(), saved.size()), 0);
  EXPECT_EQ(call_host(model, graph, calls.back()), outputs.back());
  EXPECT_EQ(thimble_reset(&model), 0);
  EXPECT_EQ(call_host(model, graph, calls.front()), outputs.front());
  EXPECT_EQ(thimble_restore(&model, saved.data(), saved.size()), 0);
  EXPECT_EQ(call_host(model, graph, calls.back()), outputs.back());
  return outputs;
}

}  // namespace thimble::test
