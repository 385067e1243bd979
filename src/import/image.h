// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps operators on signals [C,L] and images [C,H,W], with or without a batch, to operators on
// [N,C,H,W].

#include "import/call.h"

namespace thimble::import_pt2 {

struct Image {
  ir::ValueId x = ir::kNoValue;  // has shape [N,C,H,W]
  size_t spatial = 2;            // spatial dimensions of the original: 1 (length) or 2
  bool has_batch = true;

  [[nodiscard]] int64_t extent(const Call& call, size_t side) const {
    return call.shape(x)[2 + side];
  }
};

/// Returns `x` with a batch dimension and, if `spatial` is 1, a height of 1.
Result<Image> as_image(Call& call, ir::ValueId x, size_t spatial);
/// Returns `y`, computed from the image, with the dimensions of the original.
Result<ir::ValueId> as_given(Call& call, const Image& image, ir::ValueId y);

/// Converts groups of `spatial` numbers to groups of height and width. A missing height is
/// `filler`.
[[nodiscard]] Ints as_2d(const Ints& values, size_t spatial, int64_t filler);

}  // namespace thimble::import_pt2
