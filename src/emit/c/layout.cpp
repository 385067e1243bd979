#include "emit/c/layout.h"

#include <cstring>

#include <fmt/format.h>

#include "abi/native_params.h"
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
      return "uint8_t";  // also a bool's: one byte, 0 or 1
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

/// Ports of one direction; `record` counts the entries of "thimble_io" through both.
std::vector<Port> ports(const Layout& layout, const std::vector<int32_t>& values,
                        std::string_view kind, const std::vector<std::string>& names,
                        size_t* record) {
  std::vector<Port> all;
  const pte::NamedData* quants = pte::find_named_data(*layout.program, abi::kIoKey);
  for (size_t i = 0; i < values.size(); ++i, ++*record) {
    Port port;
    port.name = fmt::format("{}_{}", kind, i);
    port.label = upper(port.name);
    port.user = i < names.size() ? names[i] : port.name;
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

}  // namespace

Result<Layout> lay_out(const pte::Program& program, const Options& options) {
  if (program.plans.size() != 1 || program.plans[0].chains.size() != 1) {
    return unsupported("--emit c: a program of one method expected");
  }
  Layout layout;
  layout.program = &program;
  layout.plan = &program.plans[0];
  layout.name = options.name;
  layout.upper = upper(options.name);
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
  return layout;
}

}  // namespace thimble::emit::c
