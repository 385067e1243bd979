// SPDX-License-Identifier: Apache-2.0
#include "tools/model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/cancel.h"
#include "driver/compile.h"
#include "driver/npu_cycles.h"
#include "emit/decompile.h"
#include "emit/state_entry.h"
#include "engine/part.h"
#include "eval/evaluate.h"
#include "formats/kind/file_kind.h"
#include "formats/ptd/ptd.h"
#include "formats/pte/read.h"
#include "formats/pte/records.h"
#include "formats/pte/select_method.h"
#include "formats/pte/write.h"
#include "hostrun/device.h"
#include "hostrun/host.h"
#include "ir/print.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
using CallSpan = std::span<const std::vector<ir::Tensor>>;

std::vector<hostrun::Port> ports_of(const ir::Graph& graph, const std::vector<ir::ValueId>& ids) {
  std::vector<hostrun::Port> ports;
  for (const ir::ValueId id : ids) {
    const ir::Value& value = graph.value(id);
    ports.push_back(
        {value.name, value.type.dtype, value.type.shape, value.type.dim_order, value.type.quant});
  }
  return ports;
}

/// Returns true if results of a call depend on earlier ones. A file of another writer keeps state
/// in tensors of the arena with an initial value.
bool keeps_state(const formats::pte::Program& program) {
  const auto states = emit::read_states(program);
  return !states || !states->empty() ||
         std::ranges::any_of(program.plans[0].values, [](const formats::pte::EValue& value) {
           const auto* const tensor = std::get_if<formats::pte::Tensor>(&value);
           return tensor != nullptr && tensor->allocation && tensor->data_buffer_idx > 0;
         });
}

constexpr std::string_view kLinux = "linux";

/// Returns the device of "linux:DEVICE", which is empty for "linux"; nullopt for other platforms.
std::optional<std::string> linux_npu_of(const std::string& on) {
  if (on != kLinux && !on.starts_with(fmt::format("{}:", kLinux))) return std::nullopt;
  return on.substr(std::min(on.size(), kLinux.size() + 1));
}

Result<Model> host_model(ByteView bytes, const std::string& label, bool has_state, PartTimes times,
                         const OpenOptions& options) {
  const std::optional<std::string> linux_npu = linux_npu_of(options.on);
  THIMBLE_TRY(hostrun::HostModel loaded, hostrun::HostModel::load(bytes, label, linux_npu));
  auto host = std::make_shared<hostrun::HostModel>(std::move(loaded));
  Model model;
  model.label = label;
  model.where = linux_npu ? "an NPU of this machine" : "host";
  model.inputs = host->interface().inputs;
  model.outputs = host->interface().outputs;
  model.has_state = has_state;
  model.times = times;
  if (!options.profile) times.profiles.clear();  // they are in Model::times
  std::shared_ptr<hostrun::CallTrace> trace;
  if (options.trace) {
    trace = std::make_shared<hostrun::CallTrace>();
    THIMBLE_CHECK(host->trace(trace.get(), options.trace_tensors));
  }
  model.run = [host, trace, npu = std::move(times.profiles)](CallSpan calls) -> Result<Outcome> {
    Outcome outcome;
    outcome.npu = npu;
    outcome.arena_bytes_used = host->arena_bytes();
    THIMBLE_CHECK(host->reset());
    for (const std::vector<ir::Tensor>& inputs : calls) {
      THIMBLE_CHECK(check_cancelled());
      THIMBLE_TRY(std::vector<ir::Tensor> outputs, host->run(inputs));
      outcome.outputs.push_back(std::move(outputs));
      if (trace != nullptr) outcome.traces.push_back(*trace);
    }
    return outcome;
  };
  model.host = host;
  model.step = [host](std::span<const ir::Tensor> inputs) { return host->run(inputs); };
  model.reset = [host] { return host->reset(); };
  model.save = [host] { return host->save(); };
  model.restore = [host](ByteView saved) { return host->restore(saved); };
  return model;
}

