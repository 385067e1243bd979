// SPDX-License-Identifier: Apache-2.0
#include <flatbuffers/flatbuffers.h>

#include "etdump_generated.h"
#include "formats/etdump/etdump.h"

namespace thimble::formats::etdump {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int8_t kTensorValue = 5;  // Value::val

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Offset<fb::Event> write_event(FlatBufferBuilder& builder, const ProfileEvent& event) {
  const auto name = builder.CreateSharedString(event.name);
  const auto id = event.delegate_id.empty() ? Offset<flatbuffers::String>()
                                            : builder.CreateSharedString(event.delegate_id);
  Offset<flatbuffers::Vector<uint8_t>> metadata;
  if (!event.metadata.empty()) {
    metadata = builder.CreateVector(reinterpret_cast<const uint8_t*>(event.metadata.data()),
                                    event.metadata.size());
  }
  fb::ProfileEventBuilder table(builder);
  table.add_name(name);
  table.add_instruction_id(event.instruction);
  if (!id.IsNull()) table.add_delegate_debug_id_str(id);
  if (!metadata.IsNull()) table.add_delegate_debug_metadata(metadata);
  table.add_start_time(event.start);
  table.add_end_time(event.end);
  return fb::CreateEvent(builder, table.Finish());
}

Offset<fb::Event> write_event(FlatBufferBuilder& builder, const DebugEvent& event) {
  const auto sizes = builder.CreateVector(event.sizes);
  const auto strides = builder.CreateVector(contiguous_strides(event.sizes));
  const auto tensor = fb::CreateTensor(builder, static_cast<int8_t>(event.scalar_type), sizes,
                                       strides, static_cast<int64_t>(event.offset));
  const auto output = fb::CreateBool(builder, event.is_output);
  fb::ValueBuilder value(builder);
  value.add_val(kTensorValue);
  value.add_tensor(tensor);
  value.add_output(output);
  const auto entry = value.Finish();
  fb::DebugEventBuilder table(builder);
  table.add_instruction_id(event.instruction);
  table.add_debug_entry(entry);
  const auto debug_event = table.Finish();
  return fb::CreateEvent(builder, 0, 0, debug_event);
}

}  // namespace

Bytes write(const std::vector<Run>& runs) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::RunData>> tables;
  for (const Run& run : runs) {
    std::vector<Offset<fb::Event>> events;
    for (const Event& event : run.events) {
      events.push_back(
          std::visit([&](const auto& each) { return write_event(builder, each); }, event));
    }
    const auto name = builder.CreateString(run.name);
    const auto list = builder.CreateVector(events);
    tables.push_back(fb::CreateRunData(builder, name, run.bundled_input, 0, list));
  }
  const auto list = builder.CreateVector(tables);
  builder.FinishSizePrefixed(fb::CreateETDump(builder, 0, list), fb::ETDumpIdentifier());
  const auto* bytes = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {bytes, bytes + builder.GetSize()};
}

}  // namespace thimble::formats::etdump
