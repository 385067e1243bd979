// SPDX-License-Identifier: Apache-2.0
#include "hostrun/interface.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "abi/limits.h"
#include "abi/named_data.h"
#include "base/rounding.h"
#include "formats/pte/io_names.h"
#include "formats/pte/records.h"
#include "formats/pte/select_method.h"
#include "ir/dtype_text.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;

std::optional<ir::DType> dtype_of(pte::ScalarType type) {
  switch (type) {
    case pte::ScalarType::kFloat:
      return ir::DType::kF32;
    case pte::ScalarType::kChar:
      return ir::DType::kI8;
    case pte::ScalarType::kByte:
      return ir::DType::kU8;
    case pte::ScalarType::kShort:
      return ir::DType::kI16;
    case pte::ScalarType::kInt:
      return ir::DType::kI32;
    case pte::ScalarType::kLong:
      return ir::DType::kI64;
    case pte::ScalarType::kBool:
      return ir::DType::kBool;
    default:
      return {};
  }
}

/// Name of an instruction that calls no kernel, for messages.
std::string foreign_text(const pte::ExecutionPlan& plan, const pte::Instruction& instruction) {
  if (const auto* call = std::get_if<pte::DelegateCall>(&instruction)) {
    return "delegate " + plan.delegates[static_cast<size_t>(call->delegate_index)].id;
  }
  if (std::holds_alternative<pte::JumpFalseCall>(instruction)) return "jump";
  return std::holds_alternative<pte::MoveCall>(instruction) ? "move" : "free";
}

/// Reads the entry that Thimble adds to its files. Files of other writers do not have it.
Status read_entry(const pte::Program& program, std::string_view label, Interface* interface) {
  const pte::NamedData* data = pte::find_named_data(program, abi::kProgramEntryKey);
  if (data == nullptr) return ok();
  abi::ProgramEntry entry = {};
  if (data->bytes.size() < sizeof(entry)) {
    return bad_input("{}: named data {}: {} bytes, expected {}", label, abi::kProgramEntryKey,
                     data->bytes.size(), sizeof(entry));
  }
  std::memcpy(&entry, data->bytes.data(), sizeof(entry));
  if (entry.magic != abi::kProgramEntryMagic) {
    return bad_input("{}: named data {}: magic {:#x}, expected {:#x}", label, abi::kProgramEntryKey,
                     entry.magic, abi::kProgramEntryMagic);
  }
  interface->records = pte::has_records(program);
  interface->target.assign(entry.target, strnlen(entry.target, sizeof(entry.target)));
  return ok();
}

/// Reads scale and zero point of the int8, uint8 and int16 inputs and outputs.
Status read_io_quant(const pte::Program& program, std::string_view label, Interface* interface) {
  const pte::NamedData* data = pte::find_named_data(program, abi::kIoKey);
  if (data == nullptr) return ok();
  size_t at = 0;
  for (auto* ports : {&interface->inputs, &interface->outputs}) {
    for (Port& port : *ports) {
      abi::IoQuant record = {};
      if (data->bytes.size() < at + sizeof(record)) {
        return bad_input("{}: named data {}: {} bytes, too few", label, abi::kIoKey,
                         data->bytes.size());
      }
      std::memcpy(&record, data->bytes.data() + at, sizeof(record));
      at += sizeof(record);
      const bool quantized = record.scale > 0 && std::isfinite(record.scale);
      const bool codes = port.dtype == ir::DType::kI8 || port.dtype == ir::DType::kU8 ||
                         port.dtype == ir::DType::kI16;
      if (quantized && codes) {
        port.quant = ir::per_tensor(record.scale, record.zero_point);
      }
    }
  }
  return ok();
}

}  // namespace

size_t Port::bytes() const {
  return static_cast<size_t>(ir::element_count(shape)) * ir::dtype_bytes(dtype);
}

std::string Port::describe() const {
  std::string text = fmt::format("{} {}{}", name, ir::dtype_text(dtype), ir::list_text(shape));
  if (quant) text += fmt::format(" scale {} zero point {}", quant->scale[0], quant->zero_point[0]);
  return text;
}

std::vector<int> full_order(const Port& port) {
  std::vector<int> order(port.dim_order.begin(), port.dim_order.end());
  for (size_t i = order.size(); i < port.shape.size(); ++i) order.push_back(static_cast<int>(i));
  return order;
}

const pte::ExecutionPlan& executed_plan(const pte::Program& program) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    if (plan.name == "forward") return plan;
  }
  return program.plans[0];
}

Result<Port> read_port(const pte::ExecutionPlan& plan, int32_t value, std::string name,
                       std::string_view label) {
  const auto* tensor = std::get_if<pte::Tensor>(&plan.values[static_cast<size_t>(value)]);
  if (tensor == nullptr) return unsupported("{}: {} is not a tensor", label, name);
  const std::optional<ir::DType> dtype = dtype_of(tensor->scalar_type);
  if (!dtype) {
    return unsupported("{}: {} has element type {}", label, name, pte::name(tensor->scalar_type));
  }
  Port port;
  port.name = std::move(name);
  port.dtype = *dtype;
  port.shape.assign(tensor->sizes.begin(), tensor->sizes.end());
  port.dim_order.assign(tensor->dim_order.begin(), tensor->dim_order.end());
  return port;
}

