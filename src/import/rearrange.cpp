// SPDX-License-Identifier: Apache-2.0
// Operators that rearrange elements: by indices known at import, or by splitting and permuting
// dimensions (pixel and channel shuffles).

#include <algorithm>
#include <numeric>

#include "import/handlers.h"
#include "import/image.h"
#include "import/select_along.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr int64_t kWindowMax = 65535;  // of each side of a window, its dilation and its stride

size_t place(int64_t dim) {
  return static_cast<size_t>(dim);
}

/// Element i of the result is element i - shift, modulo the size of the dimension.
Result<ValueId> rolled(Call& call, ValueId x, size_t dim, int64_t shift) {
  const int64_t size = call.shape(x)[dim];
  THIMBLE_CHECK(call.check_list(size));
  const int64_t first = ((-shift) % size + size) % size;
  Ints positions;
  positions.reserve(place(size));
  for (int64_t i = 0; i < size; ++i) positions.push_back((first + i) % size);
  return select_along(call, x, dim, positions);
}

Status flipped(Call& call, ValueId x, const Ints& dims) {
  const ir::Shape shape = call.shape(x);
  for (const int64_t dim : dims) {
    if (shape.empty()) break;
    if (place(dim) >= shape.size())
      return bad_input("the input has shape {}", ir::list_text(shape));
    THIMBLE_CHECK(call.check_list(shape[place(dim)]));
    Ints positions(place(shape[place(dim)]));
    std::iota(positions.rbegin(), positions.rend(), 0);
    THIMBLE_TRY(x, select_along(call, x, place(dim), positions));
  }
  return call.result(x);
}

/// Reshapes to `split`, permutes by `dims`, and reshapes to `joined`.
Result<ValueId> shuffled(Call& call, ValueId x, ir::Shape split, Ints dims, ir::Shape joined) {
  THIMBLE_TRY(x, call.reshape(x, std::move(split)));
  THIMBLE_TRY(x, call.add(OpKind::permute, {x}, {{ir::attr::dims, std::move(dims)}}));
  return call.reshape(x, std::move(joined));
}

/// A tensor whose last three dimensions are channels, height and width. The dimensions before them
/// are merged into one.
struct Pixels {
  ValueId x = ir::kNoValue;
  ir::Shape leading;
  int64_t n = 1, c = 1, h = 1, w = 1;
};

Result<Pixels> read_pixels(Call& call) {
  Pixels pixels;
  THIMBLE_TRY(pixels.x, call.any_tensor("self"));
  const ir::Shape shape = call.shape(pixels.x);
  if (shape.size() < 3) return bad_input("the input has shape {}", ir::list_text(shape));
  pixels.leading.assign(shape.begin(), shape.end() - 3);
  pixels.n = ir::element_count(pixels.leading);
  pixels.c = shape[shape.size() - 3];
  pixels.h = shape[shape.size() - 2];
  pixels.w = shape[shape.size() - 1];
  return pixels;
}

ir::Shape with_leading(const Pixels& pixels, int64_t c, int64_t h, int64_t w) {
  ir::Shape shape = pixels.leading;
  shape.insert(shape.end(), {c, h, w});
  return shape;
}

/// Reads the repeat count of each element: one number, or a constant tensor with one number per
/// element.
Result<Ints> read_repeats(Call& call, int64_t size) {
  THIMBLE_CHECK(call.check_list(size));
  if (!call.is_tensor("repeats")) {
    THIMBLE_TRY(const int64_t repeats, call.integer("repeats"));
    return Ints(place(size), repeats);
  }
  THIMBLE_TRY(const ir::Tensor* const tensor, call.constant("repeats"));
  const auto numbers = tensor->data<float>();
  Ints repeats;
  for (const float number : numbers) {
    if (!(number >= 0 && double{number} <= static_cast<double>(ir::kMaxElements))) {
      return bad_input("a repeat is {}, expected 0 to {}", number, ir::kMaxElements);
    }
    repeats.push_back(static_cast<int64_t>(number));
  }
  if (repeats.size() == 1) repeats.resize(place(size), repeats[0]);
  if (static_cast<int64_t>(repeats.size()) == size) return repeats;
  return bad_input("{} repeats of {} elements", repeats.size(), size);
}

