// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packs the parameters of native operators: from the IR operator to the bytes of
// abi/params.

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {

[[nodiscard]] bool is_depthwise(const ir::Graph& graph, const ir::Op& conv);

[[nodiscard]] Constant pack_conv(const ir::Graph& graph, const ir::Op& op);
[[nodiscard]] Constant pack_linear(const ir::Graph& graph, const ir::Op& op);
[[nodiscard]] Constant pack_add(const ir::Op& op);
[[nodiscard]] Constant pack_mul(const ir::Op& op);
[[nodiscard]] Constant pack_pool(const ir::Op& op);
[[nodiscard]] Constant pack_mean(const ir::Op& op);
[[nodiscard]] Constant pack_log_softmax(const ir::Graph& graph, const ir::Op& op);

/// Returns the weights in the order of both dialects: [O,kh,kw,I/g], or [kh,kw,O] for depthwise.
[[nodiscard]] std::vector<std::byte> conv_weights(const ir::Graph& graph, const ir::Op& op);
/// Returns one entry per output channel; a single entry is repeated.
[[nodiscard]] std::vector<int32_t> per_channel(const ir::Graph& graph, ir::ValueId value,
                                               int64_t channels);

}  // namespace thimble::engine::cortex_m