Status check_outputs_are_planned(const pte::Program& program, std::string_view label) {
  const pte::ExecutionPlan& plan = executed_plan(program);
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const pte::EValue& value = plan.values[static_cast<size_t>(plan.outputs[i])];
    const auto* const tensor = std::get_if<pte::Tensor>(&value);
    if (tensor == nullptr || tensor->allocation || tensor->data_buffer_idx != 0) continue;
    if (std::ranges::find(plan.inputs, plan.outputs[i]) != plan.inputs.end()) continue;
    return unsupported(
        "{}: output {} has no memory in the file's plan: use MemoryPlanningPass with "
        "alloc_graph_output=True",
        label, i);
  }
  return ok();
}

Result<Interface> read_interface(const pte::Program& program, std::string_view label) {
  if (program.plans.empty()) return bad_input("{}: the program has no execution plan", label);
  const pte::ExecutionPlan& plan = executed_plan(program);
  Interface interface;
  THIMBLE_TRY(const std::optional<pte::IoNames> names, pte::read_names(program, plan));
  for (const int32_t index : plan.inputs) {
    const size_t i = interface.inputs.size();
    const std::string name = names ? names->inputs[i] : fmt::format("input_{}", i);
    THIMBLE_TRY(Port port, read_port(plan, index, name, label));
    interface.inputs.push_back(std::move(port));
  }
  for (const int32_t index : plan.outputs) {
    const size_t i = interface.outputs.size();
    const std::string name = names ? names->outputs[i] : fmt::format("output_{}", i);
    THIMBLE_TRY(Port port, read_port(plan, index, name, label));
    interface.outputs.push_back(std::move(port));
  }
  if (!plan.chains.empty()) {
    for (const pte::Instruction& instruction : plan.chains[0].instructions) {
      const auto* call = std::get_if<pte::KernelCall>(&instruction);
      if (call == nullptr) {
        interface.non_kernel_calls.push_back(foreign_text(plan, instruction));
        interface.ops.push_back(fmt::format("({})", interface.non_kernel_calls.back()));
        interface.arguments.push_back(0);
        continue;
      }
      interface.arguments.push_back(call->args.empty() ? 0 : call->args.size() - 1);
      interface.ops.push_back(pte::full_name(plan.operators[static_cast<size_t>(call->op_index)]));
    }
  }
  interface.overlaps = pte::delegate_overlaps(program, plan);
  for (const int64_t bytes : plan.memory_sizes) {
    constexpr int64_t kBytesMax = std::numeric_limits<uint32_t>::max();
    if (bytes > kBytesMax) {
      return bad_input("{}: the plan has a memory of {} bytes, expected at most {}", label, bytes,
                       kBytesMax);
    }
  }
  interface.arena_bytes = memory_starts(plan).back();
  THIMBLE_CHECK(read_entry(program, label, &interface));
  THIMBLE_CHECK(read_io_quant(program, label, &interface));
  return interface;
}

std::vector<int64_t> memory_starts(const pte::ExecutionPlan& plan) {
  std::vector<int64_t> starts = {0};  // memory 0 is reserved, and not in the arena
  int64_t end = 0;
  for (size_t i = 1; i < plan.memory_sizes.size(); ++i) {
    starts.push_back(round_up(end, abi::kArenaAlignment));
    if (plan.memory_sizes[i] != 0) end = starts.back() + plan.memory_sizes[i];
  }
  starts.push_back(end);
  return starts;
}

std::vector<size_t> traced_order(const Interface& interface) {
  std::vector<size_t> order;
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    order.push_back(i);
    for (const pte::DelegateOverlap& overlap : interface.overlaps) {
      if (overlap.call + overlap.calls == i) order.push_back(overlap.call);
    }
  }
  return order;
}

std::string port_list(std::span<const Port> ports) {
  std::string text;
  for (const Port& port : ports) text += (text.empty() ? "" : ", ") + port.describe();
  return text;
}

Status check_inputs(std::span<const Port> ports, std::span<const ir::Tensor> inputs,
                    std::string_view label) {
  if (inputs.size() != ports.size()) {
    return bad_input("{}: {} inputs given, expected {}: {}", label, inputs.size(), ports.size(),
                     port_list(ports));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    if (inputs[i].dtype == ports[i].dtype && inputs[i].shape == ports[i].shape) continue;
    return bad_input("{}: {}: {}{} given, expected {}{}", label, ports[i].name,
                     ir::dtype_text(inputs[i].dtype), ir::list_text(inputs[i].shape),
                     ir::dtype_text(ports[i].dtype), ir::list_text(ports[i].shape));
  }
  return ok();
}

Result<Interface> read_all_methods(const pte::Program& program, std::string_view label) {
  if (program.plans.size() < 2) return read_interface(program, label);
  std::optional<Interface> all;
  for (const pte::ExecutionPlan& plan : program.plans) {
    pte::Program one = program;
    THIMBLE_CHECK(pte::select_method(plan.name, label, &one));
    THIMBLE_TRY(Interface interface, read_interface(one, label));
    if (!all) {
      all = std::move(interface);
      continue;
    }
    std::ranges::move(interface.ops, std::back_inserter(all->ops));
    std::ranges::move(interface.arguments, std::back_inserter(all->arguments));
    std::ranges::move(interface.non_kernel_calls, std::back_inserter(all->non_kernel_calls));
    all->records = all->records && interface.records;
  }
  return std::move(*all);
}

}  // namespace thimble::hostrun
