// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of pairs: products with constant matrices.

#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "import/pair_call.h"
#include "import/spectrum.h"

namespace thimble::import_pt2 {
namespace pair_transform {
namespace {

using ir::OpKind;
using ir::Tensor;
using ir::ValueId;

struct Transform {
  int64_t size = 0;           // of the real signal
  double factor = 1;          // of the transform
  std::vector<float> window;  // of the signal; empty: 1
  [[nodiscard]] int64_t bins() const { return size / 2 + 1; }
};

double angle(int64_t k, int64_t t, int64_t n) {
  return 2 * std::numbers::pi * static_cast<double>(k * t % n) / static_cast<double>(n);
}

/// Rows: cos of each bin, then -sin of each bin.
Result<Tensor> forward_rows(Call& call, const Transform& transform) {
  const int64_t n = transform.size, bins = transform.bins();
  THIMBLE_TRY(Tensor rows, call.new_constant(ir::DType::kF32, {2 * bins, n}));
  for (int64_t row = 0; row < 2 * bins; ++row) {
    for (int64_t t = 0; t < n; ++t) {
      const double at = angle(row % bins, t, n);
      const double wave = row < bins ? std::cos(at) : -std::sin(at);
      const double window = transform.window.empty()
                                ? 1
                                : static_cast<double>(transform.window[static_cast<size_t>(t)]);
      rows.data<float>()[static_cast<size_t>(row * n + t)] =
          static_cast<float>(transform.factor * window * wave);
    }
  }
  return rows;
}

/// Rows: a sample of the signal as a sum of the real, then of the imaginary parts of the bins. A
/// bin has a conjugate copy, except the first one and, for even sizes, the last one.
Result<Tensor> inverse_rows(Call& call, const Transform& transform) {
  const int64_t n = transform.size, bins = transform.bins();
  THIMBLE_TRY(Tensor rows, call.new_constant(ir::DType::kF32, {n, 2 * bins}));
  for (int64_t t = 0; t < n; ++t) {
    const double window = transform.window.empty()
                              ? 1
                              : static_cast<double>(transform.window[static_cast<size_t>(t)]);
    for (int64_t column = 0; column < 2 * bins; ++column) {
      const int64_t k = column % bins;
      const bool alone = k == 0 || 2 * k == n;
      const double at = angle(k, t, n);
      const double wave = column < bins ? std::cos(at) : alone ? 0 : -std::sin(at);
      rows.data<float>()[static_cast<size_t>(t * 2 * bins + column)] =
          static_cast<float>(transform.factor * window * wave * (alone ? 1 : 2));
    }
  }
  return rows;
}

Status check_last(Call& call, ValueId x, int64_t dim) {
  const ir::Shape& shape = call.shape(x);
  if (!shape.empty() && dim == static_cast<int64_t>(shape.size()) - 1) return ok();
  return unsupported("a transform of dimension {} of {}: transpose it to the last one", dim,
                     ir::list_text(shape));
}

Status split_result(PairCall& node, ValueId both, int64_t dim) {
  THIMBLE_TRY(const ValueId real, half(node.call(), both, dim, false));
  THIMBLE_TRY(const ValueId imaginary, half(node.call(), both, dim, true));
  return node.result(real, imaginary);
}

Status forward(PairCall& node, ValueId x, int64_t dim, const Transform& transform) {
  Call& call = node.call();
  THIMBLE_CHECK(check_last(call, x, dim));
  THIMBLE_TRY(Tensor transformation, forward_rows(call, transform));
  const ValueId rows = call.constant_value("transform", std::move(transformation));
  THIMBLE_TRY(const ValueId both, call.add(OpKind::linear, {x, rows, ir::kNoValue}));
  return split_result(node, both, dim);
}

Status inverse(PairCall& node, int64_t dim, const Transform& transform) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_CHECK(check_last(call, z.real, dim));
  if (call.shape(z.real).back() != transform.bins()) {
    return unsupported("{} bins for {} samples, expected {}", call.shape(z.real).back(),
                       transform.size, transform.bins());
  }
  THIMBLE_TRY(const ValueId both, joined(call, z, dim));
  THIMBLE_TRY(Tensor transformation, inverse_rows(call, transform));
  const ValueId rows = call.constant_value("transform", std::move(transformation));
  return call.result(call.add(OpKind::linear, {both, rows, ir::kNoValue}));
}

Status r2c(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Ints dims, call.dimensions("dim", call.shape(x).size()));
  THIMBLE_TRY(const int64_t mode, call.integer("normalization"));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided"));
  if (dims.size() != 1 || !onesided) {
    return unsupported(
        "a transform of {} dimensions with onesided={}: use torch.fft.rfft along "
        "one dimension",
        dims.size(), onesided);
  }
  const int64_t n = call.shape(x)[static_cast<size_t>(dims[0])];
  return forward(node, x, dims[0], {n, factor_of_mode(mode, n), {}});
}

Status rfft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), -1));
  const int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  THIMBLE_TRY(const int64_t n, call.integer("n", size));
  THIMBLE_TRY(const std::string norm, call.text("norm", "backward"));
  if (n != size) {
    return unsupported("n is {}, the dimension has {} elements: pad or slice it first", n, size);
  }
  return forward(node, x, dim, {n, factor_of_norm(norm, n, false), {}});
}

