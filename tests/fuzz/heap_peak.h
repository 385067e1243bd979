// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the bytes that operator new allocates (all of malloc under the address sanitizer), to
// test upper bounds of memory use.

#include <cstddef>

namespace thimble::testing {

/// Maximum of the bytes that were held at the same time since the construction, without those that
/// were held at the construction. Exact with one thread.
class HeapPeak {
 public:
  HeapPeak();
  [[nodiscard]] size_t bytes() const;

 private:
  size_t start_;
};

}  // namespace thimble::testing
