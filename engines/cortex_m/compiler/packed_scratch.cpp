// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/packed_scratch.h"

#include <algorithm>

namespace thimble::engine::cortex_m {
namespace {

/// Bytes of the activations that an operator reads and writes.
int64_t activation_bytes(const ir::Graph& graph, const ir::Op& op) {
  auto bytes = static_cast<int64_t>(graph.type(op.output).bytes());
  for (const ir::ValueId input : op.inputs) {
    if (input == ir::kNoValue || graph.value(input).constant != nullptr) continue;
    bytes += static_cast<int64_t>(graph.type(input).bytes());
  }
  return bytes;
}

}  // namespace

bool scratch_is_small(const ir::Graph& graph, const ir::Op& op, int64_t scratch_bytes) {
  constexpr int64_t kPart = 12;
  const int64_t own = activation_bytes(graph, op);
  return kPart * scratch_bytes <= own || std::ranges::any_of(graph.ops(), [&](const ir::Op& other) {
           return activation_bytes(graph, other) >= own + scratch_bytes;
         });
}

}  // namespace thimble::engine::cortex_m
