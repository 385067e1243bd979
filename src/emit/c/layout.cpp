#include "emit/c/layout.h"

#include <cstring>

#include <fmt/format.h>

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

const pte::Tensor& Layout::tensor(int32_t value) const {
  return std::get<pte::Tensor>(plan->values[static_cast<size_t>(value)]);
}

int64_t Layout::state_bytes() const {
  int64_t bytes = 0;
  for (const State& state : states) bytes += state.bytes;
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
std::vector<Port> ports(const Layout& layout, const std::vector<int32_t>& values,
                        std::string_view kind, const std::vector<std::string>& names,
                        size_t* record) {
  std::vector<Port> all;
  const pte::NamedData* quants = pte::find_named_data(*layout.program, abi::kIoKey);
  for (size_t i = 0; i < values.size(); ++i, ++*record) {
    Port port;
    port.name = fmt::format("{}_{}", kind, i);
    port.label = upper(port.name);
    port.source_name = i < names.size() ? names[i] : port.name;
    port.value = values[i];
    port.tensor = &layout.tensor(values[i]);
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
  explicit ConstantNames(const pte::ExecutionPlan& plan) : plan_(plan) {}
  void add(int32_t value) {
    const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[static_cast<size_t>(value)]);
    if (tensor == nullptr || tensor->allocation || tensor->data_buffer_idx == 0) return;
    names_.try_emplace(tensor->data_buffer_idx, fmt::format("constant_{}", names_.size()));
  }
  void add_lists(int32_t value) {
    const auto* list = std::get_if<pte::TensorList>(&plan_.values[static_cast<size_t>(value)]);
    if (list == nullptr) return;
    for (const int32_t item : list->items) add(item);
  }
  std::map<uint32_t, std::string> take() { return std::move(names_); }

 private:
  const pte::ExecutionPlan& plan_;
  std::map<uint32_t, std::string> names_;
};

}  // namespace

std::map<uint32_t, std::string> constant_names(const pte::ExecutionPlan& plan) {
  ConstantNames names(plan);
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    const auto* call = std::get_if<pte::KernelCall>(&instruction);
    if (call == nullptr) continue;
    for (const int32_t arg : call->args) names.add_lists(arg);
    for (const int32_t arg : call->args) names.add(arg);
  }
  for (const int32_t output : plan.outputs) names.add(output);
  return names.take();
}

std::vector<State> states_of(const pte::Program& program) {
  std::vector<State> states;
  const pte::NamedData* data = pte::find_named_data(program, abi::kStateKey);
  if (data == nullptr) return states;
  const auto header = record_at<abi::StateHeader>(data->bytes, 0);
  for (size_t i = 0; i < header.count; ++i) {
    const size_t at = sizeof header + i * sizeof(abi::StateRecord);
    const auto record = record_at<abi::StateRecord>(data->bytes, at);
    State state = {record.arena_offset, record.bytes, static_cast<uint8_t>(record.fill), {}};
    if (record.content != 0) {
      const auto begin = data->bytes.begin() + record.content;
      state.content.assign(begin, begin + record.bytes);
    }
    states.push_back(std::move(state));
  }
  return states;
}

Result<Layout> lay_out(const pte::Program& program, const Options& options) {
  if (program.plans.size() != 1 || program.plans[0].chains.size() != 1) {
    return unsupported("--emit c: a program of one method expected");
  }
  Layout layout;
  layout.program = &program;
  layout.plan = &program.plans[0];
  layout.name = options.name;
  layout.upper = upper(options.name);
  layout.owns_inputs = options.owns_inputs;
  layout.placed = options.placed;
  layout.loaded = options.loaded;
  if (layout.plan->memory_sizes.size() > 2) {
    return unsupported("--emit c: the program has {} memories, at most 1 expected",
                       layout.plan->memory_sizes.size() - 1);
  }
  if (layout.plan->memory_sizes.size() > 1) layout.arena_bytes = layout.plan->memory_sizes[1];
  size_t record = 0;
  layout.inputs = ports(layout, layout.plan->inputs, "input", options.inputs, &record);
  layout.outputs = ports(layout, layout.plan->outputs, "output", options.outputs, &record);
  for (const Port& input : layout.inputs) {
    if (!input.tensor->allocation) layout.given[input.value] = input.name;
  }
  layout.states = states_of(program);
  layout.constants = constant_names(*layout.plan);
  return layout;
}

}  // namespace thimble::emit::c
