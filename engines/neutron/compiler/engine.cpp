// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/engine.h"

#include <algorithm>
#include <map>

#include "engine/core_cycles.h"
#include "engine/settings.h"
#include "engine/single_op.h"
#include "engines/neutron/compiler/cost.h"
#include "engines/neutron/compiler/legalize.h"
#include "engines/neutron/compiler/limits.h"
#include "engines/neutron/compiler/lower.h"
#include "engines/neutron/compiler/no_effect.h"
#include "engines/neutron/compiler/place.h"
#include "engines/neutron/compiler/quant_preferences.h"
#include "engines/neutron/compiler/vendor/vendor_compile.h"
#include "engines/neutron/compiler/write.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/formats/payload.h"

namespace thimble::engine::neutron {
namespace {

constexpr std::string_view kHardwareNote =
    "the kernel list runs in the integer model, on this machine or on an emulated core. The "
    "hardware "
    "needs microcode from NXP's converter: --neutron sdk, with EIQ_NEUTRON_SDK_PATH "
    "(docs/neutron.md)";

double setting(const PartNpu& use, std::string_view name) {
  return engine::setting(use, kSettings, name);
}

NpuTiming timing_of(const PartNpu& use) {
  return {setting(use, "clock_mhz"), setting(use, "dispatch_us")};
}

Costs costs_of(const PartNpu& use) {
  Costs costs;
  costs.units = configuration_of(use.name).units;
  costs.bus_bytes = static_cast<int64_t>(setting(use, "bus_bytes"));
  costs.kernel_cycles = static_cast<int64_t>(setting(use, "kernel_cycles"));
  costs.softmax_cycles = static_cast<int64_t>(setting(use, "softmax_cycles"));
  return costs;
}

Status check(const PartNpu& use) {
  return check_settings(use, kSettings);
}

Result<Network> network_of(const ir::Graph& subgraph, const PartNpu& use) {
  THIMBLE_TRY(const ir::Graph legalized, legalize(subgraph));
  return lower(legalized, costs_of(use));
}

Legality legal(const ir::Graph& graph, const ir::Op& op, const PartNpu& use) {
  Legality rules = check_rules(graph, op, configuration_of(use.name).variant);
  if (!rules.legal) return rules;
  const auto refuse = [&](std::string message) {
    // The message must contain the operator's name exactly once.
    const std::string prefix = fmt::format("{}: ", ir::op_name(op.kind));
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
    return Legality{false, prefix + message};
  };
  auto one = single_op_graph(graph, op);
  if (!one.ok()) return refuse(one.error().message);
  const auto network = network_of(*one, use);
  return network.ok() ? Legality{true, ""} : refuse(network.error().message);
}

std::string decline_reason(const ir::Graph& subgraph, const PartNpu& use, bool ignore_cost) {
  std::string no_effect = no_effect_reason(subgraph);
  if (!no_effect.empty()) return no_effect;
  const auto network = network_of(subgraph, use);
  if (!network.ok()) return fmt::format("{}: {}", use.name, network.error().message);
  const double dispatch = setting(use, "dispatch_us");
  const double npu = static_cast<double>(network->cycles()) / setting(use, "clock_mhz");
  const double core = core_cycles(subgraph) / setting(use, "core_mhz");
  if (ignore_cost || npu + dispatch < core) return "";
  return fmt::format(
      "the subgraph would take {:.1f} us on the NPU ({} cycles) plus {:.1f} us for the call, and "
      "about {:.1f} us on the CPU: it stays on the CPU",
      npu, network->cycles(), dispatch, core);
}

/// Joins names and counts equal neighbors: "Slice + 3 Conv2DStandard 3x3".
std::string counted(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size();) {
    size_t end = i;
    while (end < names.size() && names[end] == names[i]) ++end;
    if (!text.empty()) text += " + ";
    if (end - i > 1) text += fmt::format("{} ", end - i);
    text += names[i];
    i = end;
  }
  return text;
}

/// Returns one report row per operator of the subgraph: its kernels and their total cycles.
std::vector<DelegateRow> rows_of(const Network& network) {
  std::map<int, DelegateRow> rows;
  std::map<int, std::vector<std::string>> kernels;
  for (const KernelOp& kernel : network.kernels) {
    DelegateRow& row = rows[kernel.ir_op];
    row.ir_op = kernel.ir_op;
    row.cycles = row.cycles.value_or(0) + kernel.cycles;
    kernels[kernel.ir_op].push_back(kernel_text(kernel));
    for (const int other : kernel.fused_ops) {
      rows[other] = {other, fmt::format("in {}", container::kernel_name(kernel.kernel)), 0, ""};
    }
  }
  for (const auto& [op, names] : kernels) rows[op].what = counted(names);
  std::vector<DelegateRow> result;
  for (auto& [op, row] : rows) result.push_back(std::move(row));
  return result;
}

/// Checks the program as the runtime does. A failure is a bug of this compiler.
Status check_program(const EncodedProgram& encoded) {
  const std::string fault = formats::neutron::kernel_list_fault(encoded.program, encoded.weights);
  if (fault.empty()) return ok();
  return unsupported("neutron: bug in Thimble, please report: invalid kernel list: {}", fault);
}

/// Compiles a subgraph that adapt() has returned.
Result<Delegate> compile_subgraph(const ir::Graph& subgraph, const PartNpu& use,
                                  const NpuOptions& options) {
  THIMBLE_TRY(Network network, lower(subgraph, costs_of(use)));
  IoPositions places = place(&network, options.read_only_inputs);
  const bool prefetch = options.vendor.prefetch || setting(use, "prefetch") != 0;
  THIMBLE_TRY(const EncodedProgram encoded, write(network, prefetch));
  THIMBLE_CHECK(check_program(encoded));
  Delegate delegate;
  delegate.engine = use.name;
  delegate.id = container::kDelegateId;
  THIMBLE_TRY(delegate.payload, payload_of(network, encoded));
  delegate.constant_bytes = static_cast<int64_t>(encoded.weights.size());
  abi::neutron::PayloadView view;
  view.input_count = static_cast<uint32_t>(network.inputs.size());
  view.output_count = static_cast<uint32_t>(network.outputs.size());
  // The addresses of the call's tensors are stored before the scratch.
  const int64_t front = abi::neutron::call_bytes(view);
  view.scratch_bytes = static_cast<uint32_t>(network.scratch_bytes);
  view.prefetch_bytes = static_cast<uint32_t>(encoded.prefetch_bytes);
  delegate.scratch_bytes = abi::neutron::call_bytes(view);
  for (DelegateIo& io : places.inputs) io.offset += front;
  for (DelegateIo& io : places.outputs) io.offset += front;
  delegate.inputs = std::move(places.inputs);
  delegate.outputs = std::move(places.outputs);
  delegate.rows = rows_of(network);
  delegate.cycles = network.cycles();
  delegate.call_us = timing_of(use).call_us;
  delegate.clock_mhz = timing_of(use).clock_mhz;
  delegate.note = kHardwareNote;
  add_tflite_model(subgraph, delegate);
  return delegate;
}

Result<ir::Graph> adapt(const ir::Graph& subgraph, const PartNpu& /*use*/) {
  return legalize(subgraph);
}

constexpr std::string_view kExecutorchDelegates[] = {container::kVendorDelegateId};

}  // namespace

const Npu kEngine = {
    .kind = "neutron",
    .check = check,
    .legal = legal,
    .channels_last = true,
    .compile = compile_subgraph,
    .timing = timing_of,
    .adapt = adapt,
    .decline_reason = decline_reason,
    .preferences = &kPreferences,
    .compile_with_vendor_tools = compile_with_vendor_tools,
    .executorch_delegates = kExecutorchDelegates,
    .supported = supported,
};

std::vector<NpuName> npus() {
  std::vector<NpuName> names;
  for (const Configuration& each : kConfigurations) {
    names.push_back({std::string(each.name), &kEngine});
  }
  return names;
}

}  // namespace thimble::engine::neutron