/// Path of the FVP program, from the options or the environment.
Result<fs::path> fvp_program(const OpenOptions& options) {
  if (options.profile) return bad_input("--profile: not supported with --on fvp");
  const char* const named = std::getenv("THIMBLE_FVP");
  if (!options.fvp.empty()) return options.fvp;
  if (named != nullptr && *named != 0) return fs::path(named);
  return bad_input("--on fvp: use --fvp PROGRAM, or set THIMBLE_FVP to the path of the FVP");
}

/// Returns the delegate calls of the program by instruction index.
std::map<size_t, NpuCall> npu_calls_of(const formats::pte::Program& program,
                                       const std::vector<hostrun::NpuProfile>& profiles) {
  std::map<size_t, NpuCall> calls;
  const auto& instructions = program.plans[0].chains[0].instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const auto* const call = std::get_if<formats::pte::DelegateCall>(&instructions[i]);
    if (call == nullptr) continue;
    NpuCall& found = calls[i];
    const auto delegate = static_cast<size_t>(call->delegate_index);
    const auto profile = std::ranges::find(profiles, delegate, &hostrun::NpuProfile::delegate);
    if (profile == profiles.end()) continue;
    found = {profile->npu, delegate, std::llround(profile->cycles)};
  }
  return calls;
}

std::string_view kernels_of(abi::Isa isa) {
  switch (isa) {
    case abi::Isa::kMve:
      return "kernels for MVE";
    case abi::Isa::kDsp:
      return "kernels for the DSP extension";
    case abi::Isa::kThumb1:
    case abi::Isa::kThumb2:
      break;
  }
  return "scalar kernels";
}

/// Each instruction set contains those of lower rank.
int rank_of(abi::Isa isa) {
  return isa == abi::Isa::kThumb1 ? -1 : static_cast<int>(isa);
}

/// Explains the run of a file on a core for which it was not compiled; empty if the cores have the
/// same instruction set. Every image has portable versions of all kernels, so the results are
/// equal, but the instructions say nothing about either core.
std::string other_core_note(const std::string& compiled_for, const engine::Core& core) {
  const auto part = engine::find_part(compiled_for);
  if (compiled_for.empty() || !part || part->cpu->isa == core.isa) return "";
  const bool emulated = rank_of(part->cpu->isa) > rank_of(core.isa);
  return fmt::format(
      "compiled for {} with {}; {} {}; results are equal, but instructions are not those of a file "
      "compiled for {}",
      part->cpu->name, kernels_of(part->cpu->isa), core.name,
      emulated ? "has no such instructions and runs portable C++ in their place"
               : "runs these and not its own kernels",
      core.name);
}

