// SPDX-License-Identifier: Apache-2.0
// Pools of images, signals and volumes. A signal is an image of height 1. The IR's pools ignore
// padding: they compute the maximum or mean of the elements inside the image. PyTorch's average
// pool counts padding by default; this padding becomes a `pad` by zeros. Padding that ceil_mode
// adds at the bottom and right is never counted.

#include <algorithm>

#include "import/handlers.h"
#include "import/image.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Pool {
  Image image;
  Ints kernel, stride, padding, dilation;  // height, width; a volume has the depth first
  bool ceil_mode = false;

  /// Returns the padding after the image, in rows or columns, that the last window needs.
  int64_t after(int64_t size, size_t i) const {
    if (!ceil_mode) return padding[i];
    const int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    const int64_t room = size + 2 * padding[i] - reach;
    int64_t windows = (room + stride[i] - 1) / stride[i] + 1;
    // A window that would start in the padding after the image is omitted.
    if ((windows - 1) * stride[i] >= size + padding[i]) --windows;
    return std::max<int64_t>(0, (windows - 1) * stride[i] + reach - size - padding[i]);
  }
};

/// Reads an argument with one number per spatial dimension; `fallback` if it is empty or omitted.
Result<Ints> read_sides(Call& call, std::string_view name, size_t rank,
                        std::optional<Ints> fallback = {}) {
  THIMBLE_TRY(Ints values, call.integers(name, fallback));
  if (values.empty() && fallback) values = *fallback;
  if (values.size() == 1) values.resize(rank, values[0]);
  if (values.size() == rank) return values;
  return bad_input("argument {} is {}, expected one or {} numbers", name, ir::list_text(values),
                   rank);
}

/// Reads everything except the image, with `rank` numbers per argument.
Result<Pool> read_windows(Call& call, size_t rank) {
  Pool pool;
  THIMBLE_TRY(pool.kernel, read_sides(call, "kernel_size", rank));
  THIMBLE_TRY(pool.stride, read_sides(call, "stride", rank, pool.kernel));
  THIMBLE_TRY(pool.padding, read_sides(call, "padding", rank, Ints(rank, 0)));
  THIMBLE_TRY(pool.dilation, read_sides(call, "dilation", rank, Ints(rank, 1)));
  THIMBLE_TRY(pool.ceil_mode, call.boolean("ceil_mode", false));
  for (size_t i = 0; i < rank; ++i) {
    const bool good = pool.kernel[i] > 0 && pool.kernel[i] < 65536 && pool.stride[i] > 0 &&
                      pool.stride[i] < 65536 && pool.padding[i] >= 0 && pool.dilation[i] > 0 &&
                      pool.dilation[i] < 65536 && pool.padding[i] <= pool.kernel[i] / 2;
    if (!good) return bad_input("the window is out of range");
  }
  return pool;
}

Result<Pool> read_pool(Call& call, size_t rank) {
  THIMBLE_TRY(Pool pool, read_windows(call, rank));
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(pool.image, as_image(call, x, rank));
  pool.kernel = as_2d(pool.kernel, rank, 1);
  pool.stride = as_2d(pool.stride, rank, 1);
  pool.padding = as_2d(pool.padding, rank, 0);
  pool.dilation = as_2d(pool.dilation, rank, 1);
  return pool;
}

/// Returns the image padded with zeros.
Result<ValueId> padded(Call& call, ValueId x, const Ints& before, const Ints& after) {
  return call.add(OpKind::pad, {x},
                  {{ir::attr::before, Ints{0, 0, before[0], before[1]}},
                   {ir::attr::after, Ints{0, 0, after[0], after[1]}}});
}

Result<ValueId> average(Call& call, const Pool& pool, ValueId x, Ints padding) {
  return call.add(OpKind::avg_pool2d, {x},
                  {{ir::attr::kernel, pool.kernel},
                   {ir::attr::stride, pool.stride},
                   {ir::attr::padding, std::move(padding)}});
}

Result<ValueId> add_max(Call& call, const Pool& pool) {
  const ir::Shape& shape = call.shape(pool.image.x);
  const Ints padding = {pool.padding[0], pool.padding[1], pool.after(shape[2], 0),
                        pool.after(shape[3], 1)};
  return call.add(OpKind::max_pool2d, {pool.image.x},
                  {{ir::attr::kernel, pool.kernel},
                   {ir::attr::stride, pool.stride},
                   {ir::attr::padding, padding},
                   {ir::attr::dilation, pool.dilation}});
}

