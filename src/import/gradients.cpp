// SPDX-License-Identifier: Apache-2.0
// Gradients of layers with respect to their input. A graph has them if the network itself computes
// a derivative, for example a force as the gradient of an energy.

#include <algorithm>
#include <numeric>

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"
#include "import/image.h"
#include "import/linear_along.h"
#include "import/matmul.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr int64_t kUsesMax = int64_t{1} << 22;  // rows of a table times its uses

/// The windows of a pool along one dimension: window i is [first, last) of the input, and its sum
/// is divided by `count`.
struct Window {
  int64_t first = 0, last = 0, count = 1;
};

/// Returns the matrix [size, windows] that distributes gradients to the elements of the windows.
Result<ir::Tensor> distribution(Call& call, const std::vector<Window>& windows, int64_t size) {
  const auto columns = static_cast<int64_t>(windows.size());
  THIMBLE_TRY(ir::Tensor matrix, call.new_constant(ir::DType::kF32, {size, columns}));
  for (int64_t i = 0; i < columns; ++i) {
    const Window& window = windows[static_cast<size_t>(i)];
    for (int64_t k = std::max<int64_t>(window.first, 0); k < std::min(window.last, size); ++k) {
      matrix.data<float>()[static_cast<size_t>(k * columns + i)] =
          1.0F / static_cast<float>(window.count);
    }
  }
  return matrix;
}

/// Sums of a tensor over dimensions, which stay with size 1.
Term summed_over(Formula& f, Term x, Ints dims) {
  return f.apply(OpKind::sum, {x},
                 {{ir::attr::dims, std::move(dims)}, {ir::attr::keepdim, int64_t{1}}});
}

/// The gradient of y = (x - mean) * rstd over `dims`, which have `count` elements:
/// rstd * (g - mean(g) - y * mean(g * y)).
Term norm_gradient(Formula& f, Term g, Term x, Term mean, Term rstd, const Ints& dims,
                   int64_t count) {
  const double share = 1.0 / static_cast<double>(count);
  const Term y = (x - mean) * rstd;
  const Term inner = g - summed_over(f, g, dims) * share;
  return rstd * (inner - y * (summed_over(f, g * y, dims) * share));
}

Ints last_dims(size_t rank, size_t count) {
  Ints dims(count);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(rank - count));
  return dims;
}

}  // namespace

namespace handlers {

Status adaptive_avg_pool2d_backward(Call& call) {
  THIMBLE_TRY(ValueId g, call.tensor("grad_output"));
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  for (size_t dim = shape.size() - 2; dim < shape.size(); ++dim) {
    const int64_t count = call.shape(g)[dim], size = shape[dim];
    THIMBLE_CHECK(call.check_list(count, sizeof(Window)));
    std::vector<Window> windows;
    windows.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = i * size / count, last = ((i + 1) * size + count - 1) / count;
      windows.push_back({first, last, last - first});
    }
    THIMBLE_TRY(ir::Tensor matrix, distribution(call, windows, size));
    THIMBLE_TRY(g, linear_along(call, g, dim, std::move(matrix)));
  }
  return call.result(g);
}

Status avg_pool2d_backward(Call& call) {
  THIMBLE_TRY(ValueId g, call.tensor("grad_output"));
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Ints kernel, call.spatial("kernel_size", 2, 1));
  THIMBLE_TRY(Ints stride, call.integers("stride", kernel));
  THIMBLE_TRY(const Ints padding, call.spatial("padding", 2, 0));
  THIMBLE_TRY(const bool counts_padding, call.boolean("count_include_pad", true));
  if (stride.empty()) stride = kernel;
  if (stride.size() == 1) stride.push_back(stride[0]);
  const bool has_divisor = call.has("divisor_override");
  const ir::Shape shape = call.shape(x);
  for (size_t side = 0; side < 2; ++side) {
    const size_t dim = shape.size() - 2 + side;
    const int64_t count = call.shape(g)[dim], size = shape[dim];
    THIMBLE_CHECK(call.check_list(count, sizeof(Window)));
    std::vector<Window> windows;
    windows.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = i * stride[side] - padding[side];
      const int64_t last = std::min(first + kernel[side], size + padding[side]);
      const int64_t inside = std::min(last, size) - std::max<int64_t>(first, 0);
      windows.push_back({first, last, has_divisor ? 1 : counts_padding ? last - first : inside});
    }
    THIMBLE_TRY(ir::Tensor matrix, distribution(call, windows, size));
    THIMBLE_TRY(g, linear_along(call, g, dim, std::move(matrix)));
  }
  if (!has_divisor) return call.result(g);
  THIMBLE_TRY(const int64_t divisor, call.integer("divisor_override"));
  if (divisor == 0) return bad_input("divisor_override is 0");
  return call.result(call.scaled(g, 1 / static_cast<double>(divisor)));
}

