// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files whose only instruction is a call of a Neutron delegate. Memory of inputs is set by the
// caller; outputs and scratch are planned.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "abi/named_data.h"
#include "engines/neutron/formats/payload.h"
#include "formats/pte/program.h"

namespace thimble::neutron_test {

namespace pte = formats::pte;

/// A tensor of the call.
struct Port {
  std::vector<int32_t> sizes;
  bool last = false;  // channels-last in the file
  [[nodiscard]] uint32_t bytes() const {
    uint32_t all = 1;
    for (const int32_t size : sizes) all *= static_cast<uint32_t>(size);
    return all;
  }
};

inline pte::Tensor tensor_for(const Port& port, int64_t offset) {
  pte::Tensor tensor;
  tensor.scalar_type = pte::ScalarType::kChar;
  tensor.sizes = port.sizes;
  for (size_t i = 0; i < port.sizes.size(); ++i) {
    if (i != 1 || !port.last) tensor.dim_order.push_back(static_cast<uint8_t>(i));
  }
  if (port.last) tensor.dim_order.push_back(1);
  if (offset >= 0) tensor.allocation = pte::Allocation{1, static_cast<uint64_t>(offset)};
  return tensor;
}

struct CallFile {
  std::string id = "NeutronBackend";
  formats::neutron::Payload payload;
  std::vector<Port> inputs, outputs;  // of the call; the payload's maps assign them to the program
  bool planned = false;               // false: scratch follows the arena, as in ExecuTorch's files
  uint32_t scratch_bytes = 0;         // size of planned scratch
  pte::BlobLocation location = pte::BlobLocation::kInline;

  /// Returns the program. Outputs are at consecutive multiples of 16, followed by scratch.
  [[nodiscard]] pte::Program program() const {
    pte::Program program;
    pte::ExecutionPlan plan;
    std::vector<int32_t> args;
    uint32_t offset = 0;
    for (const Port& port : inputs) {
      plan.inputs.push_back(static_cast<int32_t>(plan.values.size()));
      args.push_back(plan.inputs.back());
      plan.values.emplace_back(tensor_for(port, -1));
    }
    for (const Port& port : outputs) {
      plan.outputs.push_back(static_cast<int32_t>(plan.values.size()));
      args.push_back(plan.outputs.back());
      plan.values.emplace_back(tensor_for(port, offset));
      offset += (port.bytes() + 15) / 16 * 16;
    }
    plan.delegates = {{id, 0, formats::neutron::compile_specs({})}};
    plan.chains[0].instructions = {pte::DelegateCall{0, args}};
    plan.memory_sizes = {0, offset + (planned ? scratch_bytes : 0)};
    program.plans = {plan};
    auto bytes = formats::neutron::write_payload(payload);
    program.delegate_blobs = {{location, 16, bytes.ok() ? *bytes : thimble::Bytes()}};
    if (planned) {
      abi::DelegateRecord record = {};
      record.scratch_offset = offset;
      thimble::Bytes entry(sizeof record);
      std::memcpy(entry.data(), &record, sizeof record);
      program.named_data.push_back({abi::kDelegatesKey, 16, std::move(entry)});
    }
    return program;
  }
};

/// The published words in microcode; only the NPU can interpret the rest.
struct MicrocodeWords {
  uint32_t scratch = 48, profile = 0, debug = 0, prefetch = 0;
};
inline thimble::Bytes microcode(uint32_t version, uint32_t inputs, uint32_t outputs,
                                uint32_t weight_bytes, const MicrocodeWords& words = {}) {
  constexpr uint32_t kBytes = 72;
  std::array<uint32_t, kBytes / 4> all = {};
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = 0xA5A50000 + i;
  all[0] = 0x64434D6E;
  all[6] = kBytes;
  all[7] = weight_bytes;
  all[9] = words.scratch;
  size_t next = 10;
  if (version == 1) {
    all[next++] = words.profile | 0x80000000;
    all[next++] = words.debug;
  }
  all[next++] = words.prefetch;
  all[next++] = inputs;
  all[next] = outputs;
  thimble::Bytes bytes;
  for (const uint32_t word : all) append_le(bytes, word);
  return bytes;
}

}  // namespace thimble::neutron_test
