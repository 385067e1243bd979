// SPDX-License-Identifier: Apache-2.0
// Model files: the FlatBuffer with its schema, and the parts of a .pte that are outside of it.

#include <algorithm>
#include <optional>
#include <span>

#include "abi/named_data.h"
#include "bundle_bfbs_generated.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "program_bfbs_generated.h"
#include "ptd_bfbs_generated.h"
#include "tests/fuzz/mutate_flatbuffer.h"
#include "tests/fuzz/mutate_npu.h"
#include "tflite_bfbs_generated.h"

namespace thimble::fuzz {
namespace {

constexpr uint32_t kAxonMagic = 0x4E584154, kNeutronMagic = 0x75654E54;
constexpr size_t kAxonSizeAt = 8;  // bytes of the list, in its header

/// Position of the word, a multiple of 4; the first at or after a random position, or none.
std::optional<size_t> find_word(const Bytes& bytes, uint32_t word, Random& random) {
  const size_t words = bytes.size() / 4;
  const size_t first = below(random, words);
  for (size_t i = 0; i < words; ++i) {
    const size_t at = (first + i) % words * 4;
    if (load_le<uint32_t>(bytes, at) == word) return at;
  }
  return std::nullopt;
}

/// Replaces the bytes at `at` by `part`.
void put(Bytes& bytes, size_t at, const Bytes& part) {
  std::copy_n(part.begin(), std::min(part.size(), bytes.size() - at),
              bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

bool change_axon(Bytes& bytes, Random& random) {
  const auto at = find_word(bytes, kAxonMagic, random);
  if (!at || bytes.size() - *at < kAxonSizeAt + 4) return false;
  const size_t size = load_le<uint32_t>(bytes, *at + kAxonSizeAt);
  if (size > bytes.size() - *at) return false;
  const ByteView list = ByteView(bytes).subspan(*at, size);
  put(bytes, *at, mutate_axon_list(copy_of(list), {}, random));
  return true;
}

bool change_neutron(Bytes& bytes, Random& random) {
  const auto at = find_word(bytes, kNeutronMagic, random);
  return at && mutate_kernel_list(std::span(bytes).subspan(*at), random);
}

/// Changes parameters of a stream; the number of words stays.
bool change_ethos_u(Bytes& bytes, Random& random) {
  const auto at = find_word(bytes, random() % 2 == 0 ? ethos_u::kCop1 : ethos_u::kCop2, random);
  if (!at) return false;
  const std::span<std::byte> words = std::span(bytes).subspan(*at);
  for (size_t left = 1 + below(random, 3); left > 0; --left) mutate_parameter(words, random);
  return true;
}

/// Changes a word of the extended header, of the records of a native file, or anywhere after the
/// FlatBuffer: constants, delegates.
void change_segments(Bytes& bytes, Random& random) {
  constexpr size_t kHeaderAt = 8, kHeaderEnd = 40, kProgramSizeAt = 16, kRecordBytes = 768;
  if (bytes.size() < kHeaderEnd) return;
  size_t first = std::min<uint64_t>(load_le<uint64_t>(bytes, kProgramSizeAt), bytes.size());
  size_t end = bytes.size();
  if (random() % 8 == 0) {
    first = kHeaderAt;
    end = kHeaderEnd;
  } else if (random() % 2 == 0) {
    first = find_word(bytes, abi::kProgramEntryMagic, random).value_or(first);
    end = std::min(first + kRecordBytes, end);
  }
  const size_t words = (end - first) / 4;
  if (words == 0) return;
  const size_t at = first + 4 * below(random, words);
  const uint32_t value = mutate_word(load_le<uint32_t>(bytes, at), 32, random);
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

Bytes with_schema(Bytes bytes, const Bytes& other, const uint8_t* schema, Random& random) {
  if (random() % 10 != 0 && mutate_flatbuffer(bytes, schema, random)) return bytes;
  return mutate(std::move(bytes), other, random);
}

}  // namespace

Bytes mutate_pte(Bytes bytes, const Bytes& other, Random& random) {
  switch (random() % 8) {
    case 0:
      if (change_axon(bytes, random)) return bytes;
      break;
    case 1:
      if (change_neutron(bytes, random)) return bytes;
      break;
    case 2:
      if (change_ethos_u(bytes, random)) return bytes;
      break;
    case 3:
      change_segments(bytes, random);
      return bytes;
    default:
      break;
  }
  return with_schema(std::move(bytes), other, formats::pte::fb::ProgramBinarySchema::data(),
                     random);
}

Bytes mutate_ptd(Bytes bytes, const Bytes& other, Random& random) {
  return with_schema(std::move(bytes), other, formats::ptd::fb::FlatTensorBinarySchema::data(),
                     random);
}

Bytes mutate_bundle(Bytes bytes, const Bytes& other, Random& random) {
  return with_schema(std::move(bytes), other,
                     formats::bundle::fb::BundledProgramBinarySchema::data(), random);
}

Bytes mutate_tflite(Bytes bytes, const Bytes& other, Random& random) {
  return with_schema(std::move(bytes), other, formats::tflite::fb::ModelBinarySchema::data(),
                     random);
}

}  // namespace thimble::fuzz
