// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/samples.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "abi/params/arithmetic.h"
#include "abi/params/frame.h"
#include "abi/params/integers.h"
#include "abi/params/linear.h"
#include "abi/params/pool.h"
#include "abi/params/recurrent.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "abi/params/spectrum.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/depthwise_mve_case.h"
#include "tests/kernels/dsp_case.h"
#include "tests/kernels/int4_case.h"
#include "tests/kernels/matmul_mve_case.h"
#include "tests/kernels/sample_values.h"
#include "tests/kernels/scalar_case.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

Invocation convolution(PteOp op, Random& random) {
  const bool stock =
      op == PteOp::cortex_m_quantized_conv2d || op == PteOp::cortex_m_quantized_depthwise_conv2d;
  const bool depthwise =
      op == PteOp::thimble_depthwise_conv2d || op == PteOp::cortex_m_quantized_depthwise_conv2d;
  ConvCase c;
  c.groups = uniform(random, 1, 4);
  c.in_c = c.groups * (depthwise ? 1 : uniform(random, 1, 4));
  c.out_c = c.groups * uniform(random, 1, 6);
  for (int a = 0; a < 2; ++a) {
    const int32_t kernel = uniform(random, 1, 3);
    const int32_t dilation = uniform(random, 1, 2);
    const int32_t pad = uniform(random, 0, 2);
    const int32_t reach = (kernel - 1) * dilation + 1;
    const int32_t in = uniform(random, std::max(1, reach - 2 * pad), reach + 3);
    const int32_t stride = uniform(random, 1, 3);
    c.set_axis(a, {in, kernel, stride, dilation, pad, (in + 2 * pad - reach) / stride + 1});
  }
  c.randomize(random);
  if (!stock && c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 1);
  return stock ? c.stock(random, op) : c.native(random, op);
}

Invocation pool(PteOp op, Random& random) {
  const bool average =
      op == PteOp::thimble_avg_pool2d || op == PteOp::cortex_m_quantized_avg_pool2d;
  const int32_t kernel = uniform(random, 1, 3);
  const int32_t stride = uniform(random, 1, 3);
  const int32_t pad = kernel / 2;
  const int32_t in = uniform(random, kernel, 6);
  const int32_t out = (in + 2 * pad - kernel) / stride + 1;
  const int32_t channels = uniform(random, 1, 5);
  Invocation call(op);
  call.add(random_codes(random, {2, channels, in, in}, kNhwc));
  if (op == PteOp::thimble_avg_pool2d || op == PteOp::thimble_max_pool2d) {
    call.add(params_constant(
        abi::PoolParams{kernel, kernel, stride, stride, 1, 1, pad, pad, -128, 127}));
  } else {
    call.add({kernel, kernel}).add({stride, stride}).add({pad, pad});
    if (!average) call.add({1, 1});
    call.add(int64_t{0}).add(int64_t{0}).add(int64_t{0});
    if (average) {
      call.add(int64_t{0}).add(make(DType::kU8, {8}));
    } else {
      call.add(int64_t{-128}).add(int64_t{127});
    }
  }
  return std::move(call.add(make(DType::kI8, {2, channels, out, out}, kNhwc)));
}

Invocation linear(PteOp op, Random& random) {
  const int32_t in = uniform(random, 1, 12);
  const int32_t out = uniform(random, 1, 8);
  Invocation call(op);
  call.add(random_codes(random, {2, in}));
  if (op == PteOp::thimble_linear) {
    const abi::LinearParams header = {in, out, out, 3, 4, -128, 127};
    const std::vector<int32_t> each(static_cast<size_t>(out), 1 << 30);
    std::vector<uint8_t> bytes;
    append(bytes, &header, 1);
    append_packed(bytes, each, each, std::vector<int32_t>(each.size(), -7),
                  std::vector<int8_t>(each.size() * static_cast<size_t>(in), 5));
    call.add(constant_bytes(bytes));
  } else {
    call.add(random_codes(random, {out, in}));
    call.add(constant_words(std::vector<int32_t>(static_cast<size_t>(out), 7))).add(absent());
    call.add(int64_t{3}).add(int64_t{0}).add(int64_t{4});
    const size_t entries = random() % 2 == 0 ? 1 : static_cast<size_t>(out);
    call.add(std::vector<int32_t>(entries, 1 << 30)).add(std::vector<int32_t>(entries, -8));
    call.add(int64_t{127}).add(int64_t{-128});
  }
  return std::move(call.add(make(DType::kI8, {2, out})));
}

Invocation elementwise(PteOp op, Random& random) {
  const Sizes y = small(random, random() % 5);
  Sizes b = y;
  for (int32_t& size : b) size = random() % 2 == 0 ? 1 : size;
  const auto order = [&](const Sizes& sizes) { return random_order(random, sizes.size()); };
  Invocation call(op);
  call.add(random_codes(random, y, order(y)));
  if (op == PteOp::cortex_m_quantized_add || op == PteOp::cortex_m_quantized_mul) {
    const bool add = op == PteOp::cortex_m_quantized_add;
    call.add(zero_point(random));
    if (add) call.add(mult(random)).add(shift(random));
    call.add(random_codes(random, b, order(b))).add(zero_point(random));
    if (add) call.add(mult(random)).add(shift(random));
    call.add(zero_point(random)).add(mult(random)).add(shift(random));
    if (add) call.add(int64_t{-128}).add(int64_t{127});
  } else {
    call.add(random_codes(random, b, order(b)));
    call.add(op == PteOp::thimble_add
                 ? params_constant(
                       abi::AddParams{1, 1 << 30, 0, 2, 1 << 30, 0, 3, 1 << 30, -18, -128, 127, 1})
                 : params_constant(abi::MulParams{1, 2, 3, 1 << 30, -5, -128, 127}));
  }
  return std::move(call.add(make(DType::kI8, y, order(y))));
}

