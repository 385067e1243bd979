// SPDX-License-Identifier: Apache-2.0
#include "random_integer_generator.h"

namespace thimble::test {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

void IntegerGraphGenerator::conv(ValueId x) {
  if (shape(x).size() != 4) return;
  const int64_t channels = shape(x)[1];
  int64_t groups = 1, out = random_.between(1, 8);
  if (random_.chance(35)) {
    groups = channels;
    out = channels * random_.between(1, 2);
  } else if (channels % 2 == 0 && random_.chance(20)) {
    groups = 2;
    out = 2 * random_.between(1, 3);
  }
  const std::vector<int64_t> kernel = pair(1, 3);
  const Shape weights = {out, channels / groups, kernel[0], kernel[1]};
  const auto [mult, shift] = multipliers(random_.chance(80) ? out : 1, 0.02);
  const ValueId bias = random_.chance(70) ? constant(small_i32(out)) : ir::kNoValue;
  Attrs attrs = {{ir::attr::stride, pair(1, 2)},
                 {ir::attr::padding, padding()},
                 {ir::attr::dilation, pair(1, random_.chance(20) ? 2 : 1)},
                 {ir::attr::groups, groups},
                 {ir::attr::x_zp, code()},
                 {ir::attr::y_zp, code()}};
  set_clamp(&attrs);
  keep(OpKind::qconv2d, {x, codes(weights), bias, mult, shift}, std::move(attrs), true);
}

void IntegerGraphGenerator::image(ValueId x) {
  if (shape(x).size() != 4) return;
  switch (random_.between(0, 4)) {
    case 0:
      return conv_transpose(x);
    case 1: {
      Attrs attrs = {{ir::attr::size, pair(1, 6)}};
      set_clamp(&attrs);
      keep(OpKind::qadaptive_avg_pool2d, {x}, std::move(attrs), false);
      return;
    }
    case 2:
      keep(OpKind::adaptive_max_pool2d, {x}, {{ir::attr::size, pair(1, 6)}}, false);
      return;
    case 3:
      return resize(x);
    default:
      return rearrange(x);
  }
}

void IntegerGraphGenerator::conv_transpose(ValueId x) {
  const int64_t channels = shape(x)[1];
  const int64_t groups = random_.chance(40) ? channels : 1;
  const int64_t out = random_.between(1, 5);
  const std::vector<int64_t> kernel = pair(1, 3);
  const auto [mult, shift] = multipliers(random_.chance(80) ? out * groups : 1, 0.02);
  const ValueId bias = random_.chance(70) ? constant(small_i32(out * groups)) : ir::kNoValue;
  Attrs attrs = {{ir::attr::stride, pair(1, 3)},
                 {ir::attr::padding, padding()},
                 {ir::attr::output_padding, pair(0, random_.chance(30) ? 1 : 0)},
                 {ir::attr::dilation, pair(1, random_.chance(20) ? 3 : 1)},
                 {ir::attr::groups, groups},
                 {ir::attr::x_zp, code()},
                 {ir::attr::y_zp, code()}};
  set_clamp(&attrs);
  const ValueId weights = codes({channels, out, kernel[0], kernel[1]});
  keep(OpKind::qconv_transpose2d, {x, weights, bias, mult, shift}, std::move(attrs), true);
}

void IntegerGraphGenerator::resize(ValueId x) {
  std::vector<ValueId> operands = {x};
  for (const size_t side : {size_t{2}, size_t{3}}) {
    const int64_t count = random_.between(1, 8);
    std::vector<int32_t> low, weight;
    for (int64_t i = 0; i < count; ++i) {
      low.push_back(static_cast<int32_t>(random_.between(0, shape(x)[side] - 1)));
      weight.push_back(static_cast<int32_t>(random_.between(0, 2048)));
    }
    operands.push_back(constant(ir::make_i32({count}, low)));
    operands.push_back(constant(ir::make_i32({count}, weight)));
  }
  keep(OpKind::qresize_bilinear, std::move(operands), {}, false);
}

void IntegerGraphGenerator::rearrange(ValueId x) {
  const Shape from = shape(x);
  if (random_.chance(50)) {
    const int64_t dim = random_.between(0, 3);
    const int64_t size = from[static_cast<size_t>(dim)];
    std::vector<int32_t> index;
    for (int64_t i = random_.between(1, 6); i > 0; --i) {
      index.push_back(static_cast<int32_t>(random_.between(0, size - 1)));
    }
    const auto count = static_cast<int64_t>(index.size());
    keep(OpKind::gather, {x, constant(ir::make_i32({count}, index))}, {{ir::attr::dim, dim}},
         false);
    return;
  }
  const int64_t r = from[1] % 4 == 0 ? 2 : 1;  // a pixel shuffle
  if (!keep(OpKind::reshape, {x},
            {{ir::attr::shape, Shape{from[0], from[1] / (r * r), r, r, from[2], from[3]}}}, false))
    return;
  if (!keep(OpKind::permute, {values_.back()}, {{ir::attr::dims, Shape{0, 1, 4, 2, 5, 3}}}, false))
    return;
  keep(OpKind::reshape, {values_.back()},
       {{ir::attr::shape, Shape{from[0], from[1] / (r * r), from[2] * r, from[3] * r}}}, false);
}

void IntegerGraphGenerator::pool(OpKind kind, ValueId x) {
  if (shape(x).size() != 4) return;
  Attrs attrs = {{ir::attr::kernel, pair(1, 3)}, {ir::attr::stride, pair(1, 3)}};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  if (random_.chance(50)) {
    pad = {random_.between(0, 1), random_.between(0, 1), 0, 0};
    pad[2] = pad[0];
    pad[3] = pad[1];
  }
  if (!options_.stock_only && random_.chance(20)) pad[3] += 1;
  attrs.set(ir::attr::padding, pad);
  if (kind == OpKind::max_pool2d) {
    attrs.set(ir::attr::dilation, options_.stock_only ? std::vector<int64_t>{1, 1} : pair(1, 2));
  } else {
    set_clamp(&attrs);
  }
  keep(kind, {x}, std::move(attrs), false);
}

}  // namespace thimble::test
