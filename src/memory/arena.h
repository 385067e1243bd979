// SPDX-License-Identifier: Apache-2.0
#pragma once
// An arena that assigns an address to one buffer at a time. Use place() (placement.h) if all
// buffers are known before the first address is assigned.

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/placement.h"

namespace thimble::memory {

struct PlacedBuffer {
  Buffer buffer;
  int64_t offset = 0;  // in bytes
  bool operator==(const PlacedBuffer&) const = default;
};

class Arena {
 public:
  explicit Arena(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Adds a buffer that has an offset already.
  void add(const PlacedBuffer& placed) { placed_.push_back(placed); }
  /// Adds a buffer at the lowest offset that is free during its lifetime, and returns the offset;
  /// nullopt if the buffer would end above the limit.
  std::optional<int64_t> allocate(const Buffer& buffer);
  /// Removes a buffer that was added or allocated.
  void release(const PlacedBuffer& placed);
  /// Returns true if a buffer other than `placed` uses bytes of `placed` at this step.
  [[nodiscard]] bool is_shared(const PlacedBuffer& placed, int step) const;
  /// Returns the end of the highest buffer, in bytes.
  [[nodiscard]] int64_t peak_bytes() const;

 private:
  int64_t limit_bytes_;
  std::vector<PlacedBuffer> placed_;
};

}  // namespace thimble::memory
