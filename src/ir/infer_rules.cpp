// SPDX-License-Identifier: Apache-2.0
#include "ir/infer_rules.h"

#include <algorithm>

namespace thimble::ir {
namespace {

// Upper bound of kernel sizes, strides, paddings and extents; sums of such numbers do not overflow.
constexpr int64_t kEntryMax = 65535;
constexpr std::string_view kSide[2] = {"height", "width"};

Status finish_window(const InferContext& c, Window& window) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t input = c.shape(0)[2 + i];
    window.output[i] = window_extent(input, window.before[i], window.after[i], window.kernel[i],
                                     window.stride[i], window.dilation[i]);
    if (window.output[i] < 1) {
      return bad_input(
          "the window does not fit: {} {} with padding {} and {}, kernel {}, "
          "dilation {}",
          kSide[i], input, window.before[i], window.after[i], window.kernel[i], window.dilation[i]);
    }
  }
  return ok();
}

/// Reads stride, padding and, if the operator has it, dilation.
Status read_steps(const InferContext& c, Window& window) {
  const auto& stride = c.op().get(attr::stride);
  const auto& padding = c.op().get(attr::padding);
  THIMBLE_CHECK(c.expect_integers(attr::stride, 2, 1));
  THIMBLE_CHECK(c.expect_integers(attr::padding, 4, 0));
  if (has_attr(c.op().kind, attr::dilation)) {
    const auto& dilation = c.op().get(attr::dilation);
    THIMBLE_CHECK(c.expect_integers(attr::dilation, 2, 1));
    window.dilation = {dilation[0], dilation[1]};
  }
  window.stride = {stride[0], stride[1]};
  window.before = {padding[0], padding[1]};
  window.after = {padding[2], padding[3]};
  return ok();
}

/// Returns true if every window along one side covers at least one element of the input. (A pool of
/// no elements is undefined.)
bool every_window_has_an_element(const Window& window, size_t side, int64_t input) {
  const int64_t step = window.dilation[side];
  for (int64_t i = 0; i < window.output[side]; ++i) {
    const int64_t start = i * window.stride[side] - window.before[side];
    // Only the windows that begin in the padding and the last one can be empty.
    if (start >= 0) break;
    const int64_t first_tap = (-start + step - 1) / step;
    if (first_tap >= window.kernel[side] || start + first_tap * step >= input) return false;
  }
  return (window.output[side] - 1) * window.stride[side] - window.before[side] < input;
}

}  // namespace

std::string InferContext::describe(size_t i) const {
  const auto& infos = op_info(op_.kind).operands;
  const OperandInfo& info = infos[std::min(i, infos.size() - 1)];
  const std::string index =
      info.variadic ? fmt::format("[{}]", i - (infos.size() - 1)) : std::string();
  return fmt::format("{}{} (%{}) is {}", info.name, index, value(i).name,
                     type_text(type(i).dtype, shape(i)));
}

Status InferContext::expect_dtype(size_t i, DType dtype) const {
  if (type(i).dtype == dtype) return ok();
  return bad_input("{}, expected {}", describe(i), dtype_name(dtype));
}

Status InferContext::expect_dtypes(size_t count, DType dtype) const {
  for (size_t i = 0; i < count; ++i) {
    if (has(i)) THIMBLE_CHECK(expect_dtype(i, dtype));
  }
  return ok();
}

Status InferContext::expect_rank(size_t i, size_t rank) const {
  if (shape(i).size() == rank) return ok();
  return bad_input("{}, expected rank {}", describe(i), rank);
}

Status InferContext::expect_shape(size_t i, const Shape& expected) const {
  if (shape(i) == expected) return ok();
  return bad_input("{}, expected {}", describe(i), type_text(type(i).dtype, expected));
}

Status InferContext::expect_constant(size_t i) const {
  if (value(i).constant != nullptr) return ok();
  return bad_input("{}, expected a constant", describe(i));
}

Status InferContext::expect_range(AttrKey<int64_t> key, int64_t low, int64_t high) const {
  const int64_t found = get(key);
  if (found >= low && found <= high) return ok();
  return bad_input("{} is {}, expected {} to {}", attr_name(key), found, low, high);
}

Status InferContext::expect_integers(AttrKey<std::vector<int64_t>> key, size_t count,
                                     int64_t low) const {
  const auto& values = get(key);
  bool good = values.size() == count;
  for (const int64_t value : values) good = good && value >= low && value <= kEntryMax;
  if (good) return ok();
  return bad_input("{} is {}, expected {} numbers from {} to {}", attr_name(key), list_text(values),
                   count, low, kEntryMax);
}

