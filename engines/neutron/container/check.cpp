// SPDX-License-Identifier: Apache-2.0
// Checks the whole kernel list: interface, hash, kernels, and that kernels write at least as many
// elements as each output has.

#include "engines/neutron/container/check_kernel.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/container/view.h"

namespace thimble::neutron {
namespace {

uint32_t hash_bytes(uint32_t hash, const uint8_t* bytes, uint32_t count) {
  constexpr uint32_t kPrime = 0x01000193;
  for (uint32_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * kPrime;
  return hash;
}

/// Returns the number of elements that kernels write to output `index`; repeated writes count
/// again.
uint64_t written_to(const Program& program, const Header& header, uint32_t index) {
  uint64_t written = 0;
  for (uint32_t i = 0; i < header.kernel_count; ++i) {
    const KernelRecord record = program.kernel(i);
    const auto add = [&](const View& view) {
      if (view.memory == Memory::kOutput && view.index == index) written += elements_of(view);
    };
    add(record.output);
    if (record.kernel == Kernel::kPad) add(record.padded);
  }
  return written;
}

}  // namespace

uint32_t content_hash(const uint8_t* program, uint32_t program_bytes, const uint8_t* weights,
                      uint32_t weight_bytes) {
  constexpr uint32_t kBasis = 0x811C9DC5;
  constexpr uint32_t kAt = offsetof(Header, content_hash);
  constexpr uint32_t kBehind = kAt + sizeof(Header::content_hash);
  constexpr uint8_t kZeros[sizeof(Header::content_hash)] = {};
  uint32_t hash = hash_bytes(kBasis, program, kAt);
  hash = hash_bytes(hash, kZeros, sizeof kZeros);
  hash = hash_bytes(hash, program + kBehind, program_bytes - kBehind);
  return hash_bytes(hash, weights, weight_bytes);
}

Status check(const uint8_t* program, uint32_t program_bytes, const uint8_t* weights,
             uint32_t weight_bytes, uint32_t& kernel) {
  kernel = kAbsent;
  Status status = check_interface(program, program_bytes);
  if (status != Status::kOk) return status;
  if (reinterpret_cast<uintptr_t>(weights) % kBlockAlignment != 0) return Status::kMisaligned;
  const Program list(program);
  const Header header = list.header();
  if (header.weight_bytes > weight_bytes) return Status::kTruncated;
  if (content_hash(program, header.program_bytes, weights, header.weight_bytes) !=
      header.content_hash) {
    return Status::kBadHash;
  }
  for (uint32_t i = 0; i < header.kernel_count; ++i) {
    status = check_kernel(list, header, weights, i);
    if (status != Status::kOk) {
      kernel = i;
      return status;
    }
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    if (written_to(list, header, i) < list.output(i).bytes) return Status::kBadIo;
  }
  return Status::kOk;
}

}  // namespace thimble::neutron
