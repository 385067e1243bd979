// SPDX-License-Identifier: Apache-2.0
// GridSampling of an image at computed positions: grid_sample and affine_grid. Every sample is a
// weighted sum of all pixels: the weight of row h and column w is the product of two functions, of
// the distance of the sample from h and from w. At most two rows and two columns have a weight
// (four with bicubic sampling). Pixels outside of the image have none, which is padding by zeros.
// The cost is one MAC for each pair of a sample and a pixel. With a constant grid the weights are
// the constant matrix of a linear.

#include <cmath>

#include "import/formula.h"
#include "import/handlers.h"
#include "import/matmul.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr int64_t kPairsMax = int64_t{1} << 22;

enum class Mode : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

struct GridSampling {
  Mode mode{};
  Padding padding{};
  bool align_corners = false;
};

/// Returns x modulo `period`, for x >= 0.
Term modulo(Formula& f, Term x, double period) {
  return x - f.apply(OpKind::floor, {x * (1 / period)}) * period;
}

/// Mirrors a position at the borders of the image until it is inside.
Term mirrored(Formula& f, Term x, int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const double span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) return x * 0.0;
  const Term along = modulo(f, f.apply(OpKind::abs, {x + -low}), 2 * span);
  return f.apply(OpKind::minimum, {along, 2 * span - along}) + low;
}

/// Returns the position in pixels for grid values from -1 to 1.
Term pixel_position(Formula& f, Term grid, int64_t size, const GridSampling& sampling) {
  const double last = static_cast<double>(size - 1);
  const double scale = sampling.align_corners ? last / 2 : static_cast<double>(size) / 2;
  Term x = grid * scale + last / 2;
  if (sampling.padding == Padding::kReflection) {
    x = mirrored(f, x, size, sampling.align_corners);
  }
  if (sampling.padding != Padding::kZeros) x = f.clamp(x, 0, last);
  return x;
}

/// Cubic convolution with slope -0.75 at distance 1, of distances from 0.
Term cubic_weight(Formula& f, Term d) {
  constexpr double kSlope = -0.75;
  const Term near = ((d * (kSlope + 2)) + -(kSlope + 3)) * d * d + 1.0;
  const Term far = (((d + -5.0) * d + 8.0) * d + -4.0) * kSlope;
  const Term outer = f.where(f.greater(2.0 - d, 0), far, f.constant(0));
  return f.where(f.greater(1.0 - d, 0), near, outer);
}

/// 1 at the nearest pixel. A position between two pixels belongs to the even one, as in PyTorch.
Term nearest_weight(Formula& f, Call& call, Term d, int64_t size) {
  ir::Tensor even = ir::zeros(ir::DType::kBool, {size});
  for (int64_t i = 0; i < size; i += 2) even.data<uint8_t>()[static_cast<size_t>(i)] = 1;
  const Term is_even = f.value(call.constant_value("even", std::move(even)));
  const auto within = [&](Relation relation) {
    return f.apply(OpKind::compare, {d, f.constant(0.5)},
                   {{ir::attr::relation, static_cast<int64_t>(relation)}});
  };
  const Term tie = f.apply(OpKind::logical_and, {is_even, within(Relation::kLe)});
  const Term here = f.apply(OpKind::logical_or, {tie, within(Relation::kLt)});
  return f.where(here, f.constant(1), f.constant(0));
}

/// Returns the weights [N, samples, size] along one dimension.
Term weights_along(Formula& f, Call& call, Term grid, int64_t size, const GridSampling& sampling) {
  ir::Tensor numbers = ir::zeros(ir::DType::kF32, {size});
  for (int64_t i = 0; i < size; ++i) {
    numbers.data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  }
  const Term pixels = f.value(call.constant_value("pixels", std::move(numbers)));
  const Term d = f.apply(OpKind::abs, {pixel_position(f, grid, size, sampling) - pixels});
  switch (sampling.mode) {
    case Mode::kBilinear:
      return f.positive_part(1.0 - d);
    case Mode::kNearest:
      return nearest_weight(f, call, d, size);
    case Mode::kBicubic:
      return cubic_weight(f, d);
  }
  return d;
}

