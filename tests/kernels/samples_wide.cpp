// SPDX-License-Identifier: Apache-2.0
// Samples of the operators with 16-bit activations.

#include <algorithm>
#include <utility>

#include "abi/params/arithmetic.h"
#include "abi/params/linear.h"
#include "abi/params/matmul.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

constexpr int32_t kHalf = 1 << 30;  // a multiplier of 1/2

Value filled(Random& random, DType dtype, const Sizes& sizes, const Order& order = {}) {
  Value value = order.empty() ? make(dtype, sizes) : make(dtype, sizes, order);
  value.fill(random);
  return value;
}
Value constant(Value value) {
  value.constant = true;
  return value;
}
Value bias(Random& random, int32_t channels) {
  Value value = make(DType::kI64, {channels});
  for (int32_t i = 0; i < channels; ++i) {
    value.as<int64_t>()[i] = int64_t{uniform(random, -1000, 1000)} << 30;
  }
  return constant(std::move(value));
}
void add_requantization(Random& random, Invocation& call, int32_t channels) {
  const size_t scales = random() % 2 == 0 ? 1 : static_cast<size_t>(channels);
  if (random() % 3 == 0) {
    call.add(absent());
  } else {
    call.add(bias(random, channels));
  }
  call.add(constant_words(std::vector<int32_t>(scales, kHalf)));
  call.add(constant_words(std::vector<int32_t>(scales, -12)));
}

Invocation binary(PteOp op, Random& random) {
  const Sizes sizes = {uniform(random, 1, 3), uniform(random, 1, 4)};
  Sizes small = sizes;
  small[random() % 2] = 1;
  Invocation call(op);
  call.add(filled(random, DType::kI16, sizes)).add(filled(random, DType::kI16, small));
  std::vector<int32_t> words = {kHalf, -14};
  if (op == PteOp::thimble_prelu16) {
    words = {kHalf, 1, kHalf, -14};
  } else if (op != PteOp::thimble_mul16) {
    words = {kHalf, 0, kHalf, -1, kHalf, -13};
  }
  words.insert(words.end(), {-32768, 32767});
  return std::move(call.add(attributes(words)).add(make(DType::kI16, sizes)));
}

Invocation convolution(Random& random) {
  const int32_t groups = uniform(random, 1, 3);
  const int32_t depth = uniform(random, 1, 3);
  const Sizes x = {2, groups * depth, uniform(random, 3, 5), uniform(random, 3, 5)};
  const Sizes w = {groups * uniform(random, 1, 2), depth, uniform(random, 1, 3),
                   uniform(random, 1, 3)};
  const Sizes y = {2, w[0], x[2] - w[2] + 3, x[3] - w[3] + 1};
  Invocation call(PteOp::thimble_conv2d16);
  call.add(filled(random, DType::kI16, x, kNhwc));
  call.add(constant(filled(random, DType::kI8, w, kNhwc)));
  add_requantization(random, call, w[0]);
  call.add(attributes({2, 1, 1, 4, 1, 0, 1, 0, 2, 1, 1, groups, -32768, 32767}));
  return std::move(call.add(make(DType::kI16, y, kNhwc)));
}

Invocation linear(Random& random) {
  const Sizes x = {2, uniform(random, 1, 300)};
  const Sizes w = {uniform(random, 1, 5), x[1]};
  Invocation call(PteOp::thimble_linear16);
  call.add(filled(random, DType::kI16, x)).add(constant(filled(random, DType::kI8, w)));
  add_requantization(random, call, w[0]);
  return std::move(call.add(params_constant(abi::Linear16Params{-32768, 32767}))
                       .add(make(DType::kI16, {2, w[0]})));
}

Invocation transposed(Random& random) {
  const int32_t groups = uniform(random, 1, 3);
  Sizes x = {2, groups * uniform(random, 1, 3), 0, 0};
  Sizes w = {x[1], uniform(random, 1, 5), 0, 0};
  Sizes y = {2, groups * w[1], 0, 0};
  std::vector<int32_t> stride, dilation;
  for (size_t side = 2; side < 4; ++side) {
    x[side] = uniform(random, 1, 4);
    w[side] = uniform(random, 1, 3);
    stride.push_back(uniform(random, 1, 3));
    dilation.push_back(uniform(random, 1, 2));
    y[side] = (x[side] - 1) * stride.back() + (w[side] - 1) * dilation.back() + 1;
  }
  const int32_t cut = y[2] > 1 ? 1 : 0;
  y[2] -= cut;
  Invocation call(PteOp::thimble_conv_transpose2d16);
  call.add(filled(random, DType::kI16, x, kNhwc));
  call.add(constant(filled(random, DType::kI8, w, {1, 2, 3, 0})));
  add_requantization(random, call, y[1]);
  call.add(attributes({2, stride[0], stride[1], 4, cut, 0, 0, 0, 2, 0, 0, 2, dilation[0],
                       dilation[1], groups, -32768, 32767}));
  return std::move(call.add(make(DType::kI16, y, kNhwc)));
}

