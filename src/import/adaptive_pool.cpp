// Adaptive pools: window i of an output of size n covers rows floor(i * size / n) to
// ceil((i + 1) * size / n). Where all windows have one size and distance (always if n divides the
// size) this is an ordinary pool; else every window is sliced out and the results joined.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr int64_t kWindowsMax = 256;  // of irregular pools: each is an operator

struct Windows {
  std::vector<std::pair<int64_t, int64_t>> spans;  // begin, end
  bool regular = true;
  int64_t kernel = 1, stride = 1;  // of regular ones
};

Windows windows(int64_t size, int64_t count) {
  Windows result;
  for (int64_t i = 0; i < count; ++i) {
    result.spans.emplace_back(i * size / count, ((i + 1) * size + count - 1) / count);
  }
  const auto& spans = result.spans;
  result.kernel = spans[0].second;
  result.stride = count > 1 ? spans[1].first : result.kernel;
  for (int64_t i = 0; i < count; ++i) {
    const auto& [begin, end] = spans[static_cast<size_t>(i)];
    result.regular = result.regular && result.stride > 0 && begin == i * result.stride &&
                     end - begin == result.kernel;
  }
  return result;
}

class AdaptivePool {
 public:
  AdaptivePool(Call& call, OpKind kind) : call_(call), kind_(kind) {}

  Result<ValueId> add(ValueId x, const Windows& rows, const Windows& columns) {
    if (rows.regular) return add_row(x, rows.kernel, rows.stride, columns);
    std::vector<ValueId> parts;
    for (const auto& [begin, end] : rows.spans) {
      THIMBLE_TRY(const ValueId band, slice(x, 2, begin, end));
      THIMBLE_TRY(const ValueId part, add_row(band, end - begin, end - begin, columns));
      parts.push_back(part);
    }
    return call_.add(OpKind::concat, parts, {{"dim", int64_t{2}}});
  }

 private:
  Result<ValueId> add_row(ValueId x, int64_t height, int64_t stride, const Windows& columns) {
    if (columns.regular) return pool(x, {height, columns.kernel}, {stride, columns.stride});
    std::vector<ValueId> parts;
    for (const auto& [begin, end] : columns.spans) {
      THIMBLE_TRY(const ValueId block, slice(x, 3, begin, end));
      THIMBLE_TRY(const ValueId part, pool(block, {height, end - begin}, {stride, end - begin}));
      parts.push_back(part);
    }
    return call_.add(OpKind::concat, parts, {{"dim", int64_t{3}}});
  }

  Result<ValueId> slice(ValueId x, int64_t dim, int64_t begin, int64_t end) {
    return call_.apply({slice_step(dim, begin, end)}, x);
  }

  Result<ValueId> pool(ValueId x, Ints kernel, Ints stride) {
    ir::Attrs attrs = {{"kernel", std::move(kernel)},
                       {"stride", std::move(stride)},
                       {"padding", Ints{0, 0, 0, 0}}};
    if (kind_ == OpKind::max_pool2d) attrs.set("dilation", Ints{1, 1});
    return call_.add(kind_, {x}, std::move(attrs));
  }

  Call& call_;
  OpKind kind_;
};

Status adaptive_pool(Call& call, OpKind kind) {
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Ints size, call.pair("output_size"));
  ir::Shape shape = call.shape(x);
  const bool has_batch = shape.size() == 4;
  if (shape.size() == 3) {
    shape.insert(shape.begin(), 1);
    THIMBLE_TRY(x, call.reshape(x, shape));
  }
  if (shape.size() != 4) return bad_input("the input has shape {}", ir::list_text(shape));
  if (size[0] < 1 || size[1] < 1) return bad_input("output_size is {}", ir::list_text(size));
  if (size[0] > 65535 || size[1] > 65535) return unsupported("output_size {}", ir::list_text(size));
  const Windows rows = windows(shape[2], size[0]);
  const Windows columns = windows(shape[3], size[1]);
  const int64_t count = (rows.regular ? 1 : size[0]) * (columns.regular ? 1 : size[1]);
  if (count > kWindowsMax) {
    return unsupported("{} windows of unequal size, {} at most", count, kWindowsMax);
  }
  THIMBLE_TRY(ValueId y, AdaptivePool(call, kind).add(x, rows, columns));
  if (!has_batch) {
    ir::Shape unbatched = call.shape(y);
    unbatched.erase(unbatched.begin());
    THIMBLE_TRY(y, call.reshape(y, unbatched));
  }
  return call.result(y);
}

}  // namespace

namespace handlers {

Status adaptive_avg_pool2d(Call& call) {
  return adaptive_pool(call, OpKind::avg_pool2d);
}
Status adaptive_max_pool2d(Call& call) {
  return adaptive_pool(call, OpKind::max_pool2d);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
