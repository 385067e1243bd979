// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writer of a command stream. Registers keep their values, so a register is not written again with
// the value that it already has.

#include <cstdint>
#include <map>
#include <vector>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::Generation;
using thimble::ethos_u::Operation;
using thimble::ethos_u::Reg0;
using thimble::ethos_u::Reg1;

class CommandStream {
 public:
  void set(Reg0 reg, int64_t value) {
    const uint32_t word =
        thimble::ethos_u::word0(static_cast<uint16_t>(reg), static_cast<uint32_t>(value) & 0xFFFFU);
    if (changes(word & 0xFFFFU, word)) words_.push_back(word);
  }
  /// Writes a 32-bit payload and the parameter.
  void set(Reg1 reg, int64_t payload, uint32_t parameter = 0) {
    const uint32_t word = thimble::ethos_u::word1(static_cast<uint16_t>(reg), parameter);
    const auto low = static_cast<uint32_t>(payload & 0xFFFFFFFF);
    if (changes(word & 0xFFFFU, uint64_t{word} << 32 | low)) {
      words_.push_back(word);
      words_.push_back(low);
    }
  }
  /// Writes an address or a stride of 40 bits.
  void set_address(Reg1 reg, int64_t value) {
    set(reg, value, static_cast<uint32_t>(value >> 32 & 0xFF));
  }
  void run(Operation operation, uint32_t parameter = 0) {
    words_.push_back(thimble::ethos_u::word0(static_cast<uint16_t>(operation), parameter));
  }
  [[nodiscard]] const std::vector<uint32_t>& words() const { return words_; }

 private:
  bool changes(uint32_t key, uint64_t value) {
    const auto [at, added] = registers_.try_emplace(key, value);
    if (!added && at->second == value) return false;
    at->second = value;
    return true;
  }
  std::vector<uint32_t> words_;
  std::map<uint32_t, uint64_t> registers_;
};

}  // namespace thimble::engine::ethos_u
