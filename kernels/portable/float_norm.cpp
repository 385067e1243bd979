// SPDX-License-Identifier: Apache-2.0
// thimble::layer_norm.f32, rms_norm.f32 and group_norm.f32. Mean and deviation are computed in
// double; each element is rounded once. See docs/numerics.md, "Float operators".
//
// Operands: x, weight?, [bias?,] last dimensions or groups, eps, y; contiguous.

#include "abi/ops/float.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/define_kernel.h"
#include "numerics/float_math.h"

namespace thimble::kernels {
namespace {

/// Rows of `length` elements. Element i of a row has factor (row % groups * length + i) / run.
struct Rows {
  int32_t count, length;
  int32_t groups, run;
};

double factor(const Tensor& t, int32_t i, double absent) {
  return t.is_null ? absent : static_cast<double>(floats(t)[i]);
}

Status check_factors(const Tensor& t, int32_t count) {
  if (t.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  return is_contiguous(t) && elements(t) == count ? Status::kOk : Status::kBadShape;
}

Status check_rows(const Tensor& x, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_floats(x, y));
  return is_contiguous(x) && is_contiguous(y) ? Status::kOk : Status::kBadDimOrder;
}

/// The last `dims` dimensions of x are one row.
Rows trailing_rows(const Tensor& x, int64_t dims) {
  int32_t length = 1;
  for (uint32_t d = x.rank - static_cast<uint32_t>(dims); d < x.rank; ++d) length *= x.sizes[d];
  return {elements(x) / length, length, 1, 1};
}
/// `kFactors` weights and biases precede the number of dimensions.
template <uint32_t kFactors>
Status check_trailing(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_rows(x, tensor(call, kFactors + 3)));
  const int64_t dims = call.args[kFactors + 1].integer;
  if (dims < 1 || dims > x.rank) return Status::kBadParameter;
  if (!(call.args[kFactors + 2].number >= 0)) return Status::kBadParameter;
  for (uint32_t i = 1; i <= kFactors; ++i) {
    THIMBLE_RETURN_IF_ERROR(check_factors(tensor(call, i), trailing_rows(x, dims).length));
  }
  return Status::kOk;
}

/// One group of the channels of one image is one row.
Rows group_rows(const Tensor& x, int64_t groups) {
  const int32_t pixels = elements(x) / (x.sizes[0] * x.sizes[1]);
  const auto parts = static_cast<int32_t>(groups);
  return {x.sizes[0] * parts, x.sizes[1] / parts * pixels, parts, pixels};
}
Status check_groups(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_rows(x, tensor(call, 5)));
  if (x.rank < 2) return Status::kBadShape;
  const int64_t groups = call.args[3].integer;
  if (groups < 1 || groups > x.sizes[1] || x.sizes[1] % groups != 0) return Status::kBadParameter;
  if (!(call.args[4].number >= 0)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_factors(tensor(call, 1), x.sizes[1]));
  return check_factors(tensor(call, 2), x.sizes[1]);
}

template <bool kCentered>
void normalize(const Rows& rows, const Call& call, const Tensor& bias, double eps,
               const Tensor& y) {
  for (int32_t row = 0; row < rows.count; ++row) {
    const float* const in = floats(tensor(call, 0)) + row * rows.length;
    float* const out = mutable_floats(y) + row * rows.length;
    double mean = 0, squares = 0;
    if (kCentered) {
      for (int32_t i = 0; i < rows.length; ++i) mean += static_cast<double>(in[i]);
      mean /= rows.length;
    }
    for (int32_t i = 0; i < rows.length; ++i) {
      const double difference = static_cast<double>(in[i]) - mean;
      squares += difference * difference;
    }
    const double scale = 1.0 / numerics::sqrt(squares / rows.length + eps);
    const int32_t first = row % rows.groups * (rows.length / rows.run);
    for (int32_t i = 0, at = first, left = rows.run; i < rows.length; ++i) {
      out[i] = static_cast<float>((static_cast<double>(in[i]) - mean) * scale *
                                      factor(tensor(call, 1), at, 1) +
                                  factor(bias, at, 0));
      if (--left == 0) ++at, left = rows.run;
    }
  }
}

void run_layer_norm(const Call& call) {
  normalize<true>(trailing_rows(tensor(call, 0), call.args[3].integer), call, tensor(call, 2),
                  call.args[4].number, tensor(call, 5));
}
void run_rms_norm(const Call& call) {
  Tensor none = {};
  none.is_null = true;
  normalize<false>(trailing_rows(tensor(call, 0), call.args[2].integer), call, none,
                   call.args[3].number, tensor(call, 4));
}
void run_group_norm(const Call& call) {
  normalize<true>(group_rows(tensor(call, 0), call.args[3].integer), call, tensor(call, 2),
                  call.args[4].number, tensor(call, 5));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_group_norm_f32, check_groups, run_group_norm);
THIMBLE_DEFINE_KERNEL(portable, thimble_layer_norm_f32, check_trailing<2>, run_layer_norm);
THIMBLE_DEFINE_KERNEL(portable, thimble_rms_norm_f32, check_trailing<1>, run_rms_norm);

}  // namespace thimble::kernels
