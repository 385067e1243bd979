// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory of exactly the requested size: the address sanitizer detects every access outside of it.
// Without the sanitizer, a write to the guard bytes on both sides ends the program.

#include <cstdlib>
#include <cstring>

#include "tests/unit/runtime_support.h"

namespace thimble::fuzz {

class ExactMemory {
 public:
  explicit ExactMemory(size_t bytes, uint8_t fill_byte = 0) : memory_(bytes, fill_byte) {}
  explicit ExactMemory(ByteView bytes) : memory_(bytes) {}
  ExactMemory(const ExactMemory&) = delete;
  ExactMemory& operator=(const ExactMemory&) = delete;
  ~ExactMemory() {
    if (!memory_.intact()) std::abort();
  }

  [[nodiscard]] uint8_t* data() const { return memory_.data(); }
  [[nodiscard]] size_t size() const { return memory_.size(); }
  [[nodiscard]] bool equals(ByteView bytes) const {
    return size() == bytes.size() && (size() == 0 || memcmp(data(), bytes.data(), size()) == 0);
  }

 private:
  runtime_test::GuardedMemory memory_;
};

}  // namespace thimble::fuzz