Result<ValueId> flat(Call& call, ValueId x) {
  return call.reshape(x, {ir::element_count(call.shape(x))});
}

/// Splits `dim` into `count` windows of `size` elements. The number of windows replaces the size of
/// `dim`; the elements of a window form a new dimension after `dim`.
Result<ValueId> windows(Call& call, ValueId x, size_t dim, int64_t count, int64_t size,
                        int64_t step, int64_t dilation) {
  THIMBLE_CHECK(call.check_list(count * size));
  Ints positions;
  positions.reserve(place(count * size));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < size; ++k) positions.push_back(i * step + k * dilation);
  }
  THIMBLE_TRY(x, select_along(call, x, dim, positions));
  ir::Shape shape = call.shape(x);
  shape[dim] = count;
  shape.insert(shape.begin() + static_cast<int64_t>(dim) + 1, size);
  return call.reshape(x, std::move(shape));
}

}  // namespace

namespace handlers {

Status flip(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const Ints dims, call.dimensions("dims", call.shape(x).size()));
  return flipped(call, x, dims);
}
Status fliplr(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  return flipped(call, x, {1});
}
Status flipud(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  return flipped(call, x, {0});
}

Status roll(Call& call) {
  THIMBLE_TRY(ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const Ints shifts, call.integers("shifts"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(Ints dims, call.integers("dims", Ints{}));
  if (dims.empty()) {  // rolls the flattened tensor
    if (shifts.size() != 1) return bad_input("{} shifts without dims", shifts.size());
    THIMBLE_TRY(x, flat(call, x));
    THIMBLE_TRY(x, rolled(call, x, 0, shifts[0]));
    return call.result(call.reshape(x, shape));
  }
  THIMBLE_TRY(dims, call.dimensions("dims", shape.size()));
  if (dims.size() != shifts.size() || shape.empty()) {
    return bad_input("{} shifts and {} dims", shifts.size(), dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    THIMBLE_TRY(x, rolled(call, x, place(dims[i]), shifts[i]));
  }
  return call.result(x);
}

Status repeat_interleave(Call& call) {
  THIMBLE_TRY(ValueId x, call.any_tensor("self"));
  if (!call.has("dim")) {
    THIMBLE_TRY(x, flat(call, x));
  }
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), 0));
  if (call.shape(x).empty()) return bad_input("the input is a scalar");
  const int64_t size = call.shape(x)[place(dim)];
  THIMBLE_TRY(const Ints repeats, read_repeats(call, size));
  int64_t total = 0;
  for (const int64_t count : repeats) {
    if (count < 0) return bad_input("a repeat is {}, expected at least 0", count);
    total += count;
  }
  if (total == 0) return unsupported("the result is empty");
  THIMBLE_CHECK(call.check_list(total));
  Ints positions;
  positions.reserve(place(total));
  for (int64_t i = 0; i < size; ++i) {
    positions.insert(positions.end(), place(repeats[place(i)]), i);
  }
  return call.result(select_along(call, x, place(dim), positions));
}

Status pixel_shuffle(Call& call) {
  THIMBLE_TRY(const Pixels p, read_pixels(call));
  THIMBLE_TRY(const int64_t r, call.integer("upscale_factor"));
  if (r < 1 || r > 65535 || p.c % (r * r) != 0) {
    return bad_input("upscale_factor {} for {} channels", r, p.c);
  }
  const int64_t c = p.c / (r * r);
  return call.result(shuffled(call, p.x, {p.n, c, r, r, p.h, p.w}, {0, 1, 4, 2, 5, 3},
                              with_leading(p, c, p.h * r, p.w * r)));
}

Status pixel_unshuffle(Call& call) {
  THIMBLE_TRY(const Pixels p, read_pixels(call));
  THIMBLE_TRY(const int64_t r, call.integer("downscale_factor"));
  if (r < 1 || r > 65535 || p.h % r != 0 || p.w % r != 0) {
    return bad_input("downscale_factor {} for height {} and width {}", r, p.h, p.w);
  }
  const int64_t h = p.h / r;
  const int64_t w = p.w / r;
  return call.result(shuffled(call, p.x, {p.n, p.c, h, r, w, r}, {0, 1, 3, 5, 2, 4},
                              with_leading(p, p.c * r * r, h, w)));
}

