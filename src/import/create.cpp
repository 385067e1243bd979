// SPDX-License-Identifier: Apache-2.0
// Tensor creation. The created tensors are constants, with the element type given by the archive.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "import/constants.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::Tensor;

Result<ir::DType> result_dtype(Call& call) {
  const auto* meta = call.result_meta();
  if (meta == nullptr) return bad_input("the node has no tensor as output");
  const auto dtype = ir_dtype(meta->dtype);
  if (!dtype) return unsupported("of type {}", formats::pt2::name(meta->dtype));
  return *dtype;
}

/// Returns `size`, or the shape of `self`.
Result<ir::Shape> result_shape(Call& call) {
  if (call.has("size")) return call.integers("size");
  if (!call.has("self")) return ir::Shape{};
  THIMBLE_TRY(const ir::ValueId like, call.any_tensor("self"));
  return call.shape(like);
}

Status filled_result(Call& call, double value) {
  THIMBLE_TRY(const ir::DType dtype, result_dtype(call));
  THIMBLE_TRY(const ir::Shape shape, result_shape(call));
  THIMBLE_TRY(Tensor result, call.new_constant(dtype, shape, value));
  return call.result(call.constant_value("", std::move(result)));
}

Status sequence(Call& call, int64_t count, double start, double step) {
  THIMBLE_TRY(const ir::DType dtype, result_dtype(call));
  THIMBLE_TRY(Tensor result, call.new_constant(dtype, {count}));
  for (int64_t i = 0; i < count; ++i) {
    set_element(result, static_cast<size_t>(i), start + static_cast<double>(i) * step);
  }
  return call.result(call.constant_value("", std::move(result)));
}

/// Returns element i of a window at i / n, from 0 to 1. n is the length of a periodic window, and
/// one less for a symmetric one.
using WindowShape = std::function<double(double at)>;

Status window_result(Call& call, const WindowShape& window) {
  THIMBLE_TRY(const int64_t length, call.integer("window_length"));
  THIMBLE_TRY(const bool periodic, call.boolean("periodic", true));
  if (length < 1) return unsupported("the result is empty");
  THIMBLE_TRY(const ir::DType dtype, result_dtype(call));
  THIMBLE_TRY(Tensor result, call.new_constant(dtype, {length}));
  const double period = static_cast<double>(periodic ? length : length - 1);
  for (int64_t i = 0; i < length; ++i) {
    const double at = length == 1 ? 0.5 : static_cast<double>(i) / period;
    set_element(result, static_cast<size_t>(i), window(at));
  }
  return call.result(call.constant_value("", std::move(result)));
}

Status cosine_window(Call& call, double c0, double c1, double c2) {
  return window_result(call, [=](double at) {
    const double angle = 2 * std::numbers::pi * at;
    return c0 - c1 * std::cos(angle) + c2 * std::cos(2 * angle);
  });
}

/// The modified Bessel function of the first kind, of order 0: the sum of ((x / 2)^k / k!)^2.
double bessel_i0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

}  // namespace

namespace handlers {

Status ones(Call& call) {
  return filled_result(call, 1);
}
Status zeros(Call& call) {
  return filled_result(call, 0);
}

Status full(Call& call) {
  THIMBLE_TRY(const double value, call.number("fill_value"));
  return filled_result(call, value);
}

Status eye(Call& call) {
  THIMBLE_TRY(const int64_t rows, call.integer("n"));
  THIMBLE_TRY(const int64_t columns, call.integer("m", rows));
  THIMBLE_TRY(const ir::DType dtype, result_dtype(call));
  THIMBLE_TRY(Tensor result, call.new_constant(dtype, {rows, columns}));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) {
    set_element(result, static_cast<size_t>(i * columns + i), 1);
  }
  return call.result(call.constant_value("", std::move(result)));
}

Status scalar_tensor(Call& call) {
  THIMBLE_TRY(const double value, call.number("s"));
  return filled_result(call, value);
}

Status arange(Call& call) {
  THIMBLE_TRY(const double start, call.number("start", 0));
  THIMBLE_TRY(const double end, call.number("end"));
  THIMBLE_TRY(const double step, call.number("step", 1));
  const double count = std::ceil((end - start) / step);
  if (!(count >= 1) || count > static_cast<double>(ir::kMaxElements)) {
    return unsupported("from {} to {} in steps of {}: expected 1 to {} numbers", start, end, step,
                       ir::kMaxElements);
  }
  return sequence(call, static_cast<int64_t>(count), start, step);
}

Status hann_window(Call& call) {
  return cosine_window(call, 0.5, 0.5, 0);
}

Status hamming_window(Call& call) {
  THIMBLE_TRY(const double alpha, call.number("alpha", 0.54));
  THIMBLE_TRY(const double beta, call.number("beta", 0.46));
  return cosine_window(call, alpha, beta, 0);
}

Status blackman_window(Call& call) {
  return cosine_window(call, 0.42, 0.5, 0.08);
}

Status bartlett_window(Call& call) {
  return window_result(call, [](double at) { return 1 - std::fabs(2 * at - 1); });
}

Status kaiser_window(Call& call) {
  constexpr double kBetaMax = 100;
  THIMBLE_TRY(const double beta, call.number("beta", 12));
  if (!(std::fabs(beta) <= kBetaMax)) {
    return unsupported("beta is {:g}, expected {:g} to {:g}", beta, -kBetaMax, kBetaMax);
  }
  return window_result(call, [beta](double at) {
    const double radius = 2 * at - 1;
    return bessel_i0(beta * std::sqrt(1 - radius * radius)) / bessel_i0(beta);
  });
}

Status linspace(Call& call) {
  THIMBLE_TRY(const double start, call.number("start"));
  THIMBLE_TRY(const double end, call.number("end"));
  THIMBLE_TRY(const int64_t steps, call.integer("steps"));
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return sequence(call, steps, start, step);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
