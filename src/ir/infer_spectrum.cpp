// SPDX-License-Identifier: Apache-2.0
// Type rules of spectra: frames of `n` samples, `hop` samples apart, each multiplied by a window.

#include "ir/infer_rules.h"
#include "numerics/fixed_point.h"
#include "numerics/spectrum.h"

namespace thimble::ir {
namespace {

/// Returns the shape [..., T] of the frames.
Result<Shape> frames_rule(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(1, 1));
  THIMBLE_CHECK(c.expect_range(attr::hop, 1, numerics::kHopMax));
  const int64_t n = c.shape(1)[0];
  Shape shape = c.shape(0);
  if (shape.empty() || shape.back() < n) {
    return bad_input("{}, expected rows of at least {} samples, the size of the window",
                     c.describe(0), n);
  }
  shape.back() = (shape.back() - n) / c.get(attr::hop) + 1;
  return shape;
}

Result<Shape> power_rule(const InferContext& c) {
  THIMBLE_TRY(Shape shape, frames_rule(c));
  shape.push_back(c.shape(1)[0] / 2 + 1);
  return shape;
}

Result<Shape> log_mel_rule(const InferContext& c) {
  THIMBLE_TRY(Shape shape, frames_rule(c));
  THIMBLE_CHECK(c.expect_rank(2, 2));
  THIMBLE_CHECK(c.expect_shape(2, {c.shape(2)[0], c.shape(1)[0] / 2 + 1}));
  if (c.get(attr::floor) < 0 || c.get(attr::eps) < 0) {
    return bad_input("floor is {} and eps {}, expected 0 or more", c.get(attr::floor),
                     c.get(attr::eps));
  }
  shape.push_back(c.shape(2)[0]);
  return shape;
}

/// Checks that each band is inside the spectrum and that the weights are those of all bands.
Status check_bands(const InferContext& c, int64_t bins) {
  const auto bands = c.value(3).constant->data<int32_t>();
  const auto weights = c.value(4).constant->data<int16_t>();
  int64_t total = 0;
  for (size_t i = 0; i < bands.size(); i += 2) {
    const int64_t first = bands[i], count = bands[i + 1];
    if (first < 0 || count < 0 || first + count > bins) {
      return bad_input("band {} has {} bins from {}, the spectrum has {}", i / 2, count, first,
                       bins);
    }
    total += count;
  }
  if (total != static_cast<int64_t>(weights.size())) {
    return bad_input("{}, expected {} elements, one for each bin of a band", c.describe(4), total);
  }
  for (const int16_t weight : weights) {
    if (weight < 0) return bad_input("a weight is {}, expected 0 to 32767", weight);
  }
  return ok();
}

/// Checks a term mantissa * 2^shift of the sum, which must be at most 2^62.
Status check_term(const InferContext& c, AttrKey<int64_t> mantissa, AttrKey<int64_t> shift) {
  THIMBLE_CHECK(c.expect_range(mantissa, 0, INT32_MAX));
  return c.expect_range(shift, 0, numerics::kLogMelShiftMax);
}

}  // namespace

Result<Type> infer_power_spectrum(const InferContext& c) {
  return float_result(c, power_rule);
}
Result<Type> infer_log_mel(const InferContext& c) {
  return float_result(c, log_mel_rule);
}

Result<Type> infer_qlog_mel(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  THIMBLE_CHECK(c.expect_dtype(1, DType::kI32));
  THIMBLE_CHECK(c.expect_dtype(2, DType::kI32));
  THIMBLE_CHECK(c.expect_dtype(3, DType::kI32));
  THIMBLE_CHECK(c.expect_dtype(4, DType::kI16));
  for (size_t i = 1; i < c.count(); ++i) THIMBLE_CHECK(c.expect_constant(i));
  THIMBLE_TRY(Shape shape, frames_rule(c));
  const int64_t n = c.shape(1)[0];
  if (!numerics::is_transform_size(n)) {
    return bad_input("{}, expected a power of two from {} to {}", c.describe(1),
                     numerics::kTransformMin, numerics::kTransformMax);
  }
  THIMBLE_CHECK(c.expect_shape(2, {n / 4}));
  THIMBLE_CHECK(c.expect_rank(3, 2));
  THIMBLE_CHECK(c.expect_shape(3, {c.shape(3)[0], 2}));
  THIMBLE_CHECK(c.expect_rank(4, 1));
  THIMBLE_CHECK(check_bands(c, n / 2 + 1));
  THIMBLE_CHECK(check_term(c, attr::int_floor, attr::floor_shift));
  THIMBLE_CHECK(check_term(c, attr::int_eps, attr::eps_shift));
  THIMBLE_CHECK(
      c.expect_range(attr::offset, -numerics::kLogMelOffsetMax, numerics::kLogMelOffsetMax));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(c.expect_range(attr::shift, numerics::kShiftMin, 0));
  const bool wide = c.get(attr::wide) != 0;
  if (wide) {
    THIMBLE_CHECK(c.expect_range(attr::y_zp, 0, 0));
    THIMBLE_CHECK(check_clamp16(c));
  } else {
    THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
    THIMBLE_CHECK(check_clamp(c));
  }
  shape.push_back(c.shape(3)[0]);
  return Type{wide ? DType::kI16 : DType::kI8, std::move(shape), {}, {}};
}

}  // namespace thimble::ir
