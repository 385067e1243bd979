#pragma once
// Counts what operator new hands out, to test promises about memory.

#include <cstddef>

namespace thimble::testing {

/// The most bytes that were held at once, beyond those held when this was made.
class HeapPeak {
 public:
  HeapPeak();
  [[nodiscard]] size_t bytes() const;

 private:
  size_t start_;
};

}  // namespace thimble::testing
