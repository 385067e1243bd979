// SPDX-License-Identifier: Apache-2.0
#pragma once
// A buffer at the alignment that the runtime, the delegates and the containers require, 16 bytes,
// and of a cache line, which calls beside a delegate require: 32 bytes.

#include <cstring>
#include <vector>

#include "base/bytes.h"

namespace thimble {

class AlignedBytes {
 public:
  /// `size` zero bytes. The data pointer of an empty buffer is not null.
  explicit AlignedBytes(size_t size) : size_(size), blocks_(size / sizeof(Block) + 1) {}
  explicit AlignedBytes(ByteView bytes) : AlignedBytes(bytes.size()) {
    if (size_ != 0) std::memcpy(data(), bytes.data(), size_);
  }

  [[nodiscard]] uint8_t* data() { return blocks_.data()->bytes; }
  [[nodiscard]] const uint8_t* data() const { return blocks_.data()->bytes; }
  /// Number of bytes, without the padding after them.
  [[nodiscard]] size_t size() const { return size_; }

 private:
  struct alignas(32) Block {
    uint8_t bytes[32];
  };
  size_t size_;
  std::vector<Block> blocks_;
};

}  // namespace thimble