Result<size_t> InferContext::dimension(size_t i) const {
  if (shape(i).empty()) return bad_input("{}, which has no dimension", describe(i));
  THIMBLE_CHECK(expect_range(attr::dim, 0, static_cast<int64_t>(shape(i).size()) - 1));
  return static_cast<size_t>(get(attr::dim));
}

Result<std::vector<bool>> InferContext::dimensions(size_t i) const {
  const auto& dims = op_.get(attr::dims);
  std::vector<bool> named(shape(i).size(), false);
  bool good = !dims.empty();
  for (const int64_t dim : dims) {
    good = good && dim >= 0 && static_cast<size_t>(dim) < named.size() &&
           !named[static_cast<size_t>(dim)];
    if (good) named[static_cast<size_t>(dim)] = true;
  }
  if (good) return named;
  return bad_input("dims is {}, expected different dimensions of {}", list_text(dims),
                   list_text(shape(i)));
}

Result<Window> convolution_window(const InferContext& c, int64_t kernel_h, int64_t kernel_w) {
  Window window;
  window.kernel = {kernel_h, kernel_w};
  THIMBLE_CHECK(read_steps(c, window));
  THIMBLE_CHECK(finish_window(c, window));
  return window;
}

Result<Window> pool_window(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(0, 4));
  Window window;
  const auto& kernel = c.op().get(attr::kernel);
  THIMBLE_CHECK(c.expect_integers(attr::kernel, 2, 1));
  window.kernel = {kernel[0], kernel[1]};
  THIMBLE_CHECK(read_steps(c, window));
  THIMBLE_CHECK(finish_window(c, window));
  for (size_t i = 0; i < 2; ++i) {
    if (every_window_has_an_element(window, i, c.shape(0)[2 + i])) continue;
    return bad_input(
        "a window is entirely in the padding: {} {} with padding {} and {}, "
        "kernel {}, stride {}, dilation {}",
        kSide[i], c.shape(0)[2 + i], window.before[i], window.after[i], window.kernel[i],
        window.stride[i], window.dilation[i]);
  }
  return window;
}

Result<Shape> broadcast_rule(const InferContext& c) {
  auto shape = broadcast_shape(c.shape(0), c.shape(1));
  if (shape) return *std::move(shape);
  return bad_input("{} and {}, which do not broadcast", c.describe(0), c.describe(1));
}

Result<Shape> convolution_rule(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(0, 4));
  THIMBLE_CHECK(c.expect_rank(1, 4));
  const Shape& x = c.shape(0);
  const Shape& w = c.shape(1);
  const int64_t groups = c.get(attr::groups);
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0) {
    return bad_input("groups is {}, expected a divisor of the {} input and {} output channels",
                     groups, x[1], w[0]);
  }
  THIMBLE_CHECK(c.expect_shape(1, {w[0], x[1] / groups, w[2], w[3]}));
  if (c.has(2)) THIMBLE_CHECK(c.expect_shape(2, {w[0]}));
  THIMBLE_TRY(const Window window, convolution_window(c, w[2], w[3]));
  return Shape{x[0], w[0], window.output[0], window.output[1]};
}

Result<Shape> linear_rule(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(1, 2));
  Shape shape = c.shape(0);
  const Shape& w = c.shape(1);
  if (shape.empty() || shape.back() != w[1]) {
    return bad_input("{} and {}, expected the same last size", c.describe(0), c.describe(1));
  }
  if (c.has(2)) THIMBLE_CHECK(c.expect_shape(2, {w[0]}));
  shape.back() = w[0];
  return shape;
}

Result<Shape> matmul_rule(const InferContext& c) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (c.shape(i).size() < 2) return bad_input("{}, expected rank 2 or more", c.describe(i));
  }
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  const bool transposed = c.get(attr::transpose_b) != 0;
  const int64_t depth = b[b.size() - (transposed ? 1 : 2)];
  const int64_t columns = b[b.size() - (transposed ? 2 : 1)];
  auto shape = broadcast_shape(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (a.back() != depth || !shape) {
    return bad_input("{} and {}{}, which do not multiply", c.describe(0), c.describe(1),
                     transposed ? " transposed" : "");
  }
  shape->push_back(a[a.size() - 2]);
  shape->push_back(columns);
  return *std::move(shape);
}

Result<Shape> pool_rule(const InferContext& c) {
  THIMBLE_TRY(const Window window, pool_window(c));
  return Shape{c.shape(0)[0], c.shape(0)[1], window.output[0], window.output[1]};
}

Result<Shape> mean_rule(const InferContext& c) {
  THIMBLE_TRY(const std::vector<bool> reduced, c.dimensions(0));
  Shape shape;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      shape.push_back(c.shape(0)[i]);
    } else if (c.get(attr::keepdim) != 0) {
      shape.push_back(1);
    }
  }
  return shape;
}

}  // namespace thimble::ir
