// SPDX-License-Identifier: Apache-2.0
#include "ethos_u_cases.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "../unit/ethos_u_programs.h"
#include "../unit/ir_random_graph.h"
#include "engines/ethos_u/compiler/lower.h"
#include "eval/evaluate.h"

namespace thimble::test {

using ir::ValueId;

namespace {

/// Returns a random memory order; channels-last and the default order are more likely.
ir::DimOrder random_order(Random& random, size_t rank) {
  ir::DimOrder order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  if (rank == 4 && random.chance(60)) return ir::channels_last_order();
  if (random.chance(70)) return {};
  for (size_t i = rank; i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<size_t>(random.between(0, static_cast<int64_t>(i) - 1))]);
  }
  return order;
}

}  // namespace

ir::Graph subgraph_of(const ir::Graph& graph, const std::vector<bool>& inside, uint64_t seed) {
  Random random(seed);
  ir::Graph region;
  std::map<ValueId, ValueId> made;
  const auto map = [&](ValueId id) {
    if (id == ir::kNoValue || made.contains(id)) return id == ir::kNoValue ? id : made[id];
    const ir::Value& value = graph.value(id);
    if (value.constant != nullptr) {
      made[id] = region.add_constant(value.name, value.constant, value.type.quant);
    } else {
      ir::Type type = value.type;
      type.dim_order = random_order(random, type.shape.size());
      made[id] = region.add_input(value.name, type);
    }
    return made[id];
  };
  std::vector<ValueId> results;
  const auto outputs = graph.outputs();
  const auto consumers = graph.consumers();
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    if (!inside[i]) continue;
    const ir::Op& op = graph.ops()[i];
    std::vector<ValueId> inputs;
    for (const ValueId id : op.inputs) inputs.push_back(map(id));
    ir::Graph::ResultHint hint;
    hint.name = graph.value(op.output).name;
    hint.quant = graph.type(op.output).quant;
    auto y = region.add(op.kind, inputs, op.attrs, {}, hint);
    if (!y.ok()) return {};
    made[op.output] = *y;
    const auto& users = consumers[static_cast<size_t>(op.output)];
    const bool seen = users.empty() ||
                      std::find(outputs.begin(), outputs.end(), op.output) != outputs.end() ||
                      std::any_of(users.begin(), users.end(),
                                  [&](int user) { return !inside[static_cast<size_t>(user)]; });
    if (seen || random.chance(10)) results.push_back(*y);
  }
  for (const ValueId id : results) {
    region.value(id).type.dim_order = random_order(random, region.type(id).shape.size());
    region.add_output(id);
  }
  return region;
}

std::vector<ir::Graph> single_operators(const ir::Graph& graph, uint64_t seed) {
  std::vector<ir::Graph> result;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    std::vector<bool> inside(graph.ops().size(), false);
    inside[i] = true;
    result.push_back(subgraph_of(graph, inside, seed * 31 + i));
  }
  return result;
}

namespace {

Bytes bytes_of(const ir::Tensor& tensor, const ir::Type& type) {
  const auto memory = ir::to_memory(tensor, type.dim_order);
  Bytes bytes(memory.size());
  std::memcpy(bytes.data(), memory.data(), bytes.size());
  return bytes;
}

std::string difference(const Bytes& expected, const Bytes& got) {
  if (expected.size() != got.size()) {
    return std::to_string(got.size()) + " bytes, expected " + std::to_string(expected.size());
  }
  size_t wrong = 0, first = 0;
  for (size_t i = expected.size(); i-- > 0;) {
    if (expected[i] != got[i]) ++wrong, first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(expected.size()) + " bytes differ, byte " +
         std::to_string(first) + " is " + std::to_string(static_cast<int8_t>(got[first])) +
         ", expected " + std::to_string(static_cast<int8_t>(expected[first]));
}

/// Random quantized values. Some seeds give one value everywhere, or only the ends of the range.
std::vector<ir::Tensor> inputs_of(const ir::Graph& region, uint64_t seed) {
  std::vector<ir::Tensor> inputs = random_inputs(region, seed);
  const uint64_t kind = seed % 5;
  for (ir::Tensor& input : inputs) {
    if (input.dtype == ir::DType::kBool || kind > 1 || input.bytes.empty()) continue;
    const size_t size = ir::dtype_bytes(input.dtype);
    for (size_t i = 0; i < input.bytes.size(); ++i) {
      if (kind == 0) input.bytes[i] = input.bytes[i % size];
      const bool high = i % size == size - 1;
      const bool below = (static_cast<unsigned>(input.bytes[i / size * size]) & 1U) != 0;
      if (kind == 1 && high) input.bytes[i] = below ? std::byte{0x80} : std::byte{0x7F};
    }
  }
  return inputs;
}

}  // namespace

Outcome run_subgraph(const ir::Graph& region, const thimble::ethos_u::Config& config, uint64_t seed,
                     const engine::ethos_u::ScheduleOptions& options) {
  auto program = engine::ethos_u::lower(region, config);
  if (!program.ok()) return {true, program.error().message};
  const std::vector<ir::Tensor> inputs = inputs_of(region, seed);
  auto expected = eval::evaluate(region, inputs);
  if (!expected.ok()) return {false, "evaluator: " + expected.error().message};
  auto blob = engine::ethos_u::compile(*program, options);
  if (!blob.ok()) return {false, "compile: " + blob.error().message};
  std::vector<Bytes> memory;
  for (size_t i = 0; i < inputs.size(); ++i) {
    memory.push_back(bytes_of(inputs[i], region.type(region.inputs()[i])));
  }
  const Simulated simulated = simulate(*program, *blob, memory);
  if (!simulated.error.empty()) return {false, "simulator: " + simulated.error};
  for (size_t i = 0; i < expected->size(); ++i) {
    const Bytes right = bytes_of((*expected)[i], region.type(region.outputs()[i]));
    const std::string wrong = difference(right, simulated.outputs[i]);
    if (!wrong.empty()) return {false, "output " + std::to_string(i) + ": " + wrong};
  }
  return {};
}

}  // namespace thimble::test
