#pragma once
// Collects constants for Program::constants, each content once.

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace thimble::formats::pte {

class ConstantPool {
 public:
  /// The index for Tensor::data_buffer_idx; equal bytes have the same index. Every constant lies at
  /// a multiple of 16 from the start of the file, so an `alignment` above that is not to be had.
  [[nodiscard]] uint32_t add(ByteView bytes, uint32_t alignment = 16);

  [[nodiscard]] const std::vector<Bytes>& constants() const { return constants_; }
  /// What Program::constants wants; the pool is empty afterwards.
  [[nodiscard]] std::vector<Bytes> take();

 private:
  std::vector<Bytes> constants_ = std::vector<Bytes>(1);
  std::unordered_multimap<size_t, uint32_t> index_of_hash_;
};

}  // namespace thimble::formats::pte
