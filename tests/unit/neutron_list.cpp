// SPDX-License-Identifier: Apache-2.0
#include "neutron_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace thimble::neutron_test {

size_t elements(const Dims& dims) {
  size_t all = 1;
  for (const uint32_t dim : dims) all *= dim;
  return all;
}

namespace {

size_t place_in(const Dims& dims, const Dims& index) {
  size_t at = 0;
  for (size_t k = 0; k < dims.size(); ++k) at = at * dims[k] + index[k];
  return at;
}

using runtime_test::GuardedMemory;

GuardedMemory guarded(const Bytes& content) {
  return GuardedMemory(
      ByteView(reinterpret_cast<const std::byte*>(content.data()), content.size()));
}
Bytes content_of(const GuardedMemory& memory) {
  return {memory.data(), memory.data() + memory.size()};
}

/// Copies that are completed by the wait for them. An earlier read gets wrong values.
struct Copies {
  struct Pending {
    void* to = nullptr;
    const void* from = nullptr;
    uint32_t bytes = 0;
  };
  Pending of[neutron::kPrefetchChannels];
};
Copies copies;

void start_copy(void* to, void* from, uint32_t bytes, uint32_t channel) {
  EXPECT_LT(channel, neutron::kPrefetchChannels);
  Copies::Pending& pending = copies.of[channel % neutron::kPrefetchChannels];
  EXPECT_EQ(pending.bytes, 0U) << "a channel in use";
  std::memset(to, 0x5D, bytes);
  pending = {to, from, bytes};
}

void await_copy(uint32_t channel) {
  Copies::Pending& pending = copies.of[channel % neutron::kPrefetchChannels];
  EXPECT_NE(pending.bytes, 0U) << "nothing to wait for";
  std::memcpy(pending.to, pending.from, pending.bytes);
  pending = {};
}

}  // namespace

int8_t& Dense::at(const Dims& index) {
  return values[place_in(dims, index)];
}
int8_t Dense::at(const Dims& index) const {
  return values[place_in(dims, index)];
}

View dense_view(Memory memory, uint32_t index, uint32_t offset, const Dims& dims) {
  View view = {};
  view.memory = memory;
  view.rank = static_cast<uint8_t>(dims.size());
  view.index = static_cast<uint16_t>(index);
  view.offset = offset;
  std::fill(view.dims, view.dims + neutron::kRankMax, 1);
  int32_t step = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    view.dims[k] = dims[k];
    view.strides[k] = dims[k] == 1 ? 0 : step;
    step *= static_cast<int32_t>(dims[k]);
  }
  return view;
}

size_t byte_of(const View& view, const Dims& index) {
  int64_t at = view.offset;
  for (size_t k = 0; k < index.size(); ++k) at += int64_t{view.strides[k]} * index[k];
  return static_cast<size_t>(at);
}

Dims dims_of(const View& view) {
  return {view.dims, view.dims + view.rank};
}

uint32_t List::bytes(const Bytes& content) {
  const auto at = neutron::aligned(static_cast<uint32_t>(weights.size()), 4);
  weights.resize(at);
  weights.insert(weights.end(), content.begin(), content.end());
  return at;
}
uint32_t List::codes(const std::vector<int8_t>& content) {
  return bytes({content.begin(), content.end()});
}
uint32_t List::ints(const std::vector<int32_t>& content) {
  Bytes raw(4 * content.size());
  if (!raw.empty()) std::memcpy(raw.data(), content.data(), raw.size());
  return bytes(raw);
}

namespace {
IoRecord record_of(uint32_t bytes) {
  return {1, 0, 0, {bytes, 1, 1, 1, 1, 1}, 0.5F, -3, bytes};
}
}  // namespace

uint32_t List::input(uint32_t bytes) {
  inputs.push_back(record_of(bytes));
  return static_cast<uint32_t>(inputs.size() - 1);
}
uint32_t List::output(uint32_t bytes) {
  outputs.push_back(record_of(bytes));
  return static_cast<uint32_t>(outputs.size() - 1);
}
uint32_t List::scratch(uint32_t bytes) {
  const uint32_t at = header.scratch_bytes;
  header.scratch_bytes = neutron::aligned(at + bytes);
  return at;
}

KernelRecord& List::kernel(Kernel kernel, const std::vector<View>& operands, const View& output) {
  KernelRecord record = {};
  record.kernel = kernel;
  record.operand_count = static_cast<uint8_t>(operands.size());
  record.stride_h = record.stride_w = 1;
  record.dilation_h = record.dilation_w = 1;
  record.min = -128;
  record.max = 127;
  record.multipliers = record.shifts = record.weights = record.bias = neutron::kAbsent;
  record.table = record.data = neutron::kAbsent;
  record.cycles = 100 + static_cast<uint32_t>(kernels.size());
  std::copy(operands.begin(), operands.end(), record.operands);
  record.output = output;
  kernels.push_back(record);
  return kernels.back();
}

