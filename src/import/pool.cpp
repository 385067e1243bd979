// Pools of height and width. The IR's pools see padding as "no element": a maximum or mean over
// what lies in the image. PyTorch's average pool counts padding by default, which becomes a `pad`
// by zeros; what ceil_mode adds at the bottom and right is never counted.

#include <algorithm>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Pool {
  ValueId x = ir::kNoValue;  // [N,C,H,W]
  bool has_batch = true;
  Ints kernel, stride, padding, dilation;  // of height and width
  bool ceil_mode = false;

  /// Rows or columns after the image, beyond `padding[i]` before it, that the last window needs.
  int64_t after(int64_t size, size_t i) const {
    if (!ceil_mode) return padding[i];
    const int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    const int64_t room = size + 2 * padding[i] - reach;
    int64_t windows = (room + stride[i] - 1) / stride[i] + 1;
    // A window that would begin in the padding after the image is left out.
    if ((windows - 1) * stride[i] >= size + padding[i]) --windows;
    return std::max<int64_t>(0, (windows - 1) * stride[i] + reach - size - padding[i]);
  }
};

Result<Pool> read_pool(Call& call) {
  Pool pool;
  THIMBLE_TRY(pool.x, call.tensor("self"));
  ir::Shape shape = call.shape(pool.x);
  pool.has_batch = shape.size() == 4;
  if (shape.size() == 3) {
    shape.insert(shape.begin(), 1);
    THIMBLE_TRY(pool.x, call.reshape(pool.x, shape));
  }
  if (shape.size() != 4) return bad_input("the input has shape {}", ir::list_text(shape));
  THIMBLE_TRY(pool.kernel, call.pair("kernel_size"));
  THIMBLE_TRY(pool.stride, call.pair("stride", pool.kernel));
  THIMBLE_TRY(pool.padding, call.pair("padding", Ints{0, 0}));
  THIMBLE_TRY(pool.dilation, call.pair("dilation", Ints{1, 1}));
  THIMBLE_TRY(pool.ceil_mode, call.boolean("ceil_mode", false));
  for (size_t i = 0; i < 2; ++i) {
    const bool good = pool.kernel[i] > 0 && pool.kernel[i] < 65536 && pool.stride[i] > 0 &&
                      pool.stride[i] < 65536 && pool.padding[i] >= 0 && pool.dilation[i] > 0 &&
                      pool.dilation[i] < 65536 && pool.padding[i] <= pool.kernel[i] / 2;
    if (!good) return bad_input("the window is out of range");
  }
  return pool;
}

Status finish(Call& call, const Pool& pool, ValueId y) {
  if (!pool.has_batch) {
    ir::Shape shape = call.shape(y);
    shape.erase(shape.begin());
    THIMBLE_TRY(y, call.reshape(y, shape));
  }
  return call.result(y);
}

/// The image with its padding as zeros.
Result<ValueId> padded(Call& call, ValueId x, const Ints& before, const Ints& after) {
  return call.add(
      OpKind::pad, {x},
      {{"before", Ints{0, 0, before[0], before[1]}}, {"after", Ints{0, 0, after[0], after[1]}}});
}

Result<ValueId> average(Call& call, const Pool& pool, ValueId x, Ints padding) {
  return call.add(
      OpKind::avg_pool2d, {x},
      {{"kernel", pool.kernel}, {"stride", pool.stride}, {"padding", std::move(padding)}});
}

}  // namespace

namespace handlers {

Status max_pool2d(Call& call) {
  THIMBLE_TRY(const Pool pool, read_pool(call));
  const ir::Shape& shape = call.shape(pool.x);
  const Ints padding = {pool.padding[0], pool.padding[1], pool.after(shape[2], 0),
                        pool.after(shape[3], 1)};
  THIMBLE_TRY(const ValueId y, call.add(OpKind::max_pool2d, {pool.x},
                                        {{"kernel", pool.kernel},
                                         {"stride", pool.stride},
                                         {"padding", padding},
                                         {"dilation", pool.dilation}}));
  return finish(call, pool, y);
}

Status avg_pool2d(Call& call) {
  THIMBLE_TRY(const Pool pool, read_pool(call));
  THIMBLE_TRY(const bool counts_padding, call.boolean("count_include_pad", true));
  const ir::Shape shape = call.shape(pool.x);
  const Ints& before = pool.padding;
  const Ints after = {pool.after(shape[2], 0), pool.after(shape[3], 1)};

  if (call.has("divisor_override")) {  // a sum over the whole window, divided by something else
    THIMBLE_TRY(const int64_t divisor, call.integer("divisor_override"));
    if (divisor == 0) return bad_input("divisor_override is 0");
    THIMBLE_TRY(const ValueId x, padded(call, pool.x, before, after));
    THIMBLE_TRY(ValueId y, average(call, pool, x, {0, 0, 0, 0}));
    const double elements = static_cast<double>(pool.kernel[0] * pool.kernel[1]);
    THIMBLE_TRY(y, call.scaled(y, elements / static_cast<double>(divisor)));
    return finish(call, pool, y);
  }
  if (!counts_padding || (before[0] == 0 && before[1] == 0)) {
    THIMBLE_TRY(const ValueId y,
                average(call, pool, pool.x, {before[0], before[1], after[0], after[1]}));
    return finish(call, pool, y);
  }
  // Counted padding may be more than the last window reaches.
  const Ints extra = {std::max<int64_t>(0, after[0] - before[0]),
                      std::max<int64_t>(0, after[1] - before[1])};
  THIMBLE_TRY(const ValueId x, padded(call, pool.x, before, before));
  THIMBLE_TRY(const ValueId y, average(call, pool, x, {0, 0, extra[0], extra[1]}));
  return finish(call, pool, y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
