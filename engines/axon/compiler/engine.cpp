// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/engine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/aligned_bytes.h"
#include "engine/core_cycles.h"
#include "engine/settings.h"
#include "engines/axon/compiler/cost.h"
#include "engines/axon/compiler/legalize.h"
#include "engines/axon/compiler/lower.h"
#include "engines/axon/compiler/single_op.h"
#include "engines/axon/compiler/transpose_hw.h"
#include "engines/axon/compiler/vendor/vendor_compile.h"
#include "engines/axon/compiler/write.h"

namespace thimble::engine::axon {
namespace {

constexpr std::string_view kSilicon =
    "the layer list runs on this machine and on an emulated core; silicon needs command buffers "
    "that only the vendor's compiler library makes: set SDK_EDGE_AI_PATH to a copy of "
    "nrfconnect/sdk-edge-ai and compile with --axon program (docs/nordic-axon.md)";

constexpr Setting kSettings[] = {
    {"clock_mhz", 1, 10000, kClockMhz},
    {"dispatch_us", 0, 10000, kDispatchUs},
};

double setting(const PartNpu& use, std::string_view name) {
  return engine::setting(use, kSettings, name);
}

NpuTiming timing_of(const PartNpu& use) {
  return {setting(use, "clock_mhz"), setting(use, "dispatch_us")};
}

Status check(const PartNpu& use) {
  return check_settings(use, kSettings);
}

Result<Network> network_of(const ir::Graph& subgraph, std::span<const StatePair> states) {
  THIMBLE_TRY(const ir::Graph legalized, legalize(subgraph));
  return lower(legalized, states);
}

/// Movement alone makes no layer; it is legal between those that do.
Legality legal(const ir::Graph& graph, const ir::Op& op, const PartNpu& use) {
  const auto refuse = [&](const Error& error) {
    return Legality{false,
                    fmt::format("{} on {}: {}", ir::op_name(op.kind), use.name, error.message)};
  };
  auto one = single_op_graph(graph, op);
  if (!one.ok()) return refuse(one.error());
  // Remove the operator's name from the message; refuse() puts it in front.
  const auto without_name = [&](Error error) {
    const std::string prefix = fmt::format("{}: ", ir::op_name(op.kind));
    if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
    return error;
  };
  const auto network = network_of(*one, {});
  return network.ok() ? Legality{true, ""} : refuse(without_name(network.error()));
}

std::string decline_reason(const ir::Graph& subgraph, const PartNpu& use, bool ignore_cost) {
  const auto network = network_of(subgraph, {});
  if (!network.ok()) return fmt::format("{}: {}", use.name, network.error().message);
  const double dispatch = setting(use, "dispatch_us") * setting(use, "clock_mhz");
  const double npu = static_cast<double>(network->cycles()) + dispatch;
  const double core = core_cycles(subgraph);
  if (ignore_cost || npu < core) return "";
  return fmt::format(
      "the subgraph takes {} NPU cycles plus {:.0f} for the call, on the core about {:.0f}: "
      "cheaper on "
      "the CPU",
      network->cycles(), dispatch, core);
}

/// Returns one report row per operator of the subgraph: its layers and their total cycles.
std::vector<DelegateRow> rows_of(const Network& network) {
  std::map<int, DelegateRow> rows;
  for (const Layer& layer : network.layers) {
    DelegateRow& row = rows[layer.ir_op];
    row.ir_op = layer.ir_op;
    row.cycles = row.cycles.value_or(0) + layer.cycles;
    const std::string what = layer_text(layer);
    if (!row.what.ends_with(what)) row.what += (row.what.empty() ? "" : "+") + what;
    if (layer.operation == Operation::kFullyConnected && layer.per_channel()) {
      Layer one = layer;
      one.shifts.resize(1);
      row.reason = fmt::format("one multiplier per output: {} cycles; {} with a single multiplier",
                               layer.cycles, cycles_of(one));
    }
  }
  std::vector<DelegateRow> result;
  for (auto& [op, row] : rows) result.push_back(std::move(row));
  return result;
}

/// Returns the position of each output in the scratch memory. An output with contiguous rows may
/// stay in the arena where the layers wrote it; its `bytes` is the size. At most one output per
/// buffer may do so, because a reader may overwrite the buffer. For other outputs `bytes` is -1.
std::vector<DelegateIo> output_positions(const Network& network) {
  std::vector<DelegateIo> result;
  std::set<int> taken;
  for (const NetworkIo& edge : network.outputs) {
    const Buffer& buffer = network.buffers[static_cast<size_t>(edge.map.buffer)];
    const bool direct = buffer.source == Source::kInterlayer &&
                        edge.map.row_stride == edge.map.row_bytes() &&
                        taken.insert(edge.map.buffer).second;
    const int64_t bytes = edge.map.dims.elements() * edge.map.element_bytes;
    result.push_back({buffer.offset + edge.map.offset, direct ? bytes : -1});
  }
  return result;
}

/// Checks the container as the runtime does. A failure is a bug of this compiler.
Status check_payload(const std::vector<std::byte>& payload) {
  const AlignedBytes copy(payload);
  uint32_t layer = 0;
  const container::Status status =
      container::check(copy.data(), static_cast<uint32_t>(payload.size()), layer);
  if (status == container::Status::kOk) return ok();
  return unsupported("axon: bug in Thimble, please report: invalid layer list: {} (layer {})",
                     container::status_text(status), layer);
}

Result<Delegate> compile_subgraph(const ir::Graph& subgraph, const PartNpu& use,
                                  const NpuOptions& options) {
  std::vector<StatePair> states;
  for (const auto& [input, output] : options.states) states.push_back({input, output});
  THIMBLE_TRY(Network network, network_of(subgraph, states));
  place(&network);
  Delegate delegate;
  delegate.engine = use.name;
  delegate.id = container::kDelegateId;
  THIMBLE_TRY(delegate.payload, write(network, subgraph.name));
  THIMBLE_CHECK(check_payload(delegate.payload));
  container::Header header;
  std::memcpy(&header, delegate.payload.data(), sizeof header);
  delegate.constant_bytes = header.constant_bytes;
  delegate.scratch_bytes = network.interlayer_bytes + network.persistent_bytes;
  delegate.outputs = output_positions(network);
  delegate.rows = rows_of(network);
  delegate.cycles = network.cycles();
  delegate.call_us = timing_of(use).call_us;
  delegate.clock_mhz = timing_of(use).clock_mhz;
  delegate.note = kSilicon;
  return delegate;
}

Result<ir::Graph> adapt(const ir::Graph& subgraph, const PartNpu& /*use*/) {
  return legalize(subgraph);
}

/// Returns the core cycles to transpose H and W of an image, as counted under QEMU.
double transpose_cycles(const ir::Type& type) {
  constexpr double kCall = 900, kElement = 14;
  const bool moves = type.shape.size() == 4 && type.shape[2] > 1 && type.shape[3] > 1;
  return moves ? kCall + kElement * static_cast<double>(type.elements()) : 0;
}

/// Wide pictures cost less than tall ones.
std::optional<ir::Graph> transposed_hw_if_cheaper(const ir::Graph& subgraph,
                                                  const PartNpu& /*use*/) {
  auto other = transposed_hw(subgraph);
  if (!other) return std::nullopt;
  const auto as_it_is = network_of(subgraph, {});
  const auto swapped_hw = network_of(*other, {});
  if (!as_it_is.ok() || !swapped_hw.ok()) return std::nullopt;
  double outside = 0;
  for (const ir::ValueId id : subgraph.inputs()) outside += transpose_cycles(subgraph.type(id));
  for (const ir::ValueId id : subgraph.outputs()) outside += transpose_cycles(subgraph.type(id));
  const double saved = static_cast<double>(as_it_is->cycles() - swapped_hw->cycles());
  if (saved <= outside) return std::nullopt;
  return other;
}

constexpr QuantPreferences kPreferences{
    .linear_per_tensor = true, .narrow_softmax = true, .fixed_sigmoid_scale = true};

}  // namespace

const Npu kEngine = {
    .kind = "axon",
    .check = check,
    .legal = legal,
    .channels_last = false,
    .compile = compile_subgraph,
    .timing = timing_of,
    .adapt = adapt,
    .decline_reason = decline_reason,
    .preferences = &kPreferences,
    .transposed_hw = transposed_hw_if_cheaper,
    .compile_with_vendor_tools = compile_with_vendor_tools,
    .supported = supported,
};

std::vector<NpuName> npus() {
  return {{"axon", &kEngine}};
}

}  // namespace thimble::engine::axon
