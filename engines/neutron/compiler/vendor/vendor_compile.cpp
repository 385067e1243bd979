// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/vendor/vendor_compile.h"

#include <cassert>

#include "base/aligned_bytes.h"
#include "base/lines.h"
#include "base/sha256.h"
#include "engines/neutron/compiler/limits.h"
#include "engines/neutron/compiler/network.h"
#include "engines/neutron/compiler/vendor/neutron_graph.h"
#include "engines/neutron/compiler/vendor/sdk.h"
#include "engines/neutron/formats/payload.h"
#include "formats/tflite/read.h"
#include "interchange/tflite.h"

namespace thimble::engine::neutron {
namespace {

using formats::neutron::MemoryOrder;
using formats::neutron::Payload;

constexpr size_t kTagDigits = 8;

/// Formats of the call's arguments, read from Thimble's payload.
struct Arguments {
  std::vector<MemoryOrder> inputs, outputs;
};
Result<Arguments> arguments_of(const Delegate& delegate, size_t inputs, size_t outputs) {
  THIMBLE_TRY(const Payload own, formats::neutron::read_payload(delegate.payload));
  Arguments arguments{std::vector<MemoryOrder>(inputs, MemoryOrder::kRowMajor),
                      std::vector<MemoryOrder>(outputs, MemoryOrder::kRowMajor)};
  for (size_t i = 0; i < own.input_map.size(); ++i) {
    if (own.input_map[i] < inputs) arguments.inputs[own.input_map[i]] = own.input_formats[i];
  }
  for (size_t i = 0; i < own.output_map.size(); ++i) {
    if (own.output_map[i] < outputs) arguments.outputs[own.output_map[i]] = own.output_formats[i];
  }
  return arguments;
}

Payload payload_of(NeutronGraphOp op, const Arguments& arguments) {
  Payload payload;
  for (const uint8_t argument : op.input_map) {
    payload.input_formats.push_back(arguments.inputs[argument]);
  }
  for (const uint8_t argument : op.output_map) {
    payload.output_formats.push_back(arguments.outputs[argument]);
  }
  payload.input_map = std::move(op.input_map);
  payload.output_map = std::move(op.output_map);
  payload.arg_count = static_cast<uint8_t>(arguments.inputs.size());
  payload.version = op.version;
  payload.program = std::move(op.microcode);
  payload.weights = std::move(op.weights);
  payload.kernels = std::move(op.kernels);
  return payload;
}

int64_t call_bytes_of(const std::vector<std::byte>& payload) {
  const AlignedBytes copy(payload);
  abi::neutron::PayloadView view;
  abi::neutron::PayloadProblem problem;
  const auto bytes = static_cast<uint32_t>(payload.size());
  [[maybe_unused]] const bool good = abi::neutron::read_payload(copy.data(), bytes, view, problem);
  assert(good);
  return abi::neutron::call_bytes(view);
}

/// Returns the converter's output as a payload. `label` is the name of the model that was sent,
/// `name` that of the output.
Result<Payload> converted_payload(const Delegate& delegate, const Converted& converted,
                                  std::string_view label, std::string_view name) {
  THIMBLE_TRY(const formats::tflite::File sent,
              formats::tflite::read(delegate.tflite_model, label));
  THIMBLE_TRY(const formats::tflite::File answer, formats::tflite::read(converted.model, name));
  THIMBLE_TRY(NeutronGraphOp op, read_neutron_graph(sent, answer, name));
  THIMBLE_TRY(const Arguments arguments,
              arguments_of(delegate, sent.inputs.size(), sent.outputs.size()));
  return payload_of(std::move(op), arguments);
}

/// Returns the compile specs that ExecuTorch's NXP backend would store with the payload.
std::vector<std::pair<std::string, std::string>> compile_specs_of(const SdkOptions& options,
                                                                  const std::string& flags) {
  formats::neutron::CompileOptions specs;
  specs.target = options.target;
  specs.compile_flags = flags;
  specs.use_neutron_for_format_conversion = false;  // images outside are channels-last too
  specs.fetch_constants_to_sram = options.prefetch;
  specs.dump_kernel_selection_code = options.kernel_selection;
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& spec : formats::neutron::compile_specs(specs)) {
    const ByteView value = spec.value;
    const auto* const text = reinterpret_cast<const char*>(value.data());
    result.emplace_back(spec.key, std::string(text, value.size()));
  }
  return result;
}

void take_selections(const Converted& converted, const VendorTools& tools, const std::string& tag,
                     Delegate& delegate) {
  for (size_t i = 0; i < converted.selections.size(); ++i) {
    const std::string number = i == 0 ? "" : fmt::format("_{}", i);
    delegate.files.push_back({fmt::format("{}_kernel_selection_{}{}.c", tools.model, tag, number),
                              converted.selections[i]});
  }
}

}  // namespace

void add_tflite_model(const ir::Graph& subgraph, Delegate& delegate) {
  Result<Bytes> made = interchange::to_tflite(subgraph, kConverterProfile);
  if (made.ok()) {
    delegate.tflite_model = std::move(*made);
  } else {
    delegate.no_tflite_reason = made.error().message;
  }
}

Status compile_with_vendor_tools(const VendorTools& tools, Delegate& delegate) {
  if (tools.form != kFormSdk) return ok();
  if (delegate.tflite_model.empty()) {
    return unsupported("{}: NXP's converter reads LiteRT: {}", delegate.engine,
                       delegate.no_tflite_reason);
  }
  SdkOptions options;
  options.root = tools.folder;
  options.time_limit = tools.time_limit;
  options.target = configuration_of(delegate.engine).converter_target;
  options.prefetch = tools.prefetch;
  options.kernel_selection = tools.kernel_selection;
  const std::vector<std::string_view> flags = base::words_of(tools.flags);
  options.flags.assign(flags.begin(), flags.end());
  const std::string tag = sha256(delegate.tflite_model).substr(0, kTagDigits);
  const std::string label = fmt::format("{}_{}", tools.model, tag);
  THIMBLE_TRY(const Converted converted, convert(delegate.tflite_model, label, options));
  const std::string name = fmt::format("converter output for {}", label);
  THIMBLE_TRY(const Payload payload, converted_payload(delegate, converted, label, name));
  const std::string version =
      converted.version.empty() ? "unknown version" : "version " + converted.version;
  auto bytes = formats::neutron::write_payload(payload);
  if (!bytes.ok()) {
    return bad_input("{}: unsupported microcode format (converter {}): {}", name, version,
                     bytes.error().message);
  }
  THIMBLE_CHECK(formats::neutron::verify_payload(*bytes));
  take_selections(converted, tools, tag, delegate);
  delegate.specs = compile_specs_of(options, tools.flags);
  delegate.id = container::kVendorDelegateId;
  delegate.constant_bytes = static_cast<int64_t>(payload.weights.size());
  delegate.payload = std::move(*bytes);
  delegate.scratch_bytes = call_bytes_of(delegate.payload);
  // The call's scratch is planned again; the positions in Thimble's scratch are no longer valid.
  delegate.inputs.clear();
  delegate.outputs.clear();
  delegate.note = fmt::format(
      "microcode of NXP's converter ({}): it runs on the hardware, with the firmware of the same "
      "SDK; the cycles are estimates for Thimble's kernel list",
      version);
  return ok();
}

}  // namespace thimble::engine::neutron
