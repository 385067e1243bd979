// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects constants for Program::constants. Equal contents are stored once.

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace thimble::formats::pte {

class ConstantPool {
 public:
  /// Returns the index for Tensor::data_buffer_idx: the same index for equal bytes, 0 for no bytes.
  /// The file stores constants at multiples of 16 bytes: a larger alignment is not supported.
  [[nodiscard]] uint32_t add(ByteView bytes, uint32_t alignment = 16);

  [[nodiscard]] const std::vector<Bytes>& constants() const { return constants_; }
  /// Returns the list for Program::constants and empties the pool.
  [[nodiscard]] std::vector<Bytes> take();

 private:
  std::vector<Bytes> constants_ = std::vector<Bytes>(1);
  /// The keys are views of the heap blocks in constants_, which do not move when it grows.
  std::unordered_map<std::string_view, uint32_t> index_of_;
};

}  // namespace thimble::formats::pte
