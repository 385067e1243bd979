// SPDX-License-Identifier: Apache-2.0
// Adaptive pools: window i of an output of size n covers rows floor(i * size / n) to
// ceil((i + 1) * size / n). If all windows have the same size and distance, as is the case if n
// divides the size, this is an ordinary pool.

#include "import/handlers.h"
#include "import/image.h"
#include "import/linear_along.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Windows {
  bool regular = true;
  int64_t kernel = 1, stride = 1;  // valid if the windows are regular
};

Windows windows(int64_t size, int64_t count) {
  const auto first = [&](int64_t i) { return i * size / count; };
  const auto last = [&](int64_t i) { return ((i + 1) * size + count - 1) / count; };
  Windows result;
  result.kernel = last(0);
  result.stride = count > 1 ? first(1) : result.kernel;
  result.regular = result.stride > 0;
  for (int64_t i = 0; i < count && result.regular; ++i) {
    result.regular = first(i) == i * result.stride && last(i) - first(i) == result.kernel;
  }
  return result;
}

/// Reads `output_size`: one number, or one per spatial dimension. PyTorch exports None as the
/// extent.
Result<Ints> read_size(Call& call, const Image& image) {
  THIMBLE_TRY(Ints size, call.integers("output_size"));
  if (size.size() == 1) size.resize(image.spatial, size[0]);
  size = as_2d(size, image.spatial, 1);
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return bad_input("output_size is {}", ir::list_text(size));
  }
  if (size[0] > 65535 || size[1] > 65535) return unsupported("output_size {}", ir::list_text(size));
  return size;
}

Status adaptive_pool(Call& call, size_t rank, OpKind pool, OpKind adaptive) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Image image, as_image(call, x, rank));
  THIMBLE_TRY(const Ints size, read_size(call, image));
  const Windows rows = windows(image.extent(call, 0), size[0]);
  const Windows columns = windows(image.extent(call, 1), size[1]);
  ir::Attrs attrs = {{ir::attr::size, size}};
  const bool regular = rows.regular && columns.regular;
  if (regular) {
    attrs = {{ir::attr::kernel, Ints{rows.kernel, columns.kernel}},
             {ir::attr::stride, Ints{rows.stride, columns.stride}},
             {ir::attr::padding, Ints{0, 0, 0, 0}}};
    if (pool == OpKind::max_pool2d) attrs.set(ir::attr::dilation, Ints{1, 1});
  }
  THIMBLE_TRY(const ValueId y, call.add(regular ? pool : adaptive, {image.x}, std::move(attrs)));
  return call.result(as_given(call, image, y));
}

/// Returns the matrix [count, size] of the means of the windows.
ir::Tensor means(int64_t size, int64_t count) {
  ir::Tensor matrix = ir::zeros(ir::DType::kF32, {count, size});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = i * size / count, last = ((i + 1) * size + count - 1) / count;
    for (int64_t k = first; k < last; ++k) {
      matrix.data<float>()[static_cast<size_t>(i * size + k)] =
          1.0F / static_cast<float>(last - first);
    }
  }
  return matrix;
}

}  // namespace

namespace handlers {

/// A product with a matrix of means along each dimension.
Status adaptive_avg_pool3d(Call& call) {
  constexpr int64_t kSideMax = 1024;
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Ints size, call.spatial("output_size", 3, 1));
  const size_t rank = call.shape(x).size();
  if (rank != 4 && rank != 5) return bad_input("self is {}", ir::list_text(call.shape(x)));
  for (size_t side = 0; side < 3; ++side) {
    const size_t dim = rank - 3 + side;
    const int64_t extent = call.shape(x)[dim];
    if (size[side] == extent) continue;
    if (size[side] < 1) return bad_input("output_size is {}", ir::list_text(size));
    if (size[side] > kSideMax || extent > kSideMax) {
      return unsupported("from {} to {} elements", extent, size[side]);
    }
    THIMBLE_TRY(x, linear_along(call, x, dim, means(extent, size[side])));
  }
  return call.result(x);
}

Status adaptive_avg_pool1d(Call& call) {
  return adaptive_pool(call, 1, OpKind::avg_pool2d, OpKind::adaptive_avg_pool2d);
}
Status adaptive_avg_pool2d(Call& call) {
  return adaptive_pool(call, 2, OpKind::avg_pool2d, OpKind::adaptive_avg_pool2d);
}
Status adaptive_max_pool1d(Call& call) {
  return adaptive_pool(call, 1, OpKind::max_pool2d, OpKind::adaptive_max_pool2d);
}
Status adaptive_max_pool2d(Call& call) {
  return adaptive_pool(call, 2, OpKind::max_pool2d, OpKind::adaptive_max_pool2d);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