Result<Model> qemu_model(Bytes bytes, const std::string& label, const hostrun::Interface& interface,
                         const OpenOptions& options) {
  const std::string& named = options.target.empty() ? interface.target : options.target;
  if (named.empty()) {
    return bad_input("{}: the file has no target: use --target NAME", label);
  }
  THIMBLE_TRY(const engine::Part part, engine::find_part(named));
  const engine::Core* const target = part.cpu;
  hostrun::QemuOptions qemu;
  qemu.target = std::string(target->name);
  qemu.timing = target->timing;
  qemu.count_instructions = options.count_instructions;
  qemu.profile = options.profile;
  qemu.time_limit = std::chrono::seconds(options.time_limit);
  if (options.on == "fvp") {
    THIMBLE_TRY(qemu.fvp, fvp_program(options));
  }
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(bytes, label));
  THIMBLE_TRY(qemu.npu, hostrun::firmware_device_of(program, label));
  THIMBLE_TRY(qemu.image, hostrun::image_of(program, label));
  Model model;
  model.label = label;
  if (qemu.fvp.empty()) {
    THIMBLE_TRY(const std::string board, hostrun::qemu_board(qemu.target));
    model.where = fmt::format("{} (QEMU {})", target->name, board);
  } else {
    model.where = fmt::format("{} ({})", target->name, qemu.fvp.filename().string());
  }
  model.inputs = interface.inputs;
  model.outputs = interface.outputs;
  model.has_state = keeps_state(program);
  model.note = other_core_note(interface.target, *target);
  std::map<size_t, NpuCall> npu_calls;
  if (options.profile) {
    THIMBLE_TRY(model.times, part_times(bytes, program, label, options.target));
    npu_calls = npu_calls_of(program, model.times.profiles);
  }
  const bool simulated = !interface.non_kernel_calls.empty();
  model.run = [=, bytes = std::move(bytes)](CallSpan calls) -> Result<Outcome> {
    THIMBLE_TRY(hostrun::QemuRun run, hostrun::run_on_qemu(bytes, label, interface, calls, qemu));
    Outcome outcome;
    outcome.outputs = std::move(run.outputs);
    outcome.arena_bytes_used = run.facts.arena_bytes;
    if (qemu.fvp.empty()) outcome.qemu = std::move(run.facts);
    outcome.npu_simulated = simulated;
    outcome.npu_calls = npu_calls;
    if (!npu_calls.empty()) outcome.overlaps = interface.overlaps;
    return outcome;
  };
  return model;
}

constexpr std::string_view kSerial = "serial:";

Result<Model> serial_model(Bytes bytes, const std::string& label,
                           const hostrun::Interface& interface,
                           const formats::pte::Program& program, const OpenOptions& options) {
  THIMBLE_TRY(hostrun::SerialOptions serial,
              hostrun::parse_serial_port(std::string_view(options.on).substr(kSerial.size())));
  serial.profile = options.profile;
  serial.patience = std::chrono::seconds(options.patience);
  serial.time_limit = std::chrono::seconds(options.time_limit);
  Model model;
  model.label = label;
  model.where = serial.port;
  model.inputs = interface.inputs;
  model.outputs = interface.outputs;
  model.has_state = keeps_state(program);
  model.run = [=, bytes = std::move(bytes)](CallSpan calls) -> Result<Outcome> {
    THIMBLE_TRY(hostrun::SerialRun run,
                hostrun::run_on_serial(bytes, label, interface, calls, serial));
    Outcome outcome;
    outcome.outputs = std::move(run.outputs);
    outcome.arena_bytes_used = run.facts.arena_bytes;
    const Result<engine::Part> core = engine::find_part(run.facts.core);
    if (core) outcome.note = other_core_note(interface.target, *core->cpu);
    outcome.serial = std::move(run.facts);
    return outcome;
  };
  return model;
}

/// Applies the data file and the method of the options. Returns the file that the runtime executes.
Result<Bytes> prepare(Bytes bytes, const std::string& label, const OpenOptions& options,
                      formats::pte::Program* program) {
  const bool is_external = formats::ptd::has_external(*program);
  if (is_external && options.data_file.empty()) {
    return bad_input("{}: constants are in a data file (.ptd): use --ptd FILE", label);
  }
  if (!options.data_file.empty()) {
    const std::string data_label = options.data_file.filename().string();
    THIMBLE_TRY(const Bytes data_bytes, read_file(options.data_file));
    THIMBLE_TRY(const formats::ptd::DataFile data, formats::ptd::read(data_bytes, data_label));
    THIMBLE_CHECK(formats::ptd::merge(data, data_label, program));
  }
  // All other code expects one plan, the executed one.
  const std::string method =
      options.method.empty() ? hostrun::executed_plan(*program).name : options.method;
  const bool selects = program->plans.size() > 1 || program->plans[0].name != method;
  if (selects) THIMBLE_CHECK(formats::pte::select_method(method, label, program));
  if (options.data_file.empty() && !selects) return bytes;
  return formats::pte::write(*program);
}