/// The gradient of the input is a transposed convolution with the same weight.
Status convolution_backward(Call& call) {
  THIMBLE_TRY(const bool transposed, call.boolean("transposed"));
  if (transposed) return unsupported("of a transposed convolution");
  THIMBLE_TRY(const ValueId g, call.tensor("grad_output"));
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(ValueId w, call.tensor("weight"));
  THIMBLE_TRY(const int64_t groups, call.integer("groups", 1));
  const size_t rank = call.shape(w).size() - 2;
  if (rank != 1 && rank != 2) return unsupported("weight of rank {}", rank + 2);
  THIMBLE_TRY(const Ints stride, call.spatial("stride", rank, 1));
  THIMBLE_TRY(const Ints padding, call.spatial("padding", rank, 0));
  THIMBLE_TRY(const Ints dilation, call.spatial("dilation", rank, 1));
  THIMBLE_TRY(const Image image, as_image(call, g, rank));
  const ir::Shape in = call.shape(x), out = call.shape(g), window = call.shape(w);
  Ints rest;  // elements after the last window
  for (size_t i = 0; i < rank; ++i) {
    const size_t at = in.size() - rank + i;
    const int64_t covered =
        (out[at] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (window[2 + i] - 1) + 1;
    rest.push_back(in[at] - covered);
  }
  Ints sides = padding;
  sides.insert(sides.end(), padding.begin(), padding.end());
  if (rank == 1) {
    THIMBLE_TRY(w, call.reshape(w, {window[0], window[1], 1, window[2]}));
  }
  THIMBLE_TRY(const ValueId y, call.add(OpKind::conv_transpose2d, {image.x, w, ir::kNoValue},
                                        {{ir::attr::stride, as_2d(stride, rank, 1)},
                                         {ir::attr::padding, as_2d(sides, rank, 0)},
                                         {ir::attr::output_padding, as_2d(rest, rank, 0)},
                                         {ir::attr::dilation, as_2d(dilation, rank, 1)},
                                         {ir::attr::groups, groups}}));
  return call.result(as_given(call, image, y));
}

/// The gradient of each row of the table is the sum of those of its uses.
Status embedding_dense_backward(Call& call) {
  THIMBLE_TRY(const bool scales, call.boolean("scale_grad_by_freq", false));
  if (scales) return unsupported("scale_grad_by_freq");
  THIMBLE_TRY(ValueId g, call.tensor("grad_output"));
  THIMBLE_TRY(ValueId index, call.any_tensor("indices"));
  THIMBLE_TRY(const int64_t rows, call.integer("num_weights"));
  THIMBLE_TRY(const int64_t skipped, call.integer("padding_idx", -1));
  const int64_t uses = ir::element_count(call.shape(index));
  if (rows < 1 || rows > kUsesMax / uses) return unsupported("{} rows and {} uses", rows, uses);
  THIMBLE_TRY(g, call.reshape(g, {uses, call.shape(g).back()}));
  THIMBLE_TRY(index, call.reshape(index, {1, uses}));
  ir::Tensor numbers = ir::zeros(call.builder().graph.type(index).dtype, {rows, 1});
  for (int64_t i = 0; i < rows; ++i) {
    set_element(numbers, static_cast<size_t>(i), static_cast<double>(i == skipped ? -1 : i));
  }
  Formula f(call);
  const Term used = f.apply(
      OpKind::compare, {f.value(index), f.value(call.constant_value("rows", std::move(numbers)))},
      {{ir::attr::relation, static_cast<int64_t>(Relation::kEq)}});
  const Term matrix = f.where(used, f.constant(1), f.constant(0));
  THIMBLE_CHECK(f.status());
  return call.result(multiplied(call, matrix.id, g));
}

Status layer_norm_backward(Call& call) {
  THIMBLE_TRY(const Ints normalized, call.integers("normalized_shape"));
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  const Ints dims = last_dims(call.shape(x).size(), normalized.size());
  Formula f(call);
  Term g = f.tensor("grad_out");
  if (call.has("weight")) g = g * f.tensor("weight");
  return f.result(norm_gradient(f, g, f.value(x), f.tensor("mean"), f.tensor("rstd"), dims,
                                ir::element_count(normalized)));
}

Status group_norm_backward(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const int64_t groups, call.integer("group"));
  const ir::Shape shape = call.shape(x);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    return bad_input("{} groups of {}", groups, ir::list_text(shape));
  }
  const ir::Shape grouped = {shape[0], groups, ir::element_count(shape) / shape[0] / groups};
  ir::Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  Formula f(call);
  Term g = f.tensor("grad_out");
  if (call.has("weight")) g = g * f.reshape(f.tensor("weight"), channels);
  const auto statistic = [&](std::string_view name) {
    return f.reshape(f.tensor(name), {shape[0], groups, 1});
  };
  const Term y = norm_gradient(f, f.reshape(g, grouped), f.reshape(f.value(x), grouped),
                               statistic("mean"), statistic("rstd"), {2}, grouped[2]);
  return f.result(f.reshape(y, shape));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