Bytes List::program() const {
  neutron::Header h = header;
  h.magic = neutron::kMagic;
  h.version = neutron::kVersion;
  h.kernel_count = static_cast<uint32_t>(kernels.size());
  h.io_offset = sizeof h;
  h.input_count = static_cast<uint32_t>(inputs.size());
  h.output_count = static_cast<uint32_t>(outputs.size());
  h.kernels_offset = neutron::aligned(
      static_cast<uint32_t>(sizeof h + (inputs.size() + outputs.size()) * sizeof(IoRecord)));
  h.program_bytes = h.kernels_offset + h.kernel_count * static_cast<uint32_t>(sizeof(KernelRecord));
  h.weight_bytes = static_cast<uint32_t>(weights.size());
  Bytes program(neutron::aligned(h.program_bytes));
  const auto put = [&](size_t at, const auto& record) {
    std::memcpy(program.data() + at, &record, sizeof record);
  };
  put(0, h);
  size_t at = h.io_offset;
  for (const auto* side : {&inputs, &outputs}) {
    for (const IoRecord& io : *side) {
      put(at, io);
      at += sizeof io;
    }
  }
  at = h.kernels_offset;
  for (const KernelRecord& record : kernels) {
    put(at, record);
    at += sizeof record;
  }
  rehash(program, weights);
  return program;
}

void rehash(Bytes& program, const Bytes& weights) {
  neutron::Header header;
  if (program.size() < sizeof header) return;
  std::memcpy(&header, program.data(), sizeof header);
  if (header.program_bytes > program.size() || header.program_bytes < sizeof header ||
      header.weight_bytes > weights.size()) {
    return;
  }
  header.content_hash = neutron::content_hash(program.data(), header.program_bytes, weights.data(),
                                              header.weight_bytes);
  std::memcpy(program.data(), &header, sizeof header);
}

Status check_bytes(const Bytes& program, const Bytes& weights, uint32_t* kernel) {
  const GuardedMemory at = guarded(program);
  const GuardedMemory constants = guarded(weights);
  uint32_t fault = 0;
  return neutron::check(at.data(), static_cast<uint32_t>(program.size()), constants.data(),
                        static_cast<uint32_t>(weights.size()), kernel == nullptr ? fault : *kernel);
}

Status check_list(const List& list) {
  return check_bytes(list.program(), list.weights);
}

Outcome run_bytes(const Bytes& program, const Bytes& weights, const std::vector<Bytes>& inputs,
                  Prefetch prefetch, uint8_t fill_byte) {
  const GuardedMemory at = guarded(program);
  const GuardedMemory constants = guarded(weights);
  const neutron::Program list(at.data());
  const neutron::Header header = list.header();
  std::vector<GuardedMemory> in, out;
  std::vector<const uint8_t*> in_at;
  std::vector<uint8_t*> out_at;
  for (const Bytes& input : inputs) {
    in.push_back(guarded(input));
    in_at.push_back(in.back().data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    out.emplace_back(list.output(i).bytes, fill_byte);
    out_at.push_back(out.back().data());
  }
  const GuardedMemory scratch(header.scratch_bytes, fill_byte);
  const GuardedMemory fetched(header.prefetch_bytes, fill_byte);
  const GuardedMemory profile(header.profile_bytes, fill_byte);
  copies = {};
  neutron::Job job = {list, constants.data(), in_at.data(), out_at.data(), scratch.data()};
  if (prefetch != Prefetch::kInPlace) job.prefetch = fetched.data();
  if (prefetch == Prefetch::kByHooks) {
    job.copy = start_copy;
    job.wait = await_copy;
  }
  job.profile = profile.data();
  neutron::run(job);
  for (const Copies::Pending& pending : copies.of) EXPECT_EQ(pending.bytes, 0U) << "nobody waited";
  Outcome result;
  result.profile = content_of(profile);
  result.intact = scratch.intact() && fetched.intact() && profile.intact() &&
                  content_of(at) == program && content_of(constants) == weights;
  for (size_t i = 0; i < in.size(); ++i) {
    result.intact = result.intact && in[i].intact() && content_of(in[i]) == inputs[i];
  }
  for (const GuardedMemory& memory : out) {
    result.intact = result.intact && memory.intact();
    result.outputs.push_back(content_of(memory));
  }
  return result;
}

}  // namespace thimble::neutron_test