/// Returns bad input if the part has not the NPU for which a delegate of the file is compiled. A
/// core alone is no part: it can have any NPU.
Status check_npus(const formats::pte::Program& program, const std::string& label,
                  const engine::Part& part) {
  if (part.engines.empty() && part.memories.empty()) return ok();
  THIMBLE_TRY(const std::vector<hostrun::NpuProfile> profiles,
              hostrun::profiles_of(program, label, driver::npu_systems(part)));
  for (const hostrun::NpuProfile& profile : profiles) {
    if (driver::npu_of(part, profile) != nullptr) continue;
    std::vector<std::string> names;
    for (const engine::PartNpu& use : part.engines) names.push_back(use.name);
    return bad_input("{}: --target {}: its NPU: {}; the file is compiled for {}", label, part.name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     profile.npu);
  }
  return ok();
}

Result<Model> open_prepared(Bytes bytes, const formats::pte::Program& program,
                            const std::string& label, const OpenOptions& options) {
  THIMBLE_CHECK(formats::pte::check_kernel_layout(program, label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, label));
  THIMBLE_CHECK(hostrun::check_outputs_are_planned(program, label));
  if (!options.target.empty()) {
    THIMBLE_TRY(const engine::Part part, engine::find_part(options.target));
    THIMBLE_CHECK(check_npus(program, label, part));
  }
  if (options.on == "eval") {
    Result<ir::Graph> decompiled = emit::decompile(program);
    if (!decompiled) return prefixed(fmt::format("{}: --on eval", label), decompiled.error());
    ir::Graph graph = std::move(*decompiled);
    Model model = evaluator_model(std::move(graph), label);
    model.inputs = interface.inputs;  // the same names on every engine
    model.outputs = interface.outputs;
    return model;
  }
  const bool on_serial = options.on.starts_with(kSerial);
  const bool on_host = options.on != "qemu" && options.on != "fvp" && !on_serial;
  const bool lists_hazards = on_host && options.profile;
  if (!lists_hazards) THIMBLE_CHECK(hostrun::check_hazards(program, label));
  if (linux_npu_of(options.on) && interface.non_kernel_calls.empty()) {
    return bad_input("{}: --on linux: the file calls no NPU: use --on host", label);
  }
  if (on_host) {
    PartTimes times;
    if (options.profile || options.trace) {
      THIMBLE_TRY(times, part_times(bytes, program, label, options.target));
      if (options.profile && times.profiles.empty()) {
        return bad_input(
            "{}: --profile on the host requires a file with NPU delegates: for "
            "CPU instructions use --on qemu",
            label);
      }
    }
    return host_model(bytes, label, keeps_state(program), std::move(times), options);
  }
  if (on_serial) return serial_model(std::move(bytes), label, interface, program, options);
  return qemu_model(std::move(bytes), label, interface, options);
}

Result<Model> open_read(Bytes bytes, formats::pte::Program program, const std::string& label,
                        const OpenOptions& options) {
  if (program.plans.empty()) return bad_input("{}: the program has no execution plan", label);
  THIMBLE_TRY(bytes, prepare(std::move(bytes), label, options, &program));
  THIMBLE_TRY(Model model, open_prepared(std::move(bytes), program, label, options));
  if (!options.input_names.empty()) {
    assert(options.input_names.size() == model.inputs.size());
    for (size_t i = 0; i < model.inputs.size(); ++i) model.inputs[i].name = options.input_names[i];
  }
  model.program = std::make_shared<const formats::pte::Program>(std::move(program));
  return model;
}

Result<Model> open_pte(const fs::path& path, const OpenOptions& options) {
  const std::string label = path.filename().string();
  THIMBLE_TRY(Bytes bytes, read_file(path));
  auto program = formats::pte::read(bytes, label);
  if (!program) return formats::explain_file(path, formats::FileUse::kModel, program.error());
  return open_read(std::move(bytes), std::move(*program), label, options);
}

