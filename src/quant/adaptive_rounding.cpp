// SPDX-License-Identifier: Apache-2.0
#include "quant/adaptive_rounding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "quant/fast/convolution.h"

namespace thimble::quant {
namespace {

constexpr double kStepsMax = 2;  // from the nearest code

/// The factor R of the second moments of one group, as rows of R^T.
struct GroupMoments {
  std::vector<size_t> order;  // of the terms: the last one is rounded first
  std::vector<double> lower;  // R^T: [terms][terms], in this order
};

/// Returns the second moments of the rows of one group, about their mean if `centered`.
std::vector<double> second_moments(const OperandMatrix& operand, int64_t group, bool centered) {
  const auto terms = static_cast<size_t>(operand.terms);
  const auto columns = static_cast<size_t>(operand.columns);
  const auto first = static_cast<std::ptrdiff_t>(static_cast<size_t>(group) * terms * columns);
  std::vector<float> rows(
      operand.elements.begin() + first,
      operand.elements.begin() + first + static_cast<std::ptrdiff_t>(terms * columns));
  for (size_t i = 0; centered && i < terms; ++i) {
    const std::span<float> row(rows.data() + i * columns, columns);
    double sum = 0;
    for (const float x : row) sum += static_cast<double>(x);
    const double mean = sum / static_cast<double>(columns);
    for (float& x : row) x -= static_cast<float>(mean);
  }
  std::vector<float> products(terms * terms);
  multiply_transposed(rows.data(), rows.data(), products.data(), operand.terms, operand.columns,
                      operand.terms);
  std::vector<double> moments(terms * terms);
  for (size_t i = 0; i < moments.size(); ++i) {
    moments[i] = static_cast<double>(products[i]) / static_cast<double>(columns);
  }
  return moments;
}

/// Computes R^T in place of the moments H = R^T R. Only the lower triangle is used.
void factorize(std::vector<double>& h, size_t n) {
  // Row i of R is column i of R^T; it is kept in `row`, so that the inner loop is contiguous.
  std::vector<double> upper(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) upper[i * n + j] = h[j * n + i];
  }
  for (size_t i = 0; i < n; ++i) {
    double* const row = upper.data() + i * n;
    const double pivot = std::sqrt(row[i]);
    for (size_t j = i; j < n; ++j) row[j] /= pivot;
    for (size_t j = i + 1; j < n; ++j) {
      double* const other = upper.data() + j * n;
      const double factor = row[j];
      for (size_t k = j; k < n; ++k) other[k] -= factor * row[k];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) h[i * n + j] = upper[j * n + i];
  }
}

GroupMoments moments_of(const RoundingRequest& request, int64_t group) {
  const OperandMatrix& operand = *request.operand;
  const auto n = static_cast<size_t>(operand.terms);
  GroupMoments result;
  std::vector<double> raw = second_moments(operand, group, request.has_bias);
  double trace = 0;
  for (size_t i = 0; i < n; ++i) trace += raw[i * n + i];
  constexpr double kDamping = 0.05;  // of the mean of the diagonal
  const double added = std::max(
      request.x_scale * request.x_scale / 12 + kDamping * trace / static_cast<double>(n), 1e-30);
  const double certain =
      static_cast<double>(operand.columns) / static_cast<double>(operand.columns + operand.terms);
  result.order.resize(n);
  std::iota(result.order.begin(), result.order.end(), size_t{0});
  std::ranges::stable_sort(result.order, {}, [&](size_t i) { return raw[i * n + i]; });
  result.lower.resize(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      result.lower[i * n + j] = certain * raw[result.order[i] * n + result.order[j]];
    }
    result.lower[i * n + i] = raw[result.order[i] * n + result.order[i]] + added;
  }
  factorize(result.lower, n);
  return result;
}

/// Rounds the weights of one output channel. Keeps the nearest codes if they are as good.
class ChannelRounding {
 public:
  ChannelRounding(const GroupMoments& moments, std::span<const float> w, double scale,
                  std::span<const int8_t> nearest, const CodeRange& range,
                  std::span<const uint8_t> factors)
      : moments_(moments),
        w_(w),
        scale_(scale),
        nearest_(nearest),
        range_(range),
        factors_(factors) {}

  void run(std::span<int8_t> codes) const {
    const size_t n = w_.size();
    std::vector<double> carried(n, 0), plain(n, 0);  // of R d, without the diagonal
    double cost = 0, plain_cost = 0;
    double magnitude = 0, magnitude_max = 0;  // of the codes; the scale was chosen for the maximum
    for (size_t k = n; k-- > 0;) {
      const double* const row = moments_.lower.data() + k * n;
      const size_t i = moments_.order[k];
      const double real = static_cast<double>(w_[i]);
      const double center = (real - carried[k] / row[k]) / scale_;
      const double factor = factor_of(i);
      const double code = real == 0 ? 0 : factor * code_near(center / factor, nearest_[i] / factor);
      codes[i] = static_cast<int8_t>(code);
      magnitude += std::abs(code);
      magnitude_max += std::min(range_.largest() * factor, std::abs(real) / scale_ + factor / 2);
      const double error = code * scale_ - real;
      const double plain_error = nearest_[i] * scale_ - real;
      for (size_t j = 0; j < k; ++j) carried[j] += row[j] * error;
      for (size_t j = 0; j < k; ++j) plain[j] += row[j] * plain_error;
      cost += squared(carried[k] + row[k] * error);
      plain_cost += squared(plain[k] + row[k] * plain_error);
    }
    if (cost >= plain_cost || magnitude > magnitude_max) {
      std::ranges::copy(nearest_, codes.begin());
    }
  }

 private:
  static double squared(double x) { return x * x; }
  [[nodiscard]] double factor_of(size_t i) const {
    return factors_.empty() ? 1 : factors_[i / static_cast<size_t>(ir::kWeightGroup)];
  }
  [[nodiscard]] double code_near(double center, double nearest) const {
    const double low = std::max(nearest - kStepsMax, range_.min);
    const double high = std::min(nearest + kStepsMax, range_.max);
    return std::clamp(std::nearbyint(center), low, high);
  }

  const GroupMoments& moments_;
  const std::span<const float> w_;
  const double scale_;
  const std::span<const int8_t> nearest_;
  const CodeRange range_;
  const std::span<const uint8_t> factors_;
};

}  // namespace

AdaptedWeights adapt_rounding(const RoundingRequest& request) {
  const OperandMatrix& operand = *request.operand;
  const auto terms = static_cast<size_t>(operand.terms);
  const auto outputs = static_cast<size_t>(operand.outputs);
  AdaptedWeights result{ir::zeros(ir::DType::kI8, request.w->shape)};
  const auto per_group = outputs / static_cast<size_t>(operand.groups);
  for (size_t group = 0; group < static_cast<size_t>(operand.groups); ++group) {
    const GroupMoments moments = moments_of(request, static_cast<int64_t>(group));
    for (size_t o = group * per_group; o < (group + 1) * per_group; ++o) {
      const auto w = request.w->data<float>().subspan(o * terms, terms);
      const auto codes = result.codes.data<int8_t>().subspan(o * terms, terms);
      const double scale = request.scale[request.scale.size() == 1 ? 0 : o];
      const auto factors =
          request.factors.empty() ? std::span<const uint8_t>{} : std::span(request.factors[o]);
      ChannelRounding(moments, w, scale, request.nearest.subspan(o * terms, terms), request.range,
                      factors)
          .run(codes);
    }
  }
  return result;
}

}  // namespace thimble::quant
