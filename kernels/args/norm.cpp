#include "kernels/args/norm.h"

#include "kernels/args/reduction.h"
#include "numerics/inverse_sqrt.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kEpsShiftMax = 30;
constexpr int32_t kBiasMax = 1 << 30;
/// Squares of so many codes fit 32 bits.
constexpr int32_t kBlock = 1 << 15;

struct Sums {
  int32_t codes = 0;
  uint64_t squares = 0;

  void add(const int8_t* x, int32_t count, int32_t zero) {
    uint32_t block = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t code = x[i] - zero;
      codes += code;
      block += static_cast<uint32_t>(code * code);
    }
    squares += block;
  }
};

Sums sums_of(const int8_t* x, const NormRow& row, int32_t zero) {
  Sums sums;
  for (int32_t o = 0; o < row.outer; ++o) {
    for (int32_t i = 0; i < row.inner; i += kBlock) {
      const int32_t rest = row.inner - i;
      sums.add(x + o * row.step + i, rest < kBlock ? rest : kBlock, zero);
    }
  }
  return sums;
}

}  // namespace

void Norm::read(AttributeReader& attributes, bool has_zero) {
  const int32_t mantissa = attributes.word();
  const int32_t exponent = attributes.word();
  // Out of range it becomes 2^63, which check_norm() refuses.
  const bool fine = mantissa >= 0 && exponent >= 0 && exponent <= kEpsShiftMax;
  eps = fine ? static_cast<uint64_t>(mantissa) << exponent : uint64_t{1} << 63;
  centered = !has_zero;
  if (has_zero) zero = attributes.word();
  y_zp = attributes.word();
  mult = attributes.word();
  shift = attributes.word();
  min = attributes.word();
  max = attributes.word();
}

void Norm::run(const int8_t* x, int8_t* y, const NormRow& row, int32_t entry) const {
  const int32_t n = row.count();
  const Sums sums = sums_of(x, row, zero);
  // n times what every code is compared with.
  const int32_t middle = centered ? sums.codes : n * zero;
  const int64_t mean = centered ? sums.codes : 0;
  const uint64_t spread =
      static_cast<uint64_t>(n) * sums.squares - static_cast<uint64_t>(mean * mean);
  const uint64_t radicand = spread + eps;
  const numerics::InverseSqrt scale = numerics::inverse_sqrt(radicand == 0 ? 1 : radicand);
  const int32_t right = 15 + scale.e;
  const int64_t half = (int64_t{1} << right) >> 1;
  for (int32_t o = 0; o < row.outer; ++o) {
    int32_t at = entry + o * row.outer_entry;
    for (int32_t i = 0; i < row.inner; ++i, at += row.inner_entry) {
      const int32_t difference = n * x[o * row.step + i] - middle;
      auto a = static_cast<int32_t>((static_cast<int64_t>(difference) * scale.t + half) >> right);
      if (w != nullptr) {
        a = static_cast<int32_t>((static_cast<int64_t>(a) * w[at] + (1 << 14)) >> 15);
      }
      if (b != nullptr) a += b[at];
      const int32_t code = numerics::wrap_add(numerics::requantize(a, mult, shift), y_zp);
      y[o * row.step + i] = static_cast<int8_t>(numerics::clamp(code, min, max));
    }
  }
}

Status check_norm(const Tensor& x, const Tensor& y, const AttributeReader& attributes,
                  const Norm& norm) {
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    if (const Status s = check_tensor(*t, DType::kI8); s != Status::kOk) return s;
  }
  const bool fine = attributes.complete() && norm.eps < uint64_t{1} << 62 && is_code(norm.zero) &&
                    is_code(norm.y_zp) && is_scale(norm.mult, norm.shift) && norm.shift <= 0 &&
                    are_bounds(norm.min, norm.max);
  if (!fine) return Status::kBadParameter;
  if (!same_sizes(x, y)) return Status::kBadShape;
  return same_layout(x, y) ? Status::kOk : Status::kBadLayout;
}

Status check_norm_entries(const Tensor& w, const Tensor& b, int32_t entries) {
  if (!w.is_null) {
    if (const Status s = check_tensor(w, DType::kI16); s != Status::kOk) return s;
    if (!is_contiguous(w)) return Status::kBadLayout;
    if (elements(w) != entries) return Status::kBadShape;
  }
  if (b.is_null) return Status::kOk;
  if (const Status s = check_tensor(b, DType::kI32); s != Status::kOk) return s;
  if (!is_contiguous(b)) return Status::kBadLayout;
  if (!b.is_constant) return Status::kBadParameter;
  if (elements(b) != entries) return Status::kBadShape;
  const auto* values = static_cast<const int32_t*>(b.data);
  for (int32_t i = 0; i < entries; ++i) {
    if (values[i] < -kBiasMax || values[i] > kBiasMax) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status check_trailing(const Tensor& x, uint32_t dims) {
  if (dims < 1 || dims > x.rank) return Status::kBadParameter;
  if (!is_contiguous(x)) return Status::kBadLayout;
  const uint32_t mask = ((1U << dims) - 1) << (x.rank - dims);
  return reduced_count(x, mask) <= kMaxReduced ? Status::kOk : Status::kBadShape;
}

void run_trailing(const Norm& norm, const Tensor& x, const Tensor& y, uint32_t dims) {
  NormRow row;
  for (uint32_t d = x.rank - dims; d < x.rank; ++d) row.inner *= x.sizes[d];
  row.inner_entry = 1;
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += row.inner) {
    norm.run(codes(x) + i, mutable_codes(y) + i, row, 0);
  }
}

}  // namespace thimble::kernels