Status c2r(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const Ints dims, call.dimensions("dim", call.shape(z.real).size()));
  THIMBLE_TRY(const int64_t mode, call.integer("normalization"));
  THIMBLE_TRY(const int64_t n, call.integer("last_dim_size"));
  if (dims.size() != 1) {
    return unsupported("a transform of {} dimensions: use torch.fft.irfft along one dimension",
                       dims.size());
  }
  return inverse(node, dims[0], {n, factor_of_mode(mode, n), {}});
}

Status irfft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(z.real).size(), -1));
  const int64_t bins = call.shape(z.real)[static_cast<size_t>(dim)];
  THIMBLE_TRY(const int64_t n, call.integer("n", 2 * (bins - 1)));
  THIMBLE_TRY(const std::string norm, call.text("norm", "backward"));
  return inverse(node, dim, {n, factor_of_norm(norm, n, true), {}});
}

// --- short-time transforms: convolutions with the rows of the transform ------------------------

struct ShortTime {
  Transform transform;
  int64_t hop = 1;
};

Result<ShortTime> short_time(Call& call, bool is_inverse) {
  ShortTime result;
  THIMBLE_TRY(const int64_t n, call.integer("n_fft"));
  if (n < 1) return bad_input("n_fft is {}, expected at least 1", n);
  THIMBLE_TRY(result.hop, call.integer("hop_length", n / 4));
  if (result.hop < 1) return bad_input("hop_length is {}, expected at least 1", result.hop);
  THIMBLE_TRY(result.transform.window, stft_window(call, n));
  THIMBLE_TRY(const bool normalized, call.boolean("normalized", false));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided", true));
  if (!onesided)
    return unsupported(
        "onesided=False, expected True: the other half is the conjugate of this one");
  result.transform.size = n;
  const double root = std::sqrt(static_cast<double>(n));
  result.transform.factor =
      is_inverse ? (normalized ? 1 / root : 1 / (root * root)) : (normalized ? 1 / root : 1);
  return result;
}

/// x [B, T] or [T]; the result is [B, bins, frames].
Status stft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ShortTime frames, short_time(call, false));
  THIMBLE_TRY(const bool aligned, call.boolean("align_to_window", false));
  if (aligned) return unsupported("align_to_window=True, expected False");
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  const bool batched = shape.size() == 2;
  const int64_t n = frames.transform.size, bins = frames.transform.bins();
  if (shape.empty() || shape.size() > 2 || shape.back() < n) {
    return bad_input("a signal of shape {} for n_fft {}", ir::list_text(shape), n);
  }
  THIMBLE_TRY(x, call.reshape(x, {batched ? shape[0] : 1, 1, 1, shape.back()}));
  THIMBLE_TRY(Tensor rows, forward_rows(call, frames.transform));
  rows.shape = {2 * bins, 1, 1, n};
  THIMBLE_TRY(
      ValueId y,
      call.add(OpKind::conv2d, {x, call.constant_value("transform", std::move(rows)), ir::kNoValue},
               {{ir::attr::stride, Ints{1, frames.hop}},
                {ir::attr::padding, Ints{0, 0, 0, 0}},
                {ir::attr::dilation, Ints{1, 1}}}));
  const int64_t count = call.shape(y)[3];
  THIMBLE_TRY(y, call.reshape(y, batched ? ir::Shape{shape[0], 2 * bins, count}
                                         : ir::Shape{2 * bins, count}));
  return split_result(node, y, batched ? 1 : 0);
}

