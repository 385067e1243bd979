// SPDX-License-Identifier: Apache-2.0
#pragma once
// Allocates arrays in the workspace for the duration of one operation.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/sim/memory.h"

namespace thimble::ethos_u::sim {

/// Returns the bytes of `count` elements, rounded up to the workspace's alignment; saturates.
[[nodiscard]] inline size_t scratch_bytes(uint64_t count, uint64_t element) {
  constexpr uint64_t kMost = SIZE_MAX / 4;
  if (count > kMost / element) return SIZE_MAX / 4;
  return static_cast<size_t>((count * element + 15) / 16 * 16);
}

class Scratch {
 public:
  explicit Scratch(const Workspace& workspace) {
    const size_t skew = (16 - reinterpret_cast<uintptr_t>(workspace.data) % 16) % 16;
    const size_t free = workspace.bytes > workspace.kept ? workspace.bytes - workspace.kept : 0;
    at_ = workspace.data + skew;
    left_ = free > skew ? free - skew : 0;
  }

  /// Allocates `count` elements; returns null if the workspace is too small.
  template <typename T>
  T* take(uint64_t count) {
    const size_t bytes = scratch_bytes(count, sizeof(T));
    if (bytes > left_) return nullptr;
    uint8_t* const taken = at_;
    at_ += bytes;
    left_ -= bytes;
    return reinterpret_cast<T*>(taken);
  }

 private:
  uint8_t* at_ = nullptr;
  size_t left_ = 0;
};

[[nodiscard]] inline Fault workspace_too_small() {
  return fault_of(FaultKind::kWorkspace, "the workspace is too small for an operation");
}

}  // namespace thimble::ethos_u::sim
