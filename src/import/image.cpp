// SPDX-License-Identifier: Apache-2.0
#include "import/image.h"

namespace thimble::import_pt2 {

using ir::ValueId;

Result<Image> as_image(Call& call, ValueId x, size_t spatial) {
  Image image{x, spatial, true};
  ir::Shape shape = call.shape(x);
  if (shape.size() != spatial + 1 && shape.size() != spatial + 2) {
    return bad_input("the input has shape {}, expected rank {} or {}", ir::list_text(shape),
                     spatial + 1, spatial + 2);
  }
  image.has_batch = shape.size() == spatial + 2;
  if (!image.has_batch) shape.insert(shape.begin(), 1);
  if (spatial == 1) shape.insert(shape.end() - 1, 1);
  THIMBLE_TRY(image.x, call.reshape(x, std::move(shape)));
  return image;
}

Result<ValueId> as_given(Call& call, const Image& image, ValueId y) {
  ir::Shape shape = call.shape(y);
  if (image.spatial == 1) shape.erase(shape.begin() + 2);
  if (!image.has_batch) shape.erase(shape.begin());
  return call.reshape(y, std::move(shape));
}

Ints as_2d(const Ints& values, size_t spatial, int64_t filler) {
  if (spatial == 2) return values;
  Ints result;
  for (const int64_t value : values) {
    result.push_back(filler);
    result.push_back(value);
  }
  return result;
}

}  // namespace thimble::import_pt2
