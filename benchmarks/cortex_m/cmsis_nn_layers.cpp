// SPDX-License-Identifier: Apache-2.0
// Calls the layers of LAYERS_FILE in CMSIS-NN, each in a scope that the instruction counter knows
// (cmsis_nn_measure.py). Weights and activations are random with a fixed seed; zero points are not
// 0. The instructions depend on them only where requantization branches on a sign.

#include <cstdint>

#include "arm_nnfunctions.h"
#include "firmware/common/marks.h"
#include "firmware/common/semihosting.h"

extern "C" uint8_t big_start[], big_end[];

namespace {

enum Kind { kConv, kDepthwise, kLinear, kAdd, kAveragePool, kSoftmax };
struct Layer {
  Kind kind;
  int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride, pad_h, pad_w;
};
const Layer layers[] = {
#include LAYERS_FILE
};

constexpr int32_t kChannelsMax = 2048;
int32_t multipliers[kChannelsMax], shifts[kChannelsMax], biases[kChannelsMax];
uint32_t seed = 1;
uint8_t* next_free;

uint32_t random_bits() {
  seed = seed * 1664525U + 1013904223U;
  return seed >> 8;
}

void* reserve(int32_t bytes) {
  uint8_t* const start = next_free;
  next_free += (bytes + 31) / 32 * 32;
  if (next_free > big_end) {
    thimble::firmware::host_print("error: a layer does not fit into the memory of the board\n");
    thimble::firmware::host_exit(1);
  }
  return start;
}

int8_t* random_tensor(int32_t count) {
  auto* const data = static_cast<int8_t*>(reserve(count));
  for (int32_t i = 0; i < count; ++i) data[i] = static_cast<int8_t>(random_bits());
  return data;
}

cmsis_nn_context scratch(int32_t bytes) {
  return {bytes > 0 ? reserve(bytes) : nullptr, bytes};
}

arm_cmsis_nn_status run(const Layer& l) {
  using thimble::firmware::mark_end;
  using thimble::firmware::mark_op;
  const cmsis_nn_dims in = {1, l.in_h, l.in_w, l.in_c}, out = {1, l.out_h, l.out_w, l.out_c};
  const cmsis_nn_dims bias = {1, 1, 1, l.out_c};
  const cmsis_nn_tile stride = {l.stride, l.stride}, pad = {l.pad_w, l.pad_h}, one = {1, 1};
  const cmsis_nn_activation limits = {-128, 127};
  const cmsis_nn_per_channel_quant_params channels = {multipliers, shifts};
  const int8_t* const x = random_tensor(l.in_h * l.in_w * l.in_c);
  auto* const y = static_cast<int8_t*>(reserve(l.out_h * l.out_w * l.out_c));
  arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
  switch (l.kind) {
    case kConv: {
      const cmsis_nn_conv_params params = {4, -7, stride, pad, one, limits};
      const cmsis_nn_dims filter = {l.out_c, l.kernel_h, l.kernel_w, l.in_c};
      const int8_t* const w = random_tensor(l.out_c * l.kernel_h * l.kernel_w * l.in_c);
      const cmsis_nn_context context =
          scratch(arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
      mark_op();
      status = arm_convolve_wrapper_s8(&context, &params, &channels, &in, x, &filter, w, &bias,
                                       biases, &out, y);
      mark_end();
      return status;
    }
    case kDepthwise: {
      const cmsis_nn_dw_conv_params params = {4, -7, 1, stride, pad, one, limits};
      const cmsis_nn_dims filter = {1, l.kernel_h, l.kernel_w, l.out_c};
      const int8_t* const w = random_tensor(l.kernel_h * l.kernel_w * l.out_c);
      const cmsis_nn_context context =
          scratch(arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
      mark_op();
      status = arm_depthwise_conv_wrapper_s8(&context, &params, &channels, &in, x, &filter, w,
                                             &bias, biases, &out, y);
      mark_end();
      return status;
    }
    case kLinear: {
      const cmsis_nn_fc_params params = {4, 0, -7, limits};
      const cmsis_nn_quant_params tensor = {multipliers, shifts, 0};
      const cmsis_nn_dims from = {1, 1, 1, l.in_c}, filter = {l.in_c, 1, 1, l.out_c},
                          to = {1, 1, 1, l.out_c};
      const int8_t* const w = random_tensor(l.in_c * l.out_c);
      const cmsis_nn_context context = scratch(arm_fully_connected_s8_get_buffer_size(&filter));
      mark_op();
      status = arm_fully_connected_wrapper_s8(&context, &params, &tensor, &from, x, &filter, w,
                                              &bias, biases, &to, y);
      mark_end();
      return status;
    }
    case kAdd: {
      const int32_t count = l.out_h * l.out_w * l.out_c;
      const int8_t* const b = random_tensor(count);
      mark_op();
      status = arm_elementwise_add_s8(x, b, 4, 1640531527, 0, 9, 1840700269, -2, 20, y, -7,
                                      1518500249, -18, -128, 127, count);
      mark_end();
      return status;
    }
    case kAveragePool: {
      const cmsis_nn_pool_params params = {stride, pad, limits};
      const cmsis_nn_dims filter = {1, l.kernel_h, l.kernel_w, 1};
      const cmsis_nn_context context = scratch(arm_avgpool_s8_get_buffer_size(l.out_w, l.in_c));
      mark_op();
      status = arm_avgpool_s8(&context, &params, &in, x, &filter, &out, y);
      mark_end();
      return status;
    }
    case kSoftmax:
      mark_op();
      arm_softmax_s8(x, 1, l.in_c, 1717986918, 22, -248, y);
      mark_end();
      return status;
  }
  return ARM_CMSIS_NN_ARG_ERROR;
}

}  // namespace

int main() {
  for (int32_t i = 0; i < kChannelsMax; ++i) {
    multipliers[i] = static_cast<int32_t>(0x40000000U + random_bits() * 64U);
    shifts[i] = -6 - static_cast<int32_t>(random_bits() % 4);
    biases[i] = static_cast<int32_t>(random_bits() % 4096) - 2048;
  }
  thimble::firmware::mark_run();
  for (const Layer& layer : layers) {
    next_free = big_start;
    if (run(layer) != ARM_CMSIS_NN_SUCCESS) {
      thimble::firmware::host_print("error: CMSIS-NN refused a layer\n");
      return 1;
    }
  }
  thimble::firmware::mark_end();
  return 0;
}