Result<GridSampling> read_grid_sampling(Call& call) {
  THIMBLE_TRY(const int64_t mode, call.integer("interpolation_mode"));
  THIMBLE_TRY(const int64_t padding, call.integer("padding_mode"));
  THIMBLE_TRY(const bool align_corners, call.boolean("align_corners"));
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) {
    return bad_input("interpolation_mode is {} and padding_mode is {}, expected 0 to 2", mode,
                     padding);
  }
  const GridSampling sampling{static_cast<Mode>(mode), static_cast<Padding>(padding),
                              align_corners};
  if (sampling.mode == Mode::kBicubic && sampling.padding != Padding::kZeros) {
    return unsupported(
        "bicubic with padding_mode border or reflection: use bilinear, or padding_mode zeros");
  }
  return sampling;
}

}  // namespace

namespace handlers {

Status grid_sampler_2d(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const ValueId grid, call.tensor("grid"));
  const ir::Shape image = call.shape(x), places = call.shape(grid);
  if (image.size() == 5) return unsupported("of volumes, expected images");
  if (image.size() != 4 || places.size() != 4 || places[3] != 2 || places[0] != image[0]) {
    return bad_input("input is {} and grid is {}", ir::list_text(image), ir::list_text(places));
  }
  THIMBLE_TRY(const GridSampling sampling, read_grid_sampling(call));
  const int64_t n = image[0], samples = places[1] * places[2], h = image[2], w = image[3];
  if (samples > kPairsMax / (h * w)) {
    return unsupported("{} samples of {} pixels, expected up to {} pairs", samples, h * w,
                       kPairsMax);
  }
  Formula f(call);
  const auto coordinate = [&](int64_t i) {
    const Term part =
        f.apply(OpKind::slice, {f.value(grid)},
                {{ir::attr::dim, int64_t{3}}, {ir::attr::start, i}, {ir::attr::end, i + 1}});
    return f.reshape(part, {n, samples, 1});
  };
  const Term columns = weights_along(f, call, coordinate(0), w, sampling);
  const Term rows = weights_along(f, call, coordinate(1), h, sampling);
  const Term all = f.reshape(rows, {n, samples, h, 1}) * f.reshape(columns, {n, samples, 1, w});
  const bool one = n == 1;  // a matrix can be the weight of a linear
  const Term matrix =
      f.reshape(all, one ? ir::Shape{samples, h * w} : ir::Shape{n, samples, h * w});
  const Term pixels =
      f.reshape(f.value(x), one ? ir::Shape{image[1], h * w} : ir::Shape{n, image[1], h * w});
  THIMBLE_CHECK(f.status());
  THIMBLE_TRY(const ValueId y, multiplied_transposed(call, pixels.id, matrix.id));
  return call.result(call.reshape(y, {n, image[1], places[1], places[2]}));
}

/// Positions of an affine map: rows (x, y, 1) of all pixels times theta.
Status affine_grid(Call& call) {
  THIMBLE_TRY(const ValueId theta, call.tensor("theta"));
  THIMBLE_TRY(const Ints size, call.integers("size"));
  THIMBLE_TRY(const bool align_corners, call.boolean("align_corners"));
  if (size.size() != 4) return unsupported("of rank {}, expected images", size.size());
  const int64_t h = size[2], w = size[3];
  if (h < 1 || w < 1 || h > kPairsMax / w) return bad_input("size is {}", ir::list_text(size));
  const auto place = [&](int64_t i, int64_t count) {
    if (align_corners) {
      return count > 1 ? 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1 : 0;
    }
    return (2 * static_cast<double>(i) + 1) / static_cast<double>(count) - 1;
  };
  ir::Tensor pixels = ir::zeros(ir::DType::kF32, {h * w, 3});
  for (int64_t i = 0; i < h * w; ++i) {
    float* row = pixels.data<float>().data() + 3 * i;
    row[0] = static_cast<float>(place(i % w, w));
    row[1] = static_cast<float>(place(i / w, h));
    row[2] = 1;
  }
  THIMBLE_TRY(const ValueId columns,
              call.add(OpKind::permute, {theta}, {{ir::attr::dims, Ints{0, 2, 1}}}));
  THIMBLE_TRY(const ValueId y,
              multiplied(call, call.constant_value("pixels", std::move(pixels)), columns));
  return call.result(call.reshape(y, {size[0], h, w, 2}));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
