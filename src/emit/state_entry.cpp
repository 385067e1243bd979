// SPDX-License-Identifier: Apache-2.0
#include "emit/state_entry.h"

#include <algorithm>
#include <cstring>

namespace thimble::emit {

using formats::pte::NamedData;

std::optional<NamedData> state_entry(const ir::Graph& graph,
                                     const memory::MemoryPlan& memory_plan) {
  if (graph.states().empty()) return std::nullopt;
  NamedData data;
  data.key = abi::kStateKey;
  abi::StateHeader header = {static_cast<uint32_t>(graph.states().size()),
                             static_cast<uint32_t>(memory_plan.state_bytes)};
  data.bytes.resize(sizeof(header) + header.count * sizeof(abi::StateRecord));
  std::memcpy(data.bytes.data(), &header, sizeof(header));
  for (size_t i = 0; i < graph.states().size(); ++i) {
    const ir::State& state = graph.states()[i];
    const int range = memory_plan.range_of_value[static_cast<size_t>(state.value)];
    const Bytes content = ir::to_memory(*state.initial, graph.type(state.value).dim_order);
    abi::StateRecord record = {};
    record.arena_offset =
        static_cast<uint32_t>(memory_plan.placement.offsets[static_cast<size_t>(range)]);
    record.bytes = static_cast<uint32_t>(content.size());
    if (std::ranges::all_of(content, [&](std::byte byte) { return byte == content[0]; })) {
      record.fill = content.empty() ? 0 : std::to_integer<uint32_t>(content[0]);
    } else {
      record.content = static_cast<uint32_t>(data.bytes.size());
      append(data.bytes, content);
    }
    std::memcpy(data.bytes.data() + sizeof(header) + i * sizeof(record), &record, sizeof(record));
  }
  return data;
}

Result<std::vector<StateContent>> read_states(const formats::pte::Program& program) {
  std::vector<StateContent> states;
  const NamedData* entry = formats::pte::find_named_data(program, abi::kStateKey);
  if (entry == nullptr) return states;
  const Bytes& bytes = entry->bytes;
  const auto bad = [](std::string_view what) {
    return bad_input("named data {}: {}", abi::kStateKey, what);
  };
  abi::StateHeader header = {};
  if (bytes.size() < sizeof(header)) return bad("too short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (size_t i = 0; i < header.count; ++i) {
    abi::StateRecord record = {};
    const size_t at = sizeof(header) + i * sizeof(record);
    if (at + sizeof(record) > bytes.size()) return bad("too short");
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    StateContent state = {record.arena_offset, record.bytes, static_cast<uint8_t>(record.fill), {}};
    if (record.content != 0) {
      if (record.content > bytes.size() || record.bytes > bytes.size() - record.content) {
        return bad("its content is cut off");
      }
      const auto begin = bytes.begin() + record.content;
      state.content.assign(begin, begin + record.bytes);
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace thimble::emit