Invocation edge(PteOp op, Random& random) {
  const bool stock =
      op == PteOp::cortex_m_quantize_per_tensor || op == PteOp::cortex_m_dequantize_per_tensor;
  const bool quantize = op == PteOp::cortex_m_quantize_per_tensor || op == PteOp::thimble_quantize;
  const Sizes sizes = small(random, random() % 5);
  const Order order = random_order(random, sizes.size());
  Value x = make(quantize ? DType::kF32 : DType::kI8, sizes, order);
  x.fill(random);
  Invocation call(op);
  call.add(std::move(x)).add(0.125).add(zero_point(random));
  if (stock) call.add(int64_t{-128}).add(int64_t{127}).add(int64_t{1});
  const Order to = stock ? order : random_order(random, sizes.size());
  return std::move(call.add(make(quantize ? DType::kI8 : DType::kF32, sizes, to)));
}

Invocation rows(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 3);
  Invocation call(op);
  call.add(random_codes(random, sizes));
  if (op == PteOp::cortex_m_softmax) {
    call.add(int64_t{-1}).add(zero_point(random)).add(int64_t{-128});
    call.add(mult(random)).add(int64_t{23}).add(int64_t{-248});
  } else {
    std::vector<int32_t> table(256, 1000);
    table[0] = 1 << 20;
    call.add(params_constant(abi::LogSoftmaxParams{1 << 30, 1, 1 << 30, -12, 127}, table));
  }
  return std::move(call.add(make(DType::kI8, sizes)));
}

Invocation mean(Random& random) {
  Sizes sizes = small(random, 1 + random() % 5);
  Invocation call(PteOp::thimble_mean);
  call.add(random_codes(random, sizes, random_order(random, sizes.size())));
  const uint32_t mask = 1 + static_cast<uint32_t>(random()) % ((1U << sizes.size()) - 1);
  call.add(params_constant(abi::MeanParams{mask, 3, 4, 1 << 30, -2, -128, 127}));
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = (mask >> d & 1) != 0 ? 1 : sizes[d];
  return std::move(call.add(make(DType::kI8, sizes)));
}

Invocation activation(Random& random) {
  const Sizes sizes = small(random, random() % 4);
  Invocation call(PteOp::cortex_m_quantized_activation);
  call.add(random_codes(random, sizes)).add(random_codes(random, {256}));
  return std::move(call.add(make(DType::kI8, sizes)));
}

bool is_native(PteOp op) {
  return std::string_view(abi::info(op).name).starts_with("thimble::");
}

}  // namespace

Invocation sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::cortex_m_quantized_conv2d:
    case PteOp::cortex_m_quantized_depthwise_conv2d:
    case PteOp::thimble_conv2d:
    case PteOp::thimble_depthwise_conv2d:
      return convolution(op, random);
    case PteOp::thimble_conv2d_scalar:
    case PteOp::thimble_depthwise_scalar:
    case PteOp::thimble_linear_scalar:
      return scalar_sample(op, random);
    case PteOp::cortex_m_quantized_avg_pool2d:
    case PteOp::cortex_m_quantized_max_pool2d:
    case PteOp::thimble_avg_pool2d:
    case PteOp::thimble_max_pool2d:
      return pool(op, random);
    case PteOp::cortex_m_quantized_linear:
    case PteOp::thimble_linear:
      return linear(op, random);
    case PteOp::cortex_m_quantized_add:
    case PteOp::cortex_m_quantized_mul:
    case PteOp::thimble_add:
    case PteOp::thimble_mul:
      return elementwise(op, random);
    case PteOp::cortex_m_quantize_per_tensor:
    case PteOp::cortex_m_dequantize_per_tensor:
    case PteOp::thimble_quantize:
    case PteOp::thimble_dequantize:
      return edge(op, random);
    case PteOp::cortex_m_softmax:
    case PteOp::thimble_log_softmax:
      return rows(op, random);
    case PteOp::thimble_mean:
      return mean(random);
    case PteOp::thimble_conv2d_mve:
    case PteOp::thimble_linear_mve:
      return mve_sample(op, random);
    case PteOp::thimble_add_flat:
      return add_flat_sample(random);
    case PteOp::thimble_depthwise_mve:
      return mve_depthwise_sample(random);
    case PteOp::cortex_m_quantized_activation:
      return activation(random);
    case PteOp::aten_cat:
    case PteOp::aten_expand_copy:
    case PteOp::aten_slice_copy:
    case PteOp::cortex_m_pad:
    case PteOp::cortex_m_transpose:
    case PteOp::dim_order_clone:
      return direct_sample(op, random);
    case PteOp::thimble_add_table:
    case PteOp::thimble_avg_pool2d_packed:
    case PteOp::thimble_concat2:
    case PteOp::thimble_concat3:
    case PteOp::thimble_concat4:
    case PteOp::thimble_dequantize_nest:
    case PteOp::thimble_lut_packed:
    case PteOp::thimble_max_pool2d_packed:
    case PteOp::thimble_mean_run:
    case PteOp::thimble_move:
    case PteOp::thimble_mul_nest:
    case PteOp::thimble_quantize_nest:
    case PteOp::thimble_softmax_rows:
      return rows_sample(op, random);
    default:
      return is_native(op) ? direct_sample(op, random) : sample_executorch(op, random);
  }
}

}  // namespace thimble::kernels::test
