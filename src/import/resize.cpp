// SPDX-License-Identifier: Apache-2.0
// Resizing of signals and images. Nearest-neighbor resizing becomes a gather along each dimension.
// The width is resized first: its elements are moved one by one, and there are fewer rows before
// the height is resized. The choice of the neighbor follows PyTorch's float32 arithmetic exactly.

#include <algorithm>
#include <cmath>

#include "import/handlers.h"
#include "import/image.h"
#include "import/linear_along.h"
#include "import/select_along.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Resize {
  Image image;
  Ints size;                        // height, width
  std::vector<double> scale{0, 0};  // height, width as given in the call; 0 if not given
};

Status check_scale(double scale) {
  // The condition is false for NaN.
  if (scale > 0 && scale < 65536) return ok();
  return bad_input("a scale is {}, expected a positive number", scale);
}

/// Reads the size. `.vec` overloads have a size or a list of scales; other overloads have a size
/// and optionally one scale per dimension.
Status read_size(Call& call, Resize& resize) {
  const size_t rank = resize.image.spatial;
  std::vector<double> scales;
  if (call.has("scale_factors")) {
    THIMBLE_TRY(scales, call.numbers("scale_factors"));
  } else if (call.has("scales") || call.has("scales_h") || call.has("scales_w")) {
    for (const std::string_view name : {"scales", "scales_h", "scales_w"}) {
      if (!call.has(name)) continue;
      THIMBLE_TRY(const double scale, call.number(name));
      scales.push_back(scale);
    }
  }
  if (!scales.empty() && scales.size() != rank) {
    return bad_input("{} scales, expected {}", scales.size(), rank);
  }
  for (size_t i = 0; i < scales.size(); ++i) {
    THIMBLE_CHECK(check_scale(scales[i]));
    resize.scale[2 - rank + i] = scales[i];
  }
  if (call.has("output_size")) {
    THIMBLE_TRY(const Ints size, call.spatial("output_size", rank, 1));
    resize.size = as_2d(size, rank, 1);
  } else {
    if (scales.empty()) return bad_input("neither output_size nor scale_factors");
    for (size_t side = 0; side < 2; ++side) {
      const double extent = static_cast<double>(resize.image.extent(call, side));
      const double scale = resize.scale[side] > 0 ? resize.scale[side] : 1;
      resize.size.push_back(static_cast<int64_t>(extent * scale));
    }
  }
  for (const int64_t size : resize.size) {
    if (size < 1 || size > 65535) return bad_input("the size is {}", ir::list_text(resize.size));
  }
  return ok();
}

Result<Resize> read_resize(Call& call, size_t rank) {
  Resize resize;
  THIMBLE_TRY(const ValueId x, call.tensor(call.has("self") ? "self" : "input"));
  if (call.shape(x).size() != rank + 2) {
    return bad_input("the input has shape {}, expected rank {}", ir::list_text(call.shape(x)),
                     rank + 2);
  }
  THIMBLE_TRY(resize.image, as_image(call, x, rank));
  THIMBLE_CHECK(read_size(call, resize));
  return resize;
}

/// Returns the nearest input position for each output position. half_pixels: the center of an
/// output element decides ("nearest-exact"), otherwise its start. round_ratios: `scale` is ignored
/// if the size does not change or doubles.
Ints nearest_positions(int64_t in, int64_t out, double scale, bool half_pixels, bool round_ratios) {
  if (round_ratios && (out == in || out == 2 * in)) scale = 0;
  const float step = scale > 0 ? static_cast<float>(1.0 / scale)
                               : static_cast<float>(in) / static_cast<float>(out);
  Ints positions;
  positions.reserve(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float at =
        half_pixels ? static_cast<float>((static_cast<double>(i) + 0.5) * static_cast<double>(step))
                    : static_cast<float>(i) * step;
    positions.push_back(std::min(static_cast<int64_t>(std::floor(at)), in - 1));
  }
  return positions;
}

/// Returns true if PyTorch uses its kernel for small results or channels-last images. That kernel
/// has special cases for the ratios 1 and 2.
bool has_shortcuts(const Call& call, const Resize& resize) {
  constexpr int64_t kSmall = 128, kFewChannels = 3;
  if (resize.image.spatial != 2) return false;
  if (resize.size[0] + resize.size[1] <= kSmall) return true;
  const int64_t channels = call.shape(resize.image.x)[1];
  const auto* meta = call.meta(call.has("self") ? "self" : "input");
  if (meta == nullptr || channels <= kFewChannels) return false;
  const auto strides = call.symbols().values(meta->strides);
  return strides.ok() && strides->size() == 4 && (*strides)[1] == 1 && (*strides)[3] == channels;
}

Status nearest(Call& call, size_t rank, bool half_pixels) {
  THIMBLE_TRY(const Resize resize, read_resize(call, rank));
  const bool round_ratios = !half_pixels && has_shortcuts(call, resize);
  ValueId y = resize.image.x;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    THIMBLE_CHECK(call.check_list(resize.size[side]));
    const Ints positions = nearest_positions(resize.image.extent(call, side), resize.size[side],
                                             resize.scale[side], half_pixels, round_ratios);
    THIMBLE_TRY(y, select_along(call, y, 2 + side, positions));
  }
  return call.result(as_given(call, resize.image, y));
}

