// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of one dimension that the windows of a convolution or pool read.

#include <cstdint>

namespace thimble::interchange {

struct Extent {
  int64_t before = 0, after = 0;  // padding
  int64_t size = 0;               // size of the dimension without the elements that no window reads
  int64_t out = 0;                // number of windows
};

/// TOSA requires that the last window ends exactly at the padded end. Removes what no window reads:
/// first the padding, then elements. `window` is the extent of the dilated kernel.
inline Extent exact_extent(int64_t size, int64_t before, int64_t after, int64_t window,
                           int64_t stride) {
  const int64_t rest = (size + before + after - window) % stride;
  Extent e{before, after - rest, size, (size + before + after - window) / stride + 1};
  if (e.after < 0) {
    e.size += e.after;
    e.after = 0;
  }
  return e;
}

}  // namespace thimble::interchange
