// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input of the target ethos_u_run: the NPU's configuration, a seed for the content of memory, the
// size of the constants, the words of the stream, the constants.
//
//   0 u8 index of the configuration   1 u8 seed   2 u16 bytes of constants   4 words   .. constants

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/bytes.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::fuzz {

struct EthosURunInput {
  static constexpr size_t kHeaderBytes = 4;
  uint8_t config = 0;
  uint8_t seed = 0;
  std::vector<uint32_t> words;
  Bytes constants;
  size_t scratch_bytes = 24 << 10;  // not in the input: larger regions only take longer

  [[nodiscard]] const ethos_u::Config& npu() const {
    return ethos_u::kConfigs[config % std::size(ethos_u::kConfigs)];
  }
};

/// Accepts any bytes; what is missing is empty.
[[nodiscard]] inline EthosURunInput read_ethos_u_run(ByteView bytes) {
  EthosURunInput input;
  if (bytes.size() < EthosURunInput::kHeaderBytes) return input;
  input.config = std::to_integer<uint8_t>(bytes[0]);
  input.seed = std::to_integer<uint8_t>(bytes[1]);
  const size_t constants = std::min<size_t>(load_le<uint16_t>(bytes, 2), bytes.size() - 4);
  const ByteView tail = bytes.last(constants);
  input.constants.assign(tail.begin(), tail.end());
  input.words.resize((bytes.size() - EthosURunInput::kHeaderBytes - constants) / 4);
  for (size_t i = 0; i < input.words.size(); ++i) {
    input.words[i] = load_le<uint32_t>(bytes, EthosURunInput::kHeaderBytes + 4 * i);
  }
  return input;
}

[[nodiscard]] inline Bytes write_ethos_u_run(const EthosURunInput& input) {
  Bytes bytes;
  append_le(bytes, input.config);
  append_le(bytes, input.seed);
  append_le(bytes, static_cast<uint16_t>(std::min<size_t>(input.constants.size(), 0xFFFF)));
  for (const uint32_t word : input.words) append_le(bytes, word);
  append(bytes, input.constants);
  return bytes;
}

}  // namespace thimble::fuzz
