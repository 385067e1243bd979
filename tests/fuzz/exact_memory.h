#pragma once
// Memory of exactly the requested size, so that the address sanitizer detects every access after
// its end.

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace thimble::fuzz {

/// Zeros, aligned to 16 bytes.
class ExactMemory {
 public:
  explicit ExactMemory(size_t bytes)
      : data_(static_cast<uint8_t*>(::operator new(bytes, kAlignment))), bytes_(bytes) {
    std::memset(data_, 0, bytes);
  }
  ExactMemory(ExactMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ExactMemory& operator=(ExactMemory&&) = delete;
  ~ExactMemory() { ::operator delete(data_, kAlignment); }

  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] size_t size() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{16};
  uint8_t* data_;
  size_t bytes_;
};

}  // namespace thimble::fuzz
