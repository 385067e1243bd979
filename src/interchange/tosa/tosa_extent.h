#pragma once
// What the windows of a convolution or pool read of one dimension.

#include <cstdint>

namespace thimble::interchange {

struct Extent {
  int64_t before = 0, after = 0;  // padding
  int64_t size = 0;               // of the dimension, what no window reads cut off
  int64_t out = 0;                // windows
};

/// TOSA wants the last window to end exactly at the padded end: what no window reads is cut off,
/// padding first. `window` counts its dilation.
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
