// SPDX-License-Identifier: Apache-2.0
// Samples of image operators without packed parameters.

#include <algorithm>

#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

Invocation conv_transpose(Random& random) {
  const int32_t groups = uniform(random, 1, 3);
  const int32_t in_c = groups * uniform(random, 1, 3);
  const int32_t group_o = uniform(random, 1, 5);
  Sizes x = {2, in_c, 0, 0}, w = {in_c, group_o, 0, 0}, y = {2, groups * group_o, 0, 0};
  std::vector<int32_t> stride, dilation;
  for (size_t side = 2; side < 4; ++side) {
    x[side] = uniform(random, 1, 4);
    w[side] = uniform(random, 1, 3);
    stride.push_back(uniform(random, 1, 3));
    dilation.push_back(uniform(random, 1, 2));
    y[side] = (x[side] - 1) * stride.back() + (w[side] - 1) * dilation.back() + 1;
  }
  const bool cut = y[2] > 1;
  if (cut) y[2] -= 1;
  const size_t scales = random() % 2 == 0 ? 1 : static_cast<size_t>(y[1]);
  Invocation call(PteOp::thimble_conv_transpose2d);
  call.add(random_codes(random, x, kNhwc));
  Value weights = random_codes(random, w, {1, 2, 3, 0});
  weights.constant = true;
  call.add(std::move(weights));
  call.add(constant_words(std::vector<int32_t>(static_cast<size_t>(y[1]), 9)));
  call.add(constant_words(std::vector<int32_t>(scales, 1 << 30)));
  call.add(constant_words(std::vector<int32_t>(scales, -7)));
  call.add(attributes({2, stride[0], stride[1],   4,           cut ? 1 : 0, 0, 0, 0,    2,   0,
                       0, 2,         dilation[0], dilation[1], groups,      3, 4, -128, 127, 0}));
  return std::move(call.add(make(DType::kI8, y, kNhwc)));
}

/// Returns an image of int8 or int16.
Value image(Random& random, const Sizes& sizes) {
  Value value = make(random() % 2 == 0 ? DType::kI8 : DType::kI16, sizes, kNhwc);
  value.fill(random);
  return value;
}

Invocation adaptive_pool(PteOp op, Random& random) {
  const Sizes x = {2, uniform(random, 1, 4), uniform(random, 1, 7), uniform(random, 1, 7)};
  const Sizes y = {x[0], x[1], uniform(random, 1, 5), uniform(random, 1, 5)};
  std::vector<int32_t> words = {2, y[2], y[3]};
  if (op == PteOp::thimble_adaptive_avg_pool2d) words.insert(words.end(), {-128, 127});
  Invocation call(op);
  Value from = image(random, x);
  const DType dtype = from.dtype;
  call.add(std::move(from)).add(attributes(words));
  return std::move(call.add(make(dtype, y, kNhwc)));
}

Invocation resize(Random& random) {
  const Sizes x = {2, uniform(random, 1, 4), uniform(random, 1, 5), uniform(random, 1, 5)};
  Sizes y = x;
  Invocation call(PteOp::thimble_resize_bilinear);
  Value from = image(random, x);
  const DType dtype = from.dtype;
  call.add(std::move(from));
  for (size_t side = 2; side < 4; ++side) {
    y[side] = uniform(random, 1, 6);
    std::vector<int32_t> low, weight;
    for (int32_t i = 0; i < y[side]; ++i) {
      low.push_back(uniform(random, 0, x[side] - 1));
      weight.push_back(uniform(random, 0, 2048));
    }
    call.add(constant_words(low)).add(constant_words(weight));
  }
  return std::move(call.add(make(dtype, y, kNhwc)));
}

Invocation permute(Random& random) {
  const Order order = random_order(random, 1 + random() % abi::kMaxRank);
  Sizes x, y;
  std::vector<int32_t> words = {static_cast<int32_t>(order.size())};
  for (size_t d = 0; d < order.size(); ++d) x.push_back(uniform(random, 1, 3));
  for (const uint8_t dim : order) {
    words.push_back(dim);
    y.push_back(x[dim]);
  }
  Invocation call(PteOp::thimble_permute);
  call.add(random_codes(random, x, random_order(random, x.size())));
  call.add(attributes(words));
  return std::move(call.add(make(DType::kI8, y, random_order(random, y.size()))));
}

}  // namespace

Invocation image_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::thimble_conv_transpose2d:
      return conv_transpose(random);
    case PteOp::thimble_permute:
      return permute(random);
    case PteOp::thimble_resize_bilinear:
      return resize(random);
    default:
      return adaptive_pool(op, random);
  }
}

}  // namespace thimble::kernels::test
