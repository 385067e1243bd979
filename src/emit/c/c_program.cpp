// SPDX-License-Identifier: Apache-2.0
#include "emit/c/c_program.h"

#include <cstring>

#include <fmt/format.h>

#include "abi/limits.h"
#include "abi/named_data.h"
#include "emit/c/text.h"

namespace thimble::emit::c {

namespace pte = formats::pte;

std::string_view c_type(pte::ScalarType type) {
  switch (type) {
    case pte::ScalarType::kChar:
      return "int8_t";
    case pte::ScalarType::kShort:
      return "int16_t";
    case pte::ScalarType::kInt:
      return "int32_t";
    case pte::ScalarType::kLong:
      return "int64_t";
    case pte::ScalarType::kFloat:
      return "float";
    default:
      return "uint8_t";  // includes bool: one byte, 0 or 1
  }
}

uint64_t bytes_of(const pte::Tensor& tensor) {
  return pte::data_bytes(tensor).value_or(0);
}

const pte::Tensor& CProgram::tensor(int32_t value) const {
  return std::get<pte::Tensor>(plan->values[static_cast<size_t>(value)]);
}

int64_t CProgram::state_bytes() const {
  int64_t bytes = 0;
  for (const StateContent& state : states) bytes += state.bytes;
  return bytes;
}

namespace {

template <typename Record>
Record record_at(const Bytes& bytes, size_t at) {
  Record record;
  assert(at + sizeof record <= bytes.size());
  std::memcpy(&record, bytes.data() + at, sizeof record);
  return record;
}

/// Ports of one direction. `*record` is the index of the next "thimble_io" entry; it is advanced.
std::vector<Port> ports(const CProgram& program, const std::vector<int32_t>& values,
                        std::string_view kind, const std::vector<std::string>& names,
                        size_t* record) {
  std::vector<Port> all;
  const pte::NamedData* quants = pte::find_named_data(*program.file, abi::kIoKey);
  for (size_t i = 0; i < values.size(); ++i, ++*record) {
    Port port;
    port.name = fmt::format("{}_{}", kind, i);
    port.label = upper(port.name);
    port.source_name = i < names.size() ? names[i] : port.name;
    port.value = values[i];
    port.tensor = &program.tensor(values[i]);
    if (quants != nullptr) {
      const auto quant = record_at<abi::IoQuant>(quants->bytes, *record * sizeof(abi::IoQuant));
      port.scale = quant.scale;
      port.zero_point = quant.zero_point;
    }
    all.push_back(std::move(port));
  }
  return all;
}

/// Names constants "constant_0", "constant_1", ... in the order in which the calls use them.
/// Within a call, operands in lists come first.
class ConstantNames {
 public:
  ConstantNames(const pte::ExecutionPlan& plan, const std::map<size_t, pte::PartOf>& parts)
      : plan_(plan), parts_(parts) {}
  void add(int32_t value) {
    const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[static_cast<size_t>(value)]);
    if (tensor == nullptr || tensor->allocation || tensor->data_buffer_idx == 0) return;
    const auto part = parts_.find(tensor->data_buffer_idx);
    const auto array =
        part == parts_.end() ? tensor->data_buffer_idx : static_cast<uint32_t>(part->second.whole);
    if (!names_.contains(array)) names_[array] = fmt::format("constant_{}", arrays_++);
    if (part != parts_.end()) names_[tensor->data_buffer_idx] = names_[array];
  }
  void add_lists(int32_t value) {
    const auto* list = std::get_if<pte::TensorList>(&plan_.values[static_cast<size_t>(value)]);
    if (list == nullptr) return;
    for (const int32_t item : list->items) add(item);
  }
  std::map<uint32_t, std::string> take() { return std::move(names_); }

 private:
  const pte::ExecutionPlan& plan_;
  const std::map<size_t, pte::PartOf>& parts_;
  size_t arrays_ = 0;
  std::map<uint32_t, std::string> names_;
};

}  // namespace

std::map<size_t, pte::PartOf> constant_parts(const std::vector<Bytes>& constants) {
  return pte::find_parts(constants, abi::kConstantAlignment);
}

std::map<uint32_t, std::string> constant_names(const pte::ExecutionPlan& plan,
                                               const std::map<size_t, pte::PartOf>& parts) {
  ConstantNames names(plan, parts);
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    const auto* call = std::get_if<pte::KernelCall>(&instruction);
    if (call == nullptr) continue;
    for (const int32_t arg : call->args) names.add_lists(arg);
    for (const int32_t arg : call->args) names.add(arg);
  }
  for (const int32_t output : plan.outputs) names.add(output);
  return names.take();
}

Result<CProgram> prepare(const pte::Program& file, const ModelInfo& info, const Options& options) {
  if (file.plans.size() != 1) {
    return unsupported("--emit c: the program has {} plans, expected 1", file.plans.size());
  }
  CProgram program;
  program.info = &info;
  program.options = &options;
  program.file = &file;
  program.plan = &file.plans[0];
  if (program.plan->chains.size() != 1) {
    return unsupported("--emit c: the plan has {} chains, expected 1", program.plan->chains.size());
  }
  program.name = info.name;
  program.upper = upper(info.name);
  if (program.plan->memory_sizes.size() > 2) {
    return unsupported("--emit c: the program has {} memories, at most 1 expected",
                       program.plan->memory_sizes.size() - 1);
  }
  if (program.plan->memory_sizes.size() > 1) program.arena_bytes = program.plan->memory_sizes[1];
  size_t record = 0;
  program.inputs = ports(program, program.plan->inputs, "input", info.input_names, &record);
  program.outputs = ports(program, program.plan->outputs, "output", info.output_names, &record);
  for (const Port& input : program.inputs) {
    if (!input.tensor->allocation) program.external_inputs[input.value] = input.name;
  }
  THIMBLE_TRY(program.states, read_states(file));
  program.parts = constant_parts(file.constants);
  program.constants = constant_names(*program.plan, program.parts);
  return program;
}

std::string run_parameters(const CProgram& program) {
  std::string text;
  for (const Port& input : program.inputs) {
    text += fmt::format("{}const {} *{}", text.empty() ? "" : ", ",
                        c_type(input.tensor->scalar_type), input.name);
  }
  return text.empty() ? "void" : text;
}

}  // namespace thimble::emit::c
