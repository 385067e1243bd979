// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/payload.h"

#include "engines/ethos_u/isa/driver_payload.h"

namespace thimble::engine::ethos_u {

Result<std::vector<std::byte>> payload(const thimble::ethos_u::Config& config,
                                       const std::vector<uint32_t>& words) {
  using namespace thimble::ethos_u;  // NOLINT: names of the words
  const auto count = static_cast<uint32_t>(words.size());
  if (words.size() > kStreamWordsMax) {
    return unsupported("a command stream of {} words, at most {}", words.size(), kStreamWordsMax);
  }
  std::vector<uint32_t> all = {kCop1, kActionConfigWord, config_word(config),
                               id_word(config.generation)};
  while ((all.size() + 1) * 4 % kStreamAlignment != 0) all.push_back(kActionNothing);
  all.push_back(kActionStream | (count >> 16) << 8 | (count & 0xFFFF) << 16);
  all.insert(all.end(), words.begin(), words.end());
  std::vector<std::byte> bytes;
  bytes.reserve(all.size() * 4);
  for (const uint32_t word : all) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::byte>(word >> shift & 0xFF));
    }
  }
  return bytes;
}

}  // namespace thimble::engine::ethos_u
