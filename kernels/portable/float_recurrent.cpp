// SPDX-License-Identifier: Apache-2.0
// thimble::lstm.f32, gru.f32 and rnn.f32: see kernels/args/float_recurrent.h.

#include "kernels/args/float_recurrent.h"

#include "abi/ops/float.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void add_products(float* sums, const float* w, int32_t rows, const float* x, int32_t count,
                  const float* bias) {
  for (int32_t row = 0; row < rows; ++row, w += count) {
    float sum = sums[row];
    for (int32_t k = 0; k < count; ++k) sum += w[k] * x[k];
    sums[row] = bias == nullptr ? sum : sum + bias[row];
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_gru_f32, float_recurrent::check_gru,
                      float_recurrent::run_gru<add_products>);
THIMBLE_DEFINE_KERNEL(portable, thimble_lstm_f32, float_recurrent::check_lstm,
                      float_recurrent::run_lstm<add_products>);
THIMBLE_DEFINE_KERNEL(portable, thimble_rnn_f32, float_recurrent::check_rnn,
                      float_recurrent::run_rnn<add_products>);

}  // namespace thimble::kernels