Result<ir::Graph> read_graph(const fs::path& path, const OpenOptions& options) {
  if (extension(path) == ".pt2") return driver::load_float_graph(path, options.shapes);
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  return ir::parse(as_text(bytes), path.filename().string());
}

}  // namespace

Model evaluator_model(ir::Graph graph, std::string label) {
  auto shared = std::make_shared<const ir::Graph>(std::move(graph));
  Model model;
  model.label = std::move(label);
  model.where = "evaluator";
  model.has_state = !shared->states().empty();
  model.inputs = ports_of(*shared, shared->inputs());
  model.outputs = ports_of(*shared, shared->outputs());
  model.run = [shared, ports = model.inputs,
               name = model.label](CallSpan calls) -> Result<Outcome> {
    Outcome outcome;
    eval::StateTensors state = eval::initial_state(*shared);
    for (const std::vector<ir::Tensor>& inputs : calls) {
      THIMBLE_CHECK(check_cancelled());
      THIMBLE_CHECK(hostrun::check_inputs(ports, inputs, name));
      THIMBLE_TRY(std::vector<ir::Tensor> outputs, eval::evaluate(*shared, inputs, state));
      outcome.outputs.push_back(std::move(outputs));
    }
    return outcome;
  };
  auto state = std::make_shared<eval::StateTensors>(eval::initial_state(*shared));
  model.step = [shared, state, ports = model.inputs, name = model.label](
                   std::span<const ir::Tensor> inputs) -> Result<std::vector<ir::Tensor>> {
    THIMBLE_CHECK(hostrun::check_inputs(ports, inputs, name));
    return eval::evaluate(*shared, inputs, *state);
  };
  model.reset = [shared, state]() -> Status {
    *state = eval::initial_state(*shared);
    return ok();
  };
  model.save = [shared, state]() -> Result<Bytes> {
    Bytes saved;
    for (size_t i = 0; i < state->size(); ++i) {
      const ir::ValueId value = shared->states()[i].value;
      append(saved, ir::to_memory((*state)[i], shared->type(value).dim_order));
    }
    return saved;
  };
  model.restore = [shared, state, name = model.label](ByteView saved) -> Status {
    uint64_t expected = 0;
    for (const ir::State& each : shared->states()) expected += shared->type(each.value).bytes();
    if (saved.size() != expected) {
      return bad_input("{}: its states have {} bytes, {} given", name, expected, saved.size());
    }
    for (size_t i = 0; i < state->size(); ++i) {
      const ir::Type& type = shared->type(shared->states()[i].value);
      (*state)[i] =
          ir::from_memory(saved.subspan(0, type.bytes()), type.dtype, type.shape, type.dim_order);
      saved = saved.subspan(type.bytes());
    }
    return ok();
  };
  return model;
}

Result<Model> open_program(Bytes bytes, const std::string& label, const OpenOptions& options) {
  THIMBLE_TRY(formats::pte::Program program, formats::pte::read(bytes, label));
  return open_read(std::move(bytes), std::move(program), label, options);
}

Result<Model> open_model(const fs::path& path, const OpenOptions& options) {
  const std::string kind = extension(path);
  if (kind == ".pte") return open_pte(path, options);
  const std::string label = path.filename().string();
  if (kind != ".pt2" && kind != ".ir") {
    return formats::explain_file(path, formats::FileUse::kModel,
                                 bad_input("{}: a .pte, .pt2 or .ir expected", label));
  }
  if (!options.method.empty() || !options.data_file.empty()) {
    return bad_input("{}: --method and --ptd require a .pte", label);
  }
  if (!options.on.empty() && options.on != "eval") {
    return bad_input(
        "{}: --on {} requires a .pte, which `thimble compile` writes; a {} runs on eval only",
        label, options.on, kind);
  }
  THIMBLE_TRY(ir::Graph graph, read_graph(path, options));
  return evaluator_model(std::move(graph), label);
}

}  // namespace thimble::tools