Status channel_shuffle(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t groups, call.integer("groups"));
  const ir::Shape shape = call.shape(x);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    return bad_input("{} groups for shape {}", groups, ir::list_text(shape));
  }
  const int64_t plane = ir::element_count(shape) / (shape[0] * shape[1]);
  return call.result(
      shuffled(call, x, {shape[0], groups, shape[1] / groups, plane}, {0, 2, 1, 3}, shape));
}

/// torch.Tensor.unfold: the elements of a window become the last dimension.
Status unfold(Call& call) {
  THIMBLE_TRY(ValueId x, call.any_tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dimension", shape.size()));
  THIMBLE_TRY(const int64_t size, call.integer("size"));
  THIMBLE_TRY(const int64_t step, call.integer("step"));
  if (shape.empty()) return unsupported("a scalar");
  const int64_t extent = shape[place(dim)];
  if (size < 1 || size > extent || step < 1) {
    return bad_input("windows of {} elements, {} apart, of {}", size, step, extent);
  }
  THIMBLE_TRY(x, windows(call, x, place(dim), (extent - size) / step + 1, size, step, 1));
  Ints dims;
  for (int64_t i = 0; i <= static_cast<int64_t>(shape.size()); ++i) {
    if (i != dim + 1) dims.push_back(i);
  }
  dims.push_back(dim + 1);
  return call.result(call.add(OpKind::permute, {x}, {{ir::attr::dims, dims}}));
}

/// torch.nn.functional.unfold: [N,C,H,W] to [N, C * taps, windows].
Status im2col(Call& call) {
  THIMBLE_TRY(const ValueId given, call.tensor("self"));
  THIMBLE_TRY(Image image, as_image(call, given, 2));
  THIMBLE_TRY(const Ints kernel, call.spatial("kernel_size", 2, 1));
  THIMBLE_TRY(const Ints dilation, call.spatial("dilation", 2, 1));
  THIMBLE_TRY(const Ints padding, call.spatial("padding", 2, 0));
  THIMBLE_TRY(const Ints stride, call.spatial("stride", 2, 1));
  const Ints sides = {0, 0, padding[0], padding[1]};
  THIMBLE_TRY(ValueId x, call.add(OpKind::pad, {image.x},
                                  {{ir::attr::before, sides}, {ir::attr::after, sides}}));
  Ints counts;
  for (size_t side = 0; side < 2; ++side) {
    for (const int64_t value : {kernel[side], dilation[side], stride[side]}) {
      if (value < 1 || value > kWindowMax) {
        return bad_input("a kernel size, dilation or stride is {}, expected 1 to {}", value,
                         kWindowMax);
      }
    }
    const int64_t room = call.shape(x)[2 + side] - (kernel[side] - 1) * dilation[side] - 1;
    if (room < 0) {
      return bad_input("a kernel of {} elements with dilation {} is larger than the image, {}",
                       kernel[side], dilation[side], call.shape(x)[2 + side]);
    }
    counts.push_back(room / stride[side] + 1);
  }
  // The width is split first, so that the height remains dimension 2.
  THIMBLE_TRY(x, windows(call, x, 3, counts[1], kernel[1], stride[1], dilation[1]));
  THIMBLE_TRY(x, windows(call, x, 2, counts[0], kernel[0], stride[0], dilation[0]));
  const ir::Shape& shape = call.shape(x);  // N, C, rows, kernel_h, columns, kernel_w
  const ir::Shape joined = {shape[0], shape[1] * kernel[0] * kernel[1], counts[0] * counts[1]};
  THIMBLE_TRY(x, call.add(OpKind::permute, {x}, {{ir::attr::dims, Ints{0, 1, 3, 5, 2, 4}}}));
  return call.result(call.reshape(x, image.has_batch ? joined : ir::Shape{joined[1], joined[2]}));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
