// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random numbers that are the same on each machine.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators,
/// scrambled").
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x2545F4914F6CDD1DU) {}

  uint32_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>(state_ * 0x2545F4914F6CDD1DU >> 32);
  }
  /// Returns a number below `limit`; 0 if the limit is 0.
  uint32_t below(size_t limit) { return limit == 0 ? 0 : (*this)() % static_cast<uint32_t>(limit); }

 private:
  uint64_t state_;
};

}  // namespace thimble::firmware
