// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the bytes that operator new allocates (all of malloc under the address sanitizer), to
// test upper bounds of memory use.

#include <cstddef>

namespace thimble::testing {

/// Maximum number of bytes allocated at once, beyond those allocated at construction.
class HeapPeak {
 public:
  HeapPeak();
  [[nodiscard]] size_t bytes() const;

 private:
  size_t start_;
};

}  // namespace thimble::testing
