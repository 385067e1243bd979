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
  /// The index for Tensor::data_buffer_idx; equal bytes have the same index, and no bytes have 0.
  /// The file keeps constants at multiples of 16 from its start: no larger alignment is to be had.
  [[nodiscard]] uint32_t add(ByteView bytes, uint32_t alignment = 16);

  [[nodiscard]] const std::vector<Bytes>& constants() const { return constants_; }
  /// What Program::constants wants; the pool is empty afterwards.
  [[nodiscard]] std::vector<Bytes> take();

 private:
  std::vector<Bytes> constants_ = std::vector<Bytes>(1);
  /// The keys look into the heap blocks of constants_, which stay where they are as it grows.
  std::unordered_map<std::string_view, uint32_t> index_of_;
};

}  // namespace thimble::formats::pte
