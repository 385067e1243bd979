// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files whose only instruction is a call of ThimbleAxonModel with sample_list(). The image is an
// input; the state belongs to the model.

#include <cstring>
#include <vector>

#include "abi/named_data.h"
#include "axon_sample.h"
#include "formats/pte/program.h"

namespace thimble::axon_test {

/// Value indices of axon_program().
enum : int32_t { kImage, kState, kShares, kSmall, kAxonValues };

inline constexpr uint32_t kStateOffset = 0, kSharesOffset = 16, kSmallOffset = 32;
inline constexpr uint32_t kScratchOffset = 64;
inline constexpr int kFirstState = -3;

inline Bytes as_file_bytes(const std::vector<uint8_t>& list) {
  const auto* const data = reinterpret_cast<const std::byte*>(list.data());
  return Bytes(data, data + list.size());
}

inline formats::pte::Tensor int8_tensor(std::vector<int32_t> sizes, int64_t offset) {
  formats::pte::Tensor tensor;
  tensor.scalar_type = formats::pte::ScalarType::kChar;
  for (size_t i = 0; i < sizes.size(); ++i) tensor.dim_order.push_back(static_cast<uint8_t>(i));
  tensor.sizes = std::move(sizes);
  if (offset >= 0) tensor.allocation = formats::pte::Allocation{1, static_cast<uint64_t>(offset)};
  return tensor;
}

template <class Record>
void add_entry(formats::pte::Program& program, const char* key, const std::vector<Record>& records,
               Bytes bytes = {}) {
  const auto* const data = reinterpret_cast<const std::byte*>(records.data());
  bytes.insert(bytes.end(), data, data + records.size() * sizeof(Record));
  program.named_data.push_back({key, 16, std::move(bytes)});
}

/// Outputs: softmax, small image, state.
inline formats::pte::Program axon_program(const std::vector<uint8_t>& list) {
  namespace pte = formats::pte;
  pte::Program program;
  pte::ExecutionPlan plan;
  plan.values = {int8_tensor({1, 2, 6, 7}, -1), int8_tensor({1, 5}, kStateOffset),
                 int8_tensor({1, 4}, kSharesOffset), int8_tensor({1, 2, 3, 4}, kSmallOffset)};
  plan.inputs = {kImage};
  plan.outputs = {kShares, kSmall, kState};
  plan.delegates = {{axon::kDelegateId, 0, {}}};
  plan.chains[0].instructions = {pte::DelegateCall{0, {kImage, kState, kState, kShares, kSmall}}};
  axon::Header header;
  std::memcpy(&header, list.data(), sizeof header);
  plan.memory_sizes = {0, kScratchOffset + header.interlayer_bytes + header.persistent_bytes};
  program.plans = {plan};
  program.delegate_blobs = {{pte::BlobLocation::kSegment, 16, as_file_bytes(list)}};
  abi::DelegateRecord record = {};
  record.scratch_offset = kScratchOffset;
  add_entry(program, abi::kDelegatesKey, std::vector<abi::DelegateRecord>{record});
  const abi::StateHeader states = {1, 5};
  Bytes bytes(sizeof states);
  std::memcpy(bytes.data(), &states, sizeof states);
  add_entry(program, abi::kStateKey,
            std::vector<abi::StateRecord>{{kStateOffset, 5, 0, kFirstState & 255}}, bytes);
  return program;
}

}  // namespace thimble::axon_test
