#pragma once
// Operators on signals [C,L] and images [C,H,W], with or without a batch, as operators on
// [N,C,H,W].

#include "import/call.h"

namespace thimble::import_pt2 {

struct Image {
  ir::ValueId x = ir::kNoValue;  // [N,C,H,W]
  size_t spatial = 2;            // dimensions that were given: 1 (of length) or 2
  bool has_batch = true;

  [[nodiscard]] int64_t extent(const Call& call, size_t side) const {
    return call.shape(x)[2 + side];
  }
};

/// `x` with a batch and, if `spatial` is 1, a height of 1.
Result<Image> as_image(Call& call, ir::ValueId x, size_t spatial);
/// A result computed from the image, with the dimensions that were given.
Result<ir::ValueId> as_given(Call& call, const Image& image, ir::ValueId y);

/// `spatial` numbers per side as two of height and width; a missing height is `filler`.
[[nodiscard]] Ints as_2d(const Ints& values, size_t spatial, int64_t filler);

}  // namespace thimble::import_pt2
