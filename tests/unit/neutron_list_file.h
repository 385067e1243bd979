// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file whose only call runs a kernel list.

#include <cstring>

#include "neutron_list.h"
#include "neutron_program.h"

namespace thimble::neutron_test {

inline thimble::Bytes file_bytes(const Bytes& bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

/// Returns a file whose tensors are those of the list's records.
inline CallFile file_of(const List& list) {
  CallFile file;
  file.id = neutron::kDelegateId;
  const auto add = [](const IoRecord& io, std::vector<Port>& ports,
                      std::vector<formats::neutron::MemoryOrder>& formats,
                      std::vector<uint8_t>& map) {
    const bool last = io.channels_last != 0;
    map.push_back(static_cast<uint8_t>(ports.size()));
    ports.push_back({{io.dims, io.dims + io.rank}, last});
    formats.push_back(static_cast<formats::neutron::MemoryOrder>(last));
  };
  formats::neutron::Payload& payload = file.payload;
  for (const IoRecord& io : list.inputs) {
    add(io, file.inputs, payload.input_formats, payload.input_map);
  }
  for (const IoRecord& io : list.outputs) {
    add(io, file.outputs, payload.output_formats, payload.output_map);
  }
  payload.arg_count = static_cast<uint8_t>(list.inputs.size());
  Bytes program = list.program();
  neutron::Header header;
  std::memcpy(&header, program.data(), sizeof header);
  program.resize(header.program_bytes);
  payload.program = file_bytes(program);
  payload.weights = file_bytes(list.weights);
  const uint32_t addresses =
      neutron::aligned(8 * static_cast<uint32_t>(list.inputs.size() + list.outputs.size() + 3));
  file.scratch_bytes = addresses + header.scratch_bytes + header.profile_bytes +
                       header.debug_bytes + header.prefetch_bytes;
  return file;
}

}  // namespace thimble::neutron_test
