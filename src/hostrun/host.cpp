// SPDX-License-Identifier: Apache-2.0
#include "hostrun/host.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "base/aligned_bytes.h"
#include "formats/pte/read.h"
#include "hostrun/device.h"
#include "hostrun/status_error.h"
#include "kernels/kernels.h"
#include "thimble.h"
#include "thimble_trace.h"

namespace thimble::hostrun {

struct HostModel::State {
  State(ByteView bytes, std::string name) : label(std::move(name)), file(bytes) {}

  std::string label;
  Interface interface;
  AlignedBytes file;
  std::vector<std::unique_ptr<Device>> devices;  // for the delegates that the file calls
  std::vector<runtime::DelegateBackend> rows;    // one per device
  runtime::DelegateBackends delegates = {};
  kernels::KernelTable table = kernels::all_kernels();
  AlignedBytes memory{0};
  std::vector<AlignedBytes> inputs;
  thimble_needs needs = {};
  thimble_model model = {};
  std::vector<std::vector<ArenaTensor>> traced;  // by instruction
  CallTrace* trace = nullptr;
  bool trace_tensors = false;
  std::chrono::steady_clock::time_point start;  // of the traced call; moves forward by copies

  [[nodiscard]] Status check(thimble_status status) const {
    if (status == 0) return ok();
    Error error = status_error(status, label, interface);
    const auto code = static_cast<abi::Status>(status);
    const bool of_npu = code == abi::Status::kNpuFault || code == abi::Status::kNpuTimeout ||
                        code == abi::Status::kDriverError || code == abi::Status::kWrongNpu ||
                        code == abi::Status::kWrongMacs || code == abi::Status::kNpuVersion;
    for (const auto& device : devices) {
      const std::string fault = of_npu ? device->fault_text() : "";
      if (!fault.empty()) error.message += ": " + fault;
    }
    return error;
  }

  /// Opens the NPUs that the program calls: models of them, or those of this machine.
  Status open_devices(const formats::pte::Program& program,
                      const std::optional<std::string>& linux_npu) {
    THIMBLE_TRY(const std::vector<DeviceKind> kinds, kinds_of(program, label));
    for (const DeviceKind& kind : kinds) {
      if (kind.open == nullptr) continue;
      if (linux_npu && kind.open_linux == nullptr) {
        return unsupported("{}: {}: the kernel's driver of this NPU is not supported", label,
                           kind.id);
      }
      THIMBLE_TRY(std::unique_ptr<Device> device,
                  linux_npu ? kind.open_linux(*linux_npu) : kind.open(program, label));
      rows.push_back(device->row());
      devices.push_back(std::move(device));
    }
    table.flatbuffer_executor = &runtime::flatbuffer_executor;
    if (rows.empty()) return ok();
    delegates = runtime::delegates_of(rows.data(), static_cast<uint32_t>(rows.size()));
    table.delegates = &delegates;
    return ok();
  }
  /// Nanoseconds of the traced call until now.
  [[nodiscard]] uint64_t now_ns() const {
    const auto time = std::chrono::steady_clock::now() - start;
    return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
  }
  [[nodiscard]] ir::Tensor copy_of(const ArenaTensor& tensor) const {
    const ByteView bytes(reinterpret_cast<const std::byte*>(memory.data()) + tensor.offset,
                         tensor.port.bytes());
    return ir::from_memory(bytes, tensor.port.dtype, tensor.port.shape, tensor.port.dim_order);
  }
  static void on_instruction(void* user, uint32_t instruction, const char* /*op*/, int after) {
    State& state = *static_cast<State*>(user);
    std::vector<TracedInstruction>& events = state.trace->instructions;
    // In the order of the instructions. A delegate that works in the background is traced twice:
    // its event ends with its wait.
    const auto event = std::ranges::lower_bound(events, instruction, {}, &TracedInstruction::index);
    if (after == 0) {
      if (event == events.end()) events.push_back({instruction, state.now_ns(), 0, {}});
      return;
    }
    event->end_ns = state.now_ns();
    if (!state.trace_tensors) return;
    const auto copies = std::chrono::steady_clock::now();
    event->tensors.clear();
    for (const ArenaTensor& tensor : state.traced[instruction]) {
      event->tensors.push_back(state.copy_of(tensor));
    }
    state.start += std::chrono::steady_clock::now() - copies;
  }

  Status execute() {
    if (trace == nullptr) return check(thimble_run(&model));
    *trace = {};
    start = std::chrono::steady_clock::now();
    THIMBLE_CHECK(check(thimble_run(&model)));
    trace->end_ns = now_ns();
    return ok();
  }
  void connect(const void* data, size_t bytes, bool read_only) {
    for (const auto& device : devices) device->connect(data, bytes, read_only);
  }
};

HostModel::HostModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
HostModel::HostModel(HostModel&&) noexcept = default;
HostModel& HostModel::operator=(HostModel&&) noexcept = default;
HostModel::~HostModel() = default;

const Interface& HostModel::interface() const {
  return state_->interface;
}
int64_t HostModel::arena_bytes() const {
  return static_cast<int64_t>(state_->needs.arena_bytes);
}

/// Opens the NPUs, verifies the file and determines the sizes of its memory.
Result<std::unique_ptr<HostModel::State>> HostModel::verified(
    ByteView pte, std::string label, const std::optional<std::string>& linux_npu) {
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(pte, label));
  auto state = std::make_unique<State>(pte, std::move(label));
  THIMBLE_TRY(state->interface, read_interface(program, state->label));
  THIMBLE_CHECK(state->open_devices(program, linux_npu));
  const auto* const kernels = reinterpret_cast<const thimble_kernels*>(&state->table);
  THIMBLE_CHECK(
      state->check(thimble_size(state->file.data(), state->file.size(), kernels, &state->needs)));
  return state;
}

