// SPDX-License-Identifier: Apache-2.0
// thimble::linear.f32. Each result is the float32 sum of its products in order, then the bias. Four
// outputs are computed at once: five loads for four products.
//
// Operands: x [..., in], w [out, in], bias [out]?, y [..., out]; contiguous.

#include "abi/ops/float.h"
#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kRows = 4;  // of the weights, at once

void multiply_four(const float* x, const float* w, int32_t in, const float* bias, float* y) {
  const float* const w1 = w + in;
  const float* const w2 = w1 + in;
  const float* const w3 = w2 + in;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int32_t k = 0; k < in; ++k) {
    const float value = x[k];
    s0 += value * w[k];
    s1 += value * w1[k];
    s2 += value * w2[k];
    s3 += value * w3[k];
  }
  y[0] = s0 + (bias == nullptr ? 0 : bias[0]);
  y[1] = s1 + (bias == nullptr ? 0 : bias[1]);
  y[2] = s2 + (bias == nullptr ? 0 : bias[2]);
  y[3] = s3 + (bias == nullptr ? 0 : bias[3]);
}
void multiply_one(const float* x, const float* w, int32_t in, const float* bias, float* y) {
  float sum = 0;
  for (int32_t k = 0; k < in; ++k) sum += x[k] * w[k];
  y[0] = sum + (bias == nullptr ? 0 : bias[0]);
}

void run(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const int32_t in = w.sizes[1], out = w.sizes[0];
  float* y = mutable_floats(tensor(call, 3));
  const float* x = floats(tensor(call, 0));
  for (int32_t i = 0, rows = elements(tensor(call, 0)) / in; i < rows; ++i, x += in, y += out) {
    for (int32_t j = 0; j < out;) {
      const float* const start = bias.is_null ? nullptr : floats(bias) + j;
      if (out - j >= kRows) {
        multiply_four(x, floats(w) + j * in, in, start, y + j);
        j += kRows;
      } else {
        multiply_one(x, floats(w) + j * in, in, start, y + j);
        ++j;
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_linear_f32, check_float_linear, run);

}  // namespace thimble::kernels
