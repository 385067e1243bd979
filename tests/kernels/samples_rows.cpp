// SPDX-License-Identifier: Apache-2.0
// Samples of the operators of abi/packed_ops.h.

#include "abi/params/arithmetic.h"
#include "abi/params/window.h"
#include "tests/kernels/rows_case.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

uint32_t size_of(int32_t value) {
  return static_cast<uint32_t>(value);
}

Invocation softmax(Random& random) {
  const Sizes sizes = {uniform(random, 1, 4), uniform(random, 1, 20)};
  Invocation call(PteOp::thimble_softmax_rows);
  call.add(random_codes(random, sizes));
  const bool wide = random() % 2 == 0;
  call.add(packed_value(softmax_constant(0.07, size_of(sizes[0]), size_of(sizes[1]), wide)));
  return std::move(call.add(make(wide ? DType::kI16 : DType::kI8, sizes)));
}

/// a is a matrix; b is a row or a whole matrix.
Invocation binary(PteOp op, Random& random) {
  const Sizes y = {uniform(random, 1, 5), uniform(random, 1, 9)};
  const bool broadcasts = random() % 2 == 0;
  const auto width = size_of(y[1]);
  const abi::LoopNest nest =
      nest_of({{size_of(y[0]), width, broadcasts ? 0 : width}, {width, 1, 1}});
  Invocation call(op);
  call.add(random_codes(random, y));
  call.add(random_codes(random, broadcasts ? Sizes{y[1]} : y));
  if (op == PteOp::thimble_add_table) {
    const abi::AddParams p = {1, 1 << 30, 0, 2, 1 << 30, 0, 3, 1 << 30, -18, -128, 127, 1};
    call.add(packed_value(add_constant(p, nest)));
  } else {
    call.add(packed_value(abi::MulNest{nest, {1, 2, 3, 1 << 30, -5, -128, 127}}));
  }
  return std::move(call.add(make(DType::kI8, y)));
}

Invocation pool(PteOp op, Random& random) {
  abi::WindowGeometry g = {};
  g.kernel_h = g.kernel_w = static_cast<uint8_t>(uniform(random, 1, 3));
  g.stride_h = g.stride_w = static_cast<uint8_t>(uniform(random, 1, 3));
  g.dilation_h = g.dilation_w = 1;
  g.pad_top = g.pad_left = g.kernel_h / 2;
  const int32_t in = uniform(random, g.kernel_h, 6);
  const int32_t out = (in + 2 * g.pad_top - g.kernel_h) / g.stride_h + 1;
  const int32_t channels = uniform(random, 1, 9);
  g.in_c = g.out_c = static_cast<uint16_t>(channels);
  g.in_h = g.in_w = static_cast<uint16_t>(in);
  g.out_h = g.out_w = static_cast<uint16_t>(out);
  g.min = -128;
  g.max = 127;
  Invocation call(op);
  call.add(random_codes(random, {1, channels, in, in}, kNhwc)).add(packed_value(g));
  return std::move(call.add(make(DType::kI8, {1, channels, out, out}, kNhwc)));
}

Invocation mean(Random& random) {
  const Sizes x = {uniform(random, 1, 3), uniform(random, 1, 6), uniform(random, 1, 9)};
  Invocation call(PteOp::thimble_mean_run);
  call.add(random_codes(random, x));
  call.add(packed_value(abi::MeanRun{
      size_of(x[0]), size_of(x[1]), size_of(x[2]), {2, 1, 2, 1 << 30, -2, -128, 127}}));
  return std::move(call.add(make(DType::kI8, {x[0], x[2]})));
}

/// Converts NCHW to NHWC and quantizes or dequantizes.
Invocation edge(PteOp op, Random& random) {
  const Sizes sizes = {1, uniform(random, 1, 4), uniform(random, 1, 5), uniform(random, 1, 5)};
  const bool quantizes = op == PteOp::thimble_quantize_nest;
  const auto channels = size_of(sizes[1]);
  const auto pixels = size_of(sizes[2] * sizes[3]);
  abi::QuantizeNest p = {nest_of({{channels, 1, pixels}, {pixels, channels, 1}}), {}, 3, 0.25F, 1};
  p.scale[1] = quantizes ? 0x40100000 : 0x3FD00000;  // 4 and 1/4
  if (!quantizes) p.quantized_bytes = random() % 2 == 0 ? 2 : 1;
  Value x = make(quantizes                ? DType::kF32
                 : p.quantized_bytes == 2 ? DType::kI16
                                          : DType::kI8,
                 sizes);
  x.fill(random);
  Invocation call(op);
  call.add(std::move(x)).add(packed_value(p));
  return std::move(call.add(make(quantizes ? DType::kI8 : DType::kF32, sizes, kNhwc)));
}

Invocation lut(Random& random) {
  const Sizes sizes = {uniform(random, 1, 30)};
  abi::LutTable p = {size_of(sizes[0]), {}};
  for (int8_t& entry : p.table) entry = static_cast<int8_t>(random());
  Invocation call(PteOp::thimble_lut_packed);
  call.add(random_codes(random, sizes)).add(packed_value(p));
  return std::move(call.add(make(DType::kI8, sizes)));
}

/// Moves a transposed matrix of any element type into a larger one.
Invocation move(Random& random) {
  constexpr DType kTypes[] = {DType::kI8, DType::kI16, DType::kF32, DType::kI64};
  Value x = make(kTypes[random() % 4], {uniform(random, 1, 6), uniform(random, 1, 6)});
  x.fill(random);
  const auto rows = size_of(x.sizes[0]);
  const auto columns = size_of(x.sizes[1]);
  const uint32_t element = bytes_of(x.dtype);
  abi::Move p = {};
  p.nest = nest_of({{columns, (rows + 2) * element, element}, {rows, element, columns * element}});
  p.element_bytes = element;
  p.offset[0] = (rows + 3) * element;
  p.fill_bytes = (rows + 2) * (columns + 2) * element;
  p.fill = 0x07070707;
  Value y = make(x.dtype, {x.sizes[1] + 2, x.sizes[0] + 2});
  Invocation call(PteOp::thimble_move);
  call.add(std::move(x)).add(packed_value(p));
  return std::move(call.add(std::move(y)));
}

Invocation concat(PteOp op, Random& random) {
  const int32_t count = op == PteOp::thimble_concat2 ? 2 : op == PteOp::thimble_concat3 ? 3 : 4;
  const int32_t rows = uniform(random, 1, 4);
  abi::Concat p = {size_of(rows), {}};
  int32_t width = 0;
  Invocation call(op);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t part = uniform(random, 1, 5);
    p.bytes[i] = size_of(2 * part);
    width += part;
    Value x = make(DType::kI16, {rows, part});
    x.fill(random);
    call.add(std::move(x));
  }
  call.add(packed_value(p));
  return std::move(call.add(make(DType::kI16, {rows, width})));
}

}  // namespace

Invocation rows_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::thimble_add_table:
    case PteOp::thimble_mul_nest:
      return binary(op, random);
    case PteOp::thimble_avg_pool2d_packed:
    case PteOp::thimble_max_pool2d_packed:
      return pool(op, random);
    case PteOp::thimble_dequantize_nest:
    case PteOp::thimble_quantize_nest:
      return edge(op, random);
    case PteOp::thimble_lut_packed:
      return lut(random);
    case PteOp::thimble_mean_run:
      return mean(random);
    case PteOp::thimble_move:
      return move(random);
    case PteOp::thimble_softmax_rows:
      return softmax(random);
    default:
      return concat(op, random);
  }
}

}  // namespace thimble::kernels::test