Result<size_t> HostModel::memory_bytes_of(ByteView pte, std::string label) {
  THIMBLE_TRY(const auto state, verified(pte, std::move(label), {}));
  return state->needs.arena_bytes + state->needs.state_bytes;
}

Result<HostModel> HostModel::load(ByteView pte, std::string label,
                                  const std::optional<std::string>& linux_npu) {
  THIMBLE_TRY(auto state, verified(pte, std::move(label), linux_npu));
  const auto* const kernels = reinterpret_cast<const thimble_kernels*>(&state->table);
  void* const file = state->file.data();
  state->memory = AlignedBytes(state->needs.arena_bytes + state->needs.state_bytes);
  state->connect(file, state->file.size(), true);
  // The NPU cannot address the runtime's own data, which follows the arena.
  state->connect(state->memory.data(), state->needs.arena_bytes, false);
  THIMBLE_CHECK(state->check(thimble_init(&state->model, file, state->file.size(), kernels,
                                          state->memory.data(), state->memory.size())));
  for (const Port& port : state->interface.inputs) state->inputs.emplace_back(port.bytes());
  return HostModel(std::move(state));
}

Result<std::vector<ir::Tensor>> HostModel::run(std::span<const ir::Tensor> inputs) {
  State& state = *state_;
  const Interface& interface = state.interface;
  THIMBLE_CHECK(check_inputs(interface.inputs, inputs, state.label));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Bytes bytes = ir::to_memory(inputs[i], interface.inputs[i].dim_order);
    AlignedBytes& buffer = state.inputs[i];
    if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    THIMBLE_CHECK(state.check(
        thimble_set_input(&state.model, static_cast<uint32_t>(i), buffer.data(), buffer.size())));
  }
  THIMBLE_CHECK(state.execute());
  std::vector<ir::Tensor> outputs;
  for (const Port& port : interface.outputs) {
    thimble_view view = {};
    const auto index = static_cast<uint32_t>(outputs.size());
    THIMBLE_CHECK(state.check(thimble_output(&state.model, index, &view)));
    const ByteView bytes(static_cast<const std::byte*>(view.data), view.bytes);
    outputs.push_back(ir::from_memory(bytes, port.dtype, port.shape, port.dim_order));
  }
  return outputs;
}

Status HostModel::trace(CallTrace* trace, bool tensors) {
  State& state = *state_;
  if (tensors) {
    const ByteView file(reinterpret_cast<const std::byte*>(state.file.data()), state.file.size());
    THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(file, state.label));
    THIMBLE_TRY(state.traced, traced_tensors(program, state.label));
  }
  state.trace = trace;
  state.trace_tensors = tensors;
  const thimble_trace_hook hook = trace == nullptr ? nullptr : &State::on_instruction;
  return state.check(thimble_set_trace(&state.model, hook, &state));
}

bool HostModel::is_logical_order() const {
  const auto is_logical = [](const Port& port) {
    const std::vector<int> order = full_order(port);
    return std::ranges::is_sorted(order);
  };
  return std::ranges::all_of(interface().inputs, is_logical) &&
         std::ranges::all_of(interface().outputs, is_logical);
}

Status HostModel::run_in_place(std::span<const ByteView> inputs) {
  State& state = *state_;
  if (inputs.size() != state.inputs.size()) {
    return bad_input("{}: {} inputs given, expected {}", state.label, inputs.size(),
                     state.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    THIMBLE_CHECK(state.check(thimble_set_input(&state.model, static_cast<uint32_t>(i),
                                                inputs[i].data(), inputs[i].size())));
  }
  return state.execute();
}

Result<ByteView> HostModel::output(size_t index) const {
  thimble_view view = {};
  THIMBLE_CHECK(state_->check(thimble_output(&state_->model, static_cast<uint32_t>(index), &view)));
  return ByteView(static_cast<const std::byte*>(view.data), view.bytes);
}

Status HostModel::reset() {
  return state_->check(thimble_reset(&state_->model));
}

Result<Bytes> HostModel::save() const {
  Bytes saved(state_->needs.saved_bytes);
  THIMBLE_CHECK(state_->check(thimble_save(&state_->model, saved.data(), saved.size())));
  return saved;
}

Status HostModel::restore(ByteView saved) {
  return state_->check(thimble_restore(&state_->model, saved.data(), saved.size()));
}

}  // namespace thimble::hostrun
