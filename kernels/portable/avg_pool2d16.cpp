// SPDX-License-Identifier: Apache-2.0
// thimble::avg_pool2d.i16; formula: docs/numerics.md, "Pools and reductions". The count
// excludes padding.
//
// Operands: x NHWC, parameters, y NHWC.

#include "abi/ops/pool.h"
#include "abi/params/pool.h"
#include "kernels/args/params.h"
#include "kernels/args/pool16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::AvgPool2d16Params;

/// Maximum number of taps; the sum of a window plus half its count then fits 32 bits.
constexpr int64_t kMaxTaps = (1 << 16) - 1;

const AvgPool2d16Params& params_of(const Call& call) {
  return params<abi::op_info::thimble_avg_pool2d16>(tensor(call, 1));
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_avg_pool2d16>(tensor(call, 1)));
  const AvgPool2d16Params& p = params_of(call);
  THIMBLE_RETURN_IF_ERROR(check_images16(x, y, p.window));
  if (!are_bounds16(p.min, p.max)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_pool16(bind_pool16(x, y, p.window)));
  const int64_t taps = int64_t{p.window.kernel.items[0]} * p.window.kernel.items[1];
  return taps <= kMaxTaps ? Status::kOk : Status::kBadShape;
}

void run(const Call& call) {
  const AvgPool2d16Params& p = params_of(call);
  const Pool16 pool = bind_pool16(tensor(call, 0), tensor(call, 2), p.window);
  const int32_t row_step = pool.axis[1].in * pool.c;
  for_each_pixel(pool, [&](const int16_t* x, int32_t rows, int32_t columns, int16_t* y) {
    const int32_t count = rows * columns;
    const int32_t half = count / 2;
    for (int32_t c = 0; c < pool.c; ++c) {
      int32_t total = 0;
      for (int32_t row = 0; row < rows; ++row) {
        for (int32_t column = 0; column < columns; ++column) {
          total += x[row * row_step + column * pool.c + c];
        }
      }
      const int32_t mean = (total + (total >= 0 ? half : -half)) / count;
      y[c] = static_cast<int16_t>(numerics::clamp(mean, p.min, p.max));
    }
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_avg_pool2d16, check, run);

}  // namespace thimble::kernels