Result<ValueId> add_avg(Call& call, const Pool& pool) {
  THIMBLE_TRY(const bool counts_padding, call.boolean("count_include_pad", true));
  const ir::Shape shape = call.shape(pool.image.x);
  const Ints& before = pool.padding;
  const Ints after = {pool.after(shape[2], 0), pool.after(shape[3], 1)};

  if (call.has("divisor_override")) {  // the sum over the whole window, divided by the divisor
    THIMBLE_TRY(const int64_t divisor, call.integer("divisor_override"));
    if (divisor == 0) return bad_input("divisor_override is 0");
    THIMBLE_TRY(const ValueId x, padded(call, pool.image.x, before, after));
    THIMBLE_TRY(const ValueId y, average(call, pool, x, {0, 0, 0, 0}));
    const double elements = static_cast<double>(pool.kernel[0] * pool.kernel[1]);
    return call.scaled(y, elements / static_cast<double>(divisor));
  }
  if (!counts_padding || (before[0] == 0 && before[1] == 0)) {
    return average(call, pool, pool.image.x, {before[0], before[1], after[0], after[1]});
  }
  // Counted padding may extend beyond the last window.
  const Ints extra = {std::max<int64_t>(0, after[0] - before[0]),
                      std::max<int64_t>(0, after[1] - before[1])};
  THIMBLE_TRY(const ValueId x, padded(call, pool.image.x, before, before));
  return average(call, pool, x, {0, 0, extra[0], extra[1]});
}

using AddPool = Result<ValueId> (*)(Call& call, const Pool& pool);

Status pooled(Call& call, size_t rank, AddPool add) {
  THIMBLE_TRY(const Pool pool, read_pool(call, rank));
  THIMBLE_TRY(const ValueId y, add(call, pool));
  return call.result(as_given(call, pool.image, y));
}

/// Pools a volume in two steps: first along the depth, in an image whose rows are whole slices,
/// then in each slice. For maxima and means this equals the 3-D pool.
Status pooled_volume(Call& call, AddPool add) {
  if (call.has("divisor_override")) return unsupported("divisor_override");
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  ir::Shape shape = call.shape(x);
  const bool has_batch = shape.size() == 5;
  if (!has_batch && shape.size() != 4) {
    return bad_input("the input has shape {}", ir::list_text(shape));
  }
  if (!has_batch) shape.insert(shape.begin(), 1);
  THIMBLE_TRY(const Pool all, read_windows(call, 3));
  Pool depth = all, slice = all;
  for (Ints Pool::*sides : {&Pool::kernel, &Pool::stride, &Pool::padding, &Pool::dilation}) {
    depth.*sides = {(all.*sides)[0], sides == &Pool::padding ? 0 : 1};
    slice.*sides = {(all.*sides)[1], (all.*sides)[2]};
  }
  THIMBLE_TRY(depth.image.x, call.reshape(x, {shape[0], shape[1], shape[2], shape[3] * shape[4]}));
  THIMBLE_TRY(ValueId y, add(call, depth));
  shape[2] = call.shape(y)[2];
  THIMBLE_TRY(slice.image.x, call.reshape(y, {shape[0], shape[1] * shape[2], shape[3], shape[4]}));
  THIMBLE_TRY(y, add(call, slice));
  shape[3] = call.shape(y)[2];
  shape[4] = call.shape(y)[3];
  if (!has_batch) shape.erase(shape.begin());
  return call.result(call.reshape(y, shape));
}

}  // namespace

namespace handlers {

Status avg_pool1d(Call& call) {
  return pooled(call, 1, add_avg);
}
Status avg_pool2d(Call& call) {
  return pooled(call, 2, add_avg);
}
Status avg_pool3d(Call& call) {
  return pooled_volume(call, add_avg);
}
Status max_pool1d(Call& call) {
  return pooled(call, 1, add_max);
}
Status max_pool2d(Call& call) {
  return pooled(call, 2, add_max);
}
Status max_pool3d(Call& call) {
  return pooled_volume(call, add_max);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