/// The sum of the squares of the windows of all frames.
std::vector<double> envelope(const ShortTime& frames, int64_t count) {
  const auto& window = frames.transform.window;
  std::vector<double> sum(static_cast<size_t>((count - 1) * frames.hop + frames.transform.size), 0);
  for (int64_t frame = 0; frame < count; ++frame) {
    for (size_t t = 0; t < window.size(); ++t) {
      const double w = static_cast<double>(window[t]);
      sum[static_cast<size_t>(frame * frames.hop) + t] += w * w;
    }
  }
  return sum;
}

/// z [B, bins, frames] or [bins, frames]; overlapping frames are added, and divided by the
/// envelope.
Status istft(PairCall& node) {
  Call& call = node.call();
  constexpr double kSmallest = 1e-11;
  THIMBLE_TRY(const ShortTime frames, short_time(call, true));
  THIMBLE_TRY(const bool center, call.boolean("center", true));
  THIMBLE_TRY(const bool complex, call.boolean("return_complex", false));
  if (complex) return unsupported("return_complex=True, expected False");
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  const ir::Shape shape = call.shape(z.real);
  const bool batched = shape.size() == 3;
  const int64_t n = frames.transform.size, bins = frames.transform.bins();
  if (shape.size() < 2 || shape.size() > 3 || shape[shape.size() - 2] != bins) {
    return bad_input("a spectrum of shape {} for n_fft {}", ir::list_text(shape), n);
  }
  const int64_t count = shape.back(), batch = batched ? shape[0] : 1;
  THIMBLE_TRY(ValueId both, joined(call, z, batched ? 1 : 0));
  THIMBLE_TRY(both, call.reshape(both, {batch, 2 * bins, 1, count}));
  THIMBLE_TRY(const Tensor rows, inverse_rows(call, frames.transform));
  Tensor filters = ir::permuted(rows, Ints{1, 0});
  filters.shape = {2 * bins, 1, 1, n};
  THIMBLE_TRY(ValueId y,
              call.add(OpKind::conv_transpose2d,
                       {both, call.constant_value("transform", std::move(filters)), ir::kNoValue},
                       {{ir::attr::stride, Ints{1, frames.hop}},
                        {ir::attr::padding, Ints{0, 0, 0, 0}},
                        {ir::attr::output_padding, Ints{0, 0}},
                        {ir::attr::dilation, Ints{1, 1}}}));
  THIMBLE_CHECK(call.check_list((count - 1) * frames.hop + n));
  const std::vector<double> sum = envelope(frames, count);
  const int64_t total = static_cast<int64_t>(sum.size());
  const int64_t first = center ? n / 2 : 0;
  int64_t length = center ? total - 2 * (n / 2) : total;
  THIMBLE_TRY(length, call.integer("length", length));
  if (length < 1 || first + length > total) {
    return unsupported("length is {}, the frames have {} samples: pad the result instead", length,
                       total - first);
  }
  Tensor factors = ir::zeros(ir::DType::kF32, {length});
  for (int64_t i = 0; i < length; ++i) {
    const double here = sum[static_cast<size_t>(first + i)];
    if (!(here > kSmallest)) return bad_input("the windows do not cover sample {}", i);
    factors.data<float>()[static_cast<size_t>(i)] = static_cast<float>(1 / here);
  }
  THIMBLE_TRY(y, call.reshape(y, batched ? ir::Shape{batch, total} : ir::Shape{total}));
  THIMBLE_TRY(y, call.add(OpKind::slice, {y},
                          {{ir::attr::dim, int64_t{batched ? 1 : 0}},
                           {ir::attr::start, first},
                           {ir::attr::end, first + length}}));
  return call.result(
      call.add(OpKind::mul, {y, call.constant_value("envelope", std::move(factors))}));
}

}  // namespace
}  // namespace pair_transform

PairHandler find_pair_transform(std::string_view target) {
  static const std::map<std::string_view, PairHandler> rows = {
      {"aten._fft_c2r.default", pair_transform::c2r},
      {"aten._fft_r2c.default", pair_transform::r2c},
      {"aten.fft_irfft.default", pair_transform::irfft},
      {"aten.fft_rfft.default", pair_transform::rfft},
      {"aten.istft.default", pair_transform::istft},
      {"aten.stft.default", pair_transform::stft},
  };
  const auto row = rows.find(target);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace thimble::import_pt2
