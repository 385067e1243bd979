// SPDX-License-Identifier: Apache-2.0
// thimble::max_pool2d.i16; formula: docs/numerics.md, "Pools and reductions". Each tap updates
// the maxima of all channels in the output, so that no accumulators are needed.
//
// Operands: x NHWC, parameters, y NHWC.

#include "abi/ops/pool.h"
#include "abi/params/pool.h"
#include "kernels/args/params.h"
#include "kernels/args/pool16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::MaxPool2d16Params;

Pool16 bind(const Call& call) {
  const MaxPool2d16Params& p = params<abi::op_info::thimble_max_pool2d16>(tensor(call, 1));
  Pool16 pool = bind_pool16(tensor(call, 0), tensor(call, 2), p.window);
  for (uint32_t a = 0; a < 2; ++a) pool.axis[a].dilation = p.dilation.items[a];
  return pool;
}

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_max_pool2d16>(tensor(call, 1)));
  const MaxPool2d16Params& p = params<abi::op_info::thimble_max_pool2d16>(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(check_images16(tensor(call, 0), tensor(call, 2), p.window));
  return p.dilation.is_complete() ? check_pool16(bind(call)) : Status::kBadParameter;
}

void fold(const int16_t* x, int32_t channels, int16_t* y) {
  for (int32_t c = 0; c < channels; ++c) y[c] = x[c] > y[c] ? x[c] : y[c];
}

void run(const Call& call) {
  const Pool16 pool = bind(call);
  const int32_t column_step = pool.axis[1].dilation * pool.c;
  const int32_t row_step = pool.axis[0].dilation * pool.axis[1].in * pool.c;
  for_each_pixel(pool, [&](const int16_t* x, int32_t rows, int32_t columns, int16_t* y) {
    for (int32_t c = 0; c < pool.c; ++c) y[c] = INT16_MIN;
    for (int32_t row = 0; row < rows; ++row) {
      for (int32_t column = 0; column < columns; ++column) {
        fold(x + row * row_step + column * column_step, pool.c, y);
      }
    }
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_max_pool2d16, check, run);

}  // namespace thimble::kernels