Invocation norm(PteOp op, Random& random) {
  Sizes sizes;
  for (uint64_t rank = 2 + random() % 3; rank > 0; --rank) sizes.push_back(uniform(random, 1, 4));
  const bool grouped = op == PteOp::thimble_group_norm16;
  const int32_t entries = grouped ? sizes[1] : sizes.back();
  Order order = contiguous(sizes.size());
  if (grouped && random() % 2 == 0) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  Invocation call(op);
  call.add(filled(random, DType::kI16, sizes, order));
  call.add(random() % 2 == 0 ? absent() : constant(filled(random, DType::kI16, {entries})));
  if (op != PteOp::thimble_rms_norm16) {
    const std::vector<int32_t> bias(static_cast<size_t>(entries), -123456);
    call.add(random() % 2 == 0 ? absent() : constant_words(bias));
  }
  call.add(attributes({1, 5, 2, kHalf, -3, -32768, 32767}));
  return std::move(call.add(make(DType::kI16, sizes, order)));
}

Invocation product(Random& random) {
  const int32_t depth = uniform(random, 1, 5);
  const int32_t transpose_b = uniform(random, 0, 1);
  const Sizes a = {uniform(random, 1, 2), uniform(random, 1, 4), depth};
  Sizes b = {depth, uniform(random, 1, 5)};
  const Sizes y = {a[0], a[1], b[1]};
  if (transpose_b != 0) std::swap(b[0], b[1]);
  Invocation call(PteOp::thimble_matmul16);
  call.add(filled(random, DType::kI16, a)).add(filled(random, DType::kI16, b));
  call.add(params_constant(abi::Matmul16Params{transpose_b, kHalf, -15, -32768, 32767}));
  return std::move(call.add(make(DType::kI16, y)));
}

Invocation pool(PteOp op, Random& random) {
  const Sizes x = {2, uniform(random, 1, 3), uniform(random, 2, 5), uniform(random, 2, 5)};
  const Sizes y = {2, x[1], x[2] - 1, x[3] - 1};
  std::vector<int32_t> words = {2, 2, 2, 2, 1, 1, 4, 0, 0, 0, 0};
  if (op == PteOp::thimble_max_pool2d16) {
    words.insert(words.end(), {2, 1, 1});
  } else {
    words.insert(words.end(), {-32768, 32767});
  }
  Invocation call(op);
  call.add(filled(random, DType::kI16, x, kNhwc)).add(attributes(words));
  return std::move(call.add(make(DType::kI16, y, kNhwc)));
}

Invocation mean(Random& random) {
  const Sizes x = {2, uniform(random, 1, 4), uniform(random, 1, 4)};
  Invocation call(PteOp::thimble_mean16);
  call.add(filled(random, DType::kI16, x))
      .add(params_constant(abi::Mean16Params{0, kHalf, -1, -32768, 32767, {1}}, {1}));
  return std::move(call.add(make(DType::kI16, {x[0], x[2]})));
}

Invocation edge(PteOp op, Random& random) {
  const bool quantizes = op == PteOp::thimble_quantize16;
  const Sizes sizes = {2, uniform(random, 1, 4)};
  Invocation call(op);
  call.add(filled(random, quantizes ? DType::kF32 : DType::kI16, sizes));
  call.add(0.001).add(int64_t{0});
  return std::move(call.add(make(quantizes ? DType::kI16 : DType::kF32, sizes)));
}

/// Operators whose result has the shape of their operand.
Invocation unary(PteOp op, Random& random) {
  const Sizes sizes = {2, uniform(random, 1, 6)};
  const DType from = op != PteOp::thimble_lut16 && random() % 2 == 0 ? DType::kI8 : DType::kI16;
  const bool narrows = op == PteOp::thimble_rescale && random() % 2 == 0;
  Invocation call(op);
  call.add(filled(random, from, sizes));
  if (op == PteOp::thimble_lut16) {
    call.add(constant(filled(random, DType::kI16, {513})));
  } else if (op == PteOp::thimble_softmax16) {
    call.add(params_constant(abi::SoftmaxParams{1, kHalf, 12, -65535}));
  } else {
    call.add(params_constant(abi::RescaleParams{5, -3, kHalf, -2, narrows ? 0 : 1}));
  }
  return std::move(call.add(make(narrows ? DType::kI8 : DType::kI16, sizes)));
}

}  // namespace

Invocation wide_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::thimble_add16:
    case PteOp::thimble_mul16:
    case PteOp::thimble_prelu16:
    case PteOp::thimble_sub16:
      return binary(op, random);
    case PteOp::thimble_avg_pool2d16:
    case PteOp::thimble_max_pool2d16:
      return pool(op, random);
    case PteOp::thimble_conv2d16:
      return convolution(random);
    case PteOp::thimble_conv_transpose2d16:
      return transposed(random);
    case PteOp::thimble_group_norm16:
    case PteOp::thimble_layer_norm16:
    case PteOp::thimble_rms_norm16:
      return norm(op, random);
    case PteOp::thimble_matmul16:
      return product(random);
    case PteOp::thimble_dequantize16:
    case PteOp::thimble_quantize16:
      return edge(op, random);
    case PteOp::thimble_linear16:
      return linear(random);
    case PteOp::thimble_mean16:
      return mean(random);
    default:
      return unary(op, random);
  }
}

}  // namespace thimble::kernels::test