Status bilinear(Call& call, size_t rank) {
  THIMBLE_TRY(Resize resize, read_resize(call, rank));
  THIMBLE_TRY(const bool align_corners, call.boolean("align_corners"));
  const Ints same = {resize.image.extent(call, 0), resize.image.extent(call, 1)};
  ValueId y = resize.image.x;
  // A dimension whose size does not change is copied, regardless of its scale.
  for (size_t side = 0; side < 2; ++side) {
    if (align_corners || resize.size[side] == same[side]) resize.scale[side] = 0;
  }
  if (resize.size != same) {
    THIMBLE_TRY(y, call.add(OpKind::resize_bilinear, {y},
                            {{ir::attr::size, resize.size},
                             {ir::attr::align_corners, int64_t{align_corners ? 1 : 0}},
                             {ir::attr::scale_h, resize.scale[0]},
                             {ir::attr::scale_w, resize.scale[1]}}));
  }
  return call.result(as_given(call, resize.image, y));
}

/// Cubic convolution kernel at distance x; `a` is its slope at distance 1.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

double hat(double x, double) {
  return std::max(0.0, 1 - std::abs(x));
}

using Filter = double (*)(double x, double a);

/// Resizing of one dimension: output i is a weighted sum of input elements. With antialias, the
/// filter is stretched when the size shrinks, and positions beyond the ends are skipped. Without
/// it, the filter reads the last element there.
struct Sampling {
  Filter filter = cubic;
  double slope = -0.75;
  double reach = 2;
  bool antialias = false;
  bool align_corners = false;
};

double sampling_step(const Sampling& sampling, int64_t in, int64_t out, double scale) {
  if (sampling.align_corners) {
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  }
  return scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
}

/// Returns the weights as a matrix [out, in].
ir::Tensor sampling_matrix(const Sampling& sampling, int64_t in, int64_t out, double scale) {
  const double step = sampling_step(sampling, in, out, scale);
  const double stretch = sampling.antialias ? std::max(step, 1.0) : 1;
  ir::Tensor matrix = ir::zeros(ir::DType::kF32, {out, in});
  for (int64_t i = 0; i < out; ++i) {
    const bool corners = sampling.align_corners && !sampling.antialias;
    const double at =
        corners ? static_cast<double>(i) * step : (static_cast<double>(i) + 0.5) * step - 0.5;
    const auto first = static_cast<int64_t>(std::floor(at - sampling.reach * stretch)) - 1;
    const auto last = static_cast<int64_t>(std::ceil(at + sampling.reach * stretch)) + 1;
    std::vector<double> weights(static_cast<size_t>(in), 0.0);
    double sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      if (sampling.antialias && (k < 0 || k >= in)) continue;
      const double weight =
          sampling.filter((static_cast<double>(k) - at) / stretch, sampling.slope);
      weights[static_cast<size_t>(std::clamp<int64_t>(k, 0, in - 1))] += weight;
      sum += weight;
    }
    for (int64_t k = 0; k < in; ++k) {
      const double weight = weights[static_cast<size_t>(k)] / sum;
      matrix.data<float>()[static_cast<size_t>(i * in + k)] = static_cast<float>(weight);
    }
  }
  return matrix;
}

/// Resizes each dimension by a product with its weight matrix.
Status sampled(Call& call, Sampling sampling) {
  THIMBLE_TRY(const Resize resize, read_resize(call, 2));
  THIMBLE_TRY(sampling.align_corners, call.boolean("align_corners"));
  constexpr int64_t kSideMax = 1024;
  ValueId y = resize.image.x;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    const int64_t in = resize.image.extent(call, side);
    const int64_t out = resize.size[side];
    if (in == out) continue;
    if (in > kSideMax || out > kSideMax) return unsupported("from {} to {} elements", in, out);
    THIMBLE_TRY(
        y, linear_along(call, y, 2 + side, sampling_matrix(sampling, in, out, resize.scale[side])));
  }
  return call.result(y);
}

}  // namespace

namespace handlers {

Status upsample_bicubic2d(Call& call) {
  return sampled(call, {});
}
Status upsample_bicubic2d_aa(Call& call) {
  return sampled(call, {cubic, -0.5, 2, /*antialias=*/true});
}
Status upsample_bilinear2d_aa(Call& call) {
  return sampled(call, {hat, 0, 1, /*antialias=*/true});
}

Status upsample_bilinear2d(Call& call) {
  return bilinear(call, 2);
}
Status upsample_linear1d(Call& call) {
  return bilinear(call, 1);
}
Status upsample_nearest1d(Call& call) {
  return nearest(call, 1, false);
}
Status upsample_nearest2d(Call& call) {
  return nearest(call, 2, false);
}
Status upsample_nearest_exact1d(Call& call) {
  return nearest(call, 1, true);
}
Status upsample_nearest_exact2d(Call& call) {
  return nearest(call, 2, true);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
