// SPDX-License-Identifier: Apache-2.0
// Samples of native operators, direct and packed, and of data movement.

#include <algorithm>
#include <array>

#include "abi/params/arithmetic.h"
#include "abi/params/frame.h"
#include "abi/params/integers.h"
#include "abi/params/recurrent.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "abi/params/spectrum.h"
#include "tests/kernels/dsp_case.h"
#include "tests/kernels/int4_case.h"
#include "tests/kernels/sample_values.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

/// Returns random bytes of a small shape, in a random dimension order.
Value random_bytes(Random& random, DType dtype, const Sizes& sizes) {
  Value value = make(dtype, sizes, random_order(random, sizes.size()));
  value.fill(random);
  return value;
}

/// Comparisons and choices of operands that broadcast, quotients, and prelu.
Invocation choice(PteOp op, Random& random) {
  const Sizes y = small(random, random() % 5);
  Sizes b = y;
  for (int32_t& size : b) size = random() % 2 == 0 ? 1 : size;
  const bool logic = op == PteOp::thimble_logical_and || op == PteOp::thimble_logical_or ||
                     op == PteOp::thimble_logical_not;
  const bool compares = op == PteOp::thimble_compare;
  const DType dtype = logic ? DType::kBool : DType::kI8;
  Invocation call(op);
  if (op == PteOp::thimble_where) call.add(random_bytes(random, DType::kBool, b));
  call.add(random_bytes(random, dtype, y));
  if (op != PteOp::thimble_logical_not) call.add(random_bytes(random, dtype, b));
  if (compares) call.add(params_constant(abi::CompareParams{uniform(random, 0, 5)}));
  if (op == PteOp::thimble_div) {
    call.add(
        params_constant(abi::DivParams{3, -5, 7, 1 << 30, uniform(random, -22, 3), -128, 127, 0}));
  } else if (op == PteOp::thimble_prelu) {
    call.add(params_constant(abi::PreluParams{3, -5, 7, 1 << 30, 0, 1 << 30, -6, -128, 127, 0}));
  }
  return std::move(call.add(random_bytes(random, compares ? DType::kBool : dtype, y)));
}

/// Two rows with one entry each, or with one entry per gate.
Value multipliers(Random& random, int32_t entries, bool shifts) {
  Value value = make(DType::kI32, {2, entries});
  for (int32_t i = 0; i < 2 * entries; ++i) {
    value.as<int32_t>()[i] = static_cast<int32_t>(shifts ? shift(random) : mult(random));
  }
  value.constant = true;
  return value;
}

Value int8_shifts(Random& random, int32_t entries) {
  Value value = make(DType::kI8, {2, entries});
  for (int32_t i = 0; i < 2 * entries; ++i) {
    value.as<int8_t>()[i] = static_cast<int8_t>(shift(random));
  }
  value.constant = true;
  return value;
}

Value random_values(Random& random, DType dtype, Sizes sizes) {
  Value value = make(dtype, std::move(sizes));
  value.fill(random);
  return value;
}

Invocation log_mel(Random& random) {
  const int32_t n = 64 << (random() % 2);
  const int32_t filters = uniform(random, 1, 4), width = uniform(random, 1, 5);
  const int32_t hop = uniform(random, 1, 90), frames = uniform(random, 1, 3);
  const bool wide = random() % 2 == 0;
  Invocation call(PteOp::thimble_log_mel);
  call.add(random_values(random, DType::kI16, {n + (frames - 1) * hop}));
  Value window = random_values(random, DType::kI32, {n});
  Value sine = random_values(random, DType::kI32, {n / 4});
  Value bands = make(DType::kI32, {filters, 2});
  Value weights = make(DType::kI16, {filters * width});
  for (int32_t m = 0; m < filters; ++m) {
    bands.as<int32_t>()[2 * m] = uniform(random, 0, n / 2 + 1 - width);
    bands.as<int32_t>()[2 * m + 1] = width;
  }
  for (int32_t i = 0; i < filters * width; ++i) {
    weights.as<int16_t>()[i] = static_cast<int16_t>(uniform(random, 0, INT16_MAX));
  }
  for (Value* each : {&window, &sine, &bands, &weights}) {
    each->constant = true;
    call.add(std::move(*each));
  }
  const abi::LogMelParams params = {
      hop, 7,           3, 9, 2, -5, wide ? 0 : 4, 1 << 30, wide ? -5 : -12, wide ? -30000 : -100,
      100, wide ? 1 : 0};
  call.add(params_constant(params));
  call.add(make(DType::kU8, {8 * (n / 2 + 1)}));
  return std::move(call.add(make(wide ? DType::kI16 : DType::kI8, {frames, filters})));
}

Invocation camera_image(Random& random) {
  const auto format = static_cast<abi::FrameFormat>(uniform(random, 0, 6));
  const bool gray = format == abi::FrameFormat::kGray;
  const bool nv12 = format == abi::FrameFormat::kNv12;
  const int32_t bytes = gray || nv12 ? 1 : format == abi::FrameFormat::kRgb888 ? 3 : 2;
  const int32_t size[2] = {2 * uniform(random, 1, 4), 2 * uniform(random, 1, 4)};
  const int32_t out[2] = {uniform(random, 1, 9), uniform(random, 1, 9)};
  Invocation call(PteOp::thimble_camera_image);
  call.add(
      random_values(random, DType::kU8, {1, nv12 ? size[0] / 2 * 3 : size[0], size[1], bytes}));
  for (int side = 0; side < 2; ++side) {
    Value low = make(DType::kI32, {out[side]}), weight = make(DType::kI32, {out[side]});
    for (int32_t i = 0; i < out[side]; ++i) {
      const bool between = random() % 2 == 0;
      low.as<int32_t>()[i] = uniform(random, 0, size[side] - (between ? 2 : 1));
      weight.as<int32_t>()[i] = between ? uniform(random, 0, 2048) : 0;
    }
    for (Value* each : {&low, &weight}) {
      each->constant = true;
      call.add(std::move(*each));
    }
  }
  call.add(
      params_constant(abi::CameraImageParams{static_cast<int32_t>(format), uniform(random, 0, 1)}));
  return std::move(call.add(make(DType::kI8, {1, out[0], out[1], gray ? 1 : 3})));
}

Invocation flip_sign(Random& random) {
  const Sizes sizes = small(random, 3);
  const bool to_signed = random() % 2 == 0;
  Invocation call(PteOp::thimble_flip_sign);
  call.add(random_values(random, to_signed ? DType::kU8 : DType::kI8, sizes));
  return std::move(call.add(make(to_signed ? DType::kI8 : DType::kU8, sizes)));
}

Invocation recurrent(PteOp op, Random& random) {
  const bool int4 = op == PteOp::thimble_lstm_int4 || op == PteOp::thimble_gru_int4;
  const bool lstm = op == PteOp::thimble_lstm || op == PteOp::thimble_lstm_int4;
  const bool gru = op == PteOp::thimble_gru || op == PteOp::thimble_gru_int4;
  const int32_t gates = lstm ? 4 : gru ? 3 : 1;
  const int32_t lanes = lstm || gru ? 5 : 1;
  const int32_t steps = uniform(random, 1, 4), batch = uniform(random, 1, 2);
  const int32_t inputs = uniform(random, 1, 7), hidden = uniform(random, 1, 6);
  const int32_t rows = gates * hidden;
  const int32_t cell = lstm ? uniform(random, 0, 2) : 0;
  const Sizes state = {1, batch, hidden};
  Invocation call(op);
  const bool wide = random() % 2 == 0 && !int4;
  const DType code = wide ? DType::kI16 : DType::kI8;
  call.add(random_values(random, code, {steps, batch, inputs}));
  call.add(random_values(random, code, state));
  if (lstm) {
    call.add(random_values(random, random() % 2 == 0 ? DType::kI8 : DType::kI16, state));
  }
  if (int4) {
    const int32_t pairs = (rows + 1) / 2;
    call.add(random_values(random, DType::kU8, {pairs, inputs}));
    call.add(random_values(random, DType::kU8, {pairs, hidden}));
  } else {
    call.add(random_codes(random, {rows, inputs})).add(random_codes(random, {rows, hidden}));
  }
  for (int i = 0; i < (gru ? 2 : 1); ++i) call.add(random_values(random, DType::kI32, {rows}));
  const int32_t entries = random() % 2 == 0 ? gates : rows;
  call.add(multipliers(random, entries, false));
  call.add(int4 ? int8_shifts(random, entries) : multipliers(random, entries, true));
  call.add(random_values(random, DType::kI16, {513}));
  const int32_t reverse = uniform(random, 0, 1), bits = uniform(random, 0, 15);
  const int32_t x_zp = wide ? 0 : -5, h_zp = wide ? 0 : 7, h_shift = wide ? -14 : -20;
  if (lstm) {
    call.add(params_constant(abi::LstmParams{reverse, x_zp, h_zp, 1 << 30, h_shift, cell, bits, 3,
                                             1 << 30, 5, wide ? 0 : -4, 1 << 30, -6}));
  } else if (gru) {
    call.add(
        params_constant(abi::GruParams{reverse, x_zp, h_zp, 1 << 30, h_shift, bits, 1 << 30, 7}));
  } else {
    call.add(params_constant(
        abi::RnnParams{reverse, x_zp, h_zp, 1 << 30, h_shift, uniform(random, 0, 1)}));
  }
  call.add(make(DType::kU8, {(2 * lanes + (wide ? 2 : 1)) * hidden}));
  return std::move(call.add(make(cell == 2 ? DType::kI16 : code, {steps, batch, hidden})));
}

/// Reductions and cumulative sums.
Invocation reduction(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 4);
  const int32_t dim = uniform(random, 0, static_cast<int32_t>(sizes.size()) - 1);
  Sizes y = sizes;
  y[static_cast<size_t>(dim)] = 1;
  Invocation call(op);
  call.add(random_codes(random, sizes, random_order(random, sizes.size())));
  switch (op) {
    case PteOp::thimble_argmax:
      call.add(params_constant(abi::ArgmaxParams{dim, 1, uniform(random, 0, 1)}));
      return std::move(call.add(make(DType::kI64, y)));
    case PteOp::thimble_cumsum:
      call.add(params_constant(abi::CumsumParams{dim, 3, 4, 1 << 30, -2, -128, 127, 0}));
      return std::move(call.add(make(DType::kI8, sizes, random_order(random, sizes.size()))));
    case PteOp::thimble_variance:
      call.add(params_constant(abi::VarianceParams{1, 4, 1 << 30, -2, -128, 127, {1}}, {dim}));
      break;
    default:
      call.add(params_constant(abi::ReduceParams{1, {1}}, {dim}));
  }
  return std::move(call.add(make(DType::kI8, y)));
}

Value halves(Random& random, int32_t count) {
  Value value = make(DType::kI16, {count});
  value.fill(random);
  return value;
}

Invocation norm(PteOp op, Random& random) {
  const Sizes sizes = small(random, 2 + random() % 3);
  const bool grouped = op == PteOp::thimble_group_norm;
  const int32_t entries = grouped ? sizes[1] : sizes.back();
  Order order = contiguous(sizes.size());
  if (grouped && random() % 2 == 0) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  Invocation call(op);
  call.add(random_codes(random, sizes, order));
  call.add(random() % 2 == 0 ? absent() : halves(random, entries));
  std::vector<int32_t> attributes = {1, 5, 2};
  if (op == PteOp::thimble_rms_norm) {
    attributes.push_back(-7);
  } else {
    const std::vector<int32_t> bias(static_cast<size_t>(entries), -123456);
    call.add(random() % 2 == 0 ? absent() : constant_words(bias));
  }
  attributes.insert(attributes.end(), {4, 1 << 30, -11, -128, 127});
  return std::move(
      call.add(kernels::test::attributes(attributes)).add(make(DType::kI8, sizes, order)));
}

Invocation movement(PteOp op, Random& random) {
  // pad of rank 4 is ambiguous: its paddings could mean either dimension order.
  const size_t rank = 1 + random() % (op == PteOp::cortex_m_pad ? 3 : 4);
  const Sizes sizes = small(random, rank);
  const Order order = random_order(random, rank);
  Sizes y = sizes;
  Invocation call(op);
  switch (op) {
    case PteOp::aten_cat: {
      std::vector<Value> parts;
      for (int part = 0; part < 2; ++part) parts.push_back(random_codes(random, sizes, order));
      y[0] *= 2;
      return std::move(call.add_list(std::move(parts)).add(int64_t{0}).add(make(DType::kI8, y)));
    }
    case PteOp::aten_expand_copy:
      y.insert(y.begin(), 3);
      call.add(random_codes(random, sizes)).add(y).add(int64_t{0});
      return std::move(call.add(make(DType::kI8, y)));
    case PteOp::aten_slice_copy:
      y[0] = 1;
      call.add(random_codes(random, sizes, order)).add(int64_t{0}).add(int64_t{-1});
      call.add(INT64_MAX).add(int64_t{2});
      return std::move(call.add(make(DType::kI8, y)));
    case PteOp::cortex_m_pad:
      y[rank - 1] += 3;
      call.add(random_codes(random, sizes)).add({0, 0, 0, 1}).add({0, 0, 0, 2});
      return std::move(call.add(int64_t{5}).add(make(DType::kI8, y)));
    case PteOp::cortex_m_transpose: {
      for (size_t d = 0; d < rank; ++d) y[d] = sizes[order[d]];
      call.add(random_codes(random, sizes)).add(std::vector<int32_t>(order.begin(), order.end()));
      return std::move(call.add(make(DType::kI8, y)));
    }
    default:
      call.add(random_codes(random, sizes, order)).add(int64_t{0}).add(std::vector<int32_t>{});
      return std::move(call.add(make(DType::kI8, y)));
  }
}

Invocation product(Random& random) {
  const Sizes a = {2, uniform(random, 1, 4), uniform(random, 1, 5)};
  const Sizes b = {a[2], uniform(random, 1, 5)};
  Invocation call(PteOp::thimble_matmul);
  call.add(random_codes(random, a)).add(random_codes(random, b));
  call.add(params_constant(std::array<int32_t, 9>{0, 1, 2, 3, 1 << 30, -8, -128, 127, 0}));
  return std::move(call.add(make(DType::kI8, {2, a[1], b[1]})));
}

Invocation gathered(PteOp op, Random& random) {
  Sizes sizes = small(random, 3);
  Invocation call(op);
  call.add(random_codes(random, sizes));
  Sizes chosen = {uniform(random, 1, 4)};
  if (op == PteOp::thimble_gather_elements) chosen = {sizes[0], chosen[0], sizes[2]};
  sizes[1] = op == PteOp::thimble_gather ? chosen[0] : chosen[1];
  Value index = make(DType::kI32, chosen);
  index.fill(random);
  call.add(std::move(index)).add(params_constant(int32_t{1}));
  return std::move(call.add(make(DType::kI8, sizes)));
}

Invocation masked_softmax(Random& random) {
  const Sizes sizes = small(random, 2);
  Invocation call(PteOp::thimble_qmasked_softmax);
  call.add(random_codes(random, sizes));
  call.add(params_constant(std::array<int32_t, 4>{1, 1 << 30, 23, -248}));
  return std::move(call.add(make(DType::kI8, sizes)));
}

/// Arithmetic on 32-bit integers.
Invocation integers(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 4);
  const int32_t dim = uniform(random, 0, static_cast<int32_t>(sizes.size()) - 1);
  const Order order = random_order(random, sizes.size());
  const auto tensor = [&](DType dtype, const Sizes& shape) {
    Value value = make(dtype, shape, order);
    value.fill(random);
    return value;
  };
  Invocation call(op);
  call.add(tensor(DType::kI32, sizes));
  switch (op) {
    case PteOp::thimble_int_cast:
      call.add(params_constant(abi::IntCastParams{5}));
      return std::move(call.add(tensor(DType::kI64, sizes)));
    case PteOp::thimble_int_cumsum:
      call.add(params_constant(abi::IntCumsumParams{dim}));
      break;
    case PteOp::thimble_int_pair:
      call.add(tensor(DType::kI32, sizes));
      call.add(params_constant(abi::IntPairParams{uniform(random, 0, 9)}));
      break;
    case PteOp::thimble_int_quantize:
      call.add(params_constant(abi::IntQuantizeParams{-900, 900, 5, 1 << 30, -2, 0}));
      return std::move(call.add(tensor(DType::kI8, sizes)));
    default: {
      call.add(params_constant(abi::IntReduceParams{uniform(random, 0, 4), 1, {1}}, {dim}));
      Sizes y = sizes;
      y[static_cast<size_t>(dim)] = 1;
      return std::move(call.add(tensor(DType::kI32, y)));
    }
  }
  return std::move(call.add(tensor(DType::kI32, sizes)));
}

}  // namespace

Invocation direct_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::thimble_compare:
    case PteOp::thimble_div:
    case PteOp::thimble_logical_and:
    case PteOp::thimble_logical_not:
    case PteOp::thimble_logical_or:
    case PteOp::thimble_maximum:
    case PteOp::thimble_minimum:
    case PteOp::thimble_prelu:
    case PteOp::thimble_where:
      return choice(op, random);
    case PteOp::thimble_gru:
    case PteOp::thimble_gru_int4:
    case PteOp::thimble_lstm:
    case PteOp::thimble_lstm_int4:
    case PteOp::thimble_rnn:
      return recurrent(op, random);
    case PteOp::thimble_int_cast:
    case PteOp::thimble_int_cumsum:
    case PteOp::thimble_int_pair:
    case PteOp::thimble_int_quantize:
    case PteOp::thimble_int_reduce:
      return integers(op, random);
    case PteOp::thimble_camera_image:
      return camera_image(random);
    case PteOp::thimble_flip_sign:
      return flip_sign(random);
    case PteOp::thimble_log_mel:
      return log_mel(random);
    case PteOp::thimble_amax:
    case PteOp::thimble_amin:
    case PteOp::thimble_argmax:
    case PteOp::thimble_cumsum:
    case PteOp::thimble_variance:
      return reduction(op, random);
    case PteOp::thimble_group_norm:
    case PteOp::thimble_layer_norm:
    case PteOp::thimble_rms_norm:
      return norm(op, random);
    case PteOp::thimble_matmul:
      return product(random);
    case PteOp::thimble_gather:
    case PteOp::thimble_gather_elements:
      return gathered(op, random);
    case PteOp::thimble_qmasked_softmax:
      return masked_softmax(random);
    case PteOp::thimble_adaptive_avg_pool2d:
    case PteOp::thimble_adaptive_max_pool2d:
    case PteOp::thimble_conv_transpose2d:
    case PteOp::thimble_permute:
    case PteOp::thimble_resize_bilinear:
      return image_sample(op, random);
    case PteOp::thimble_conv2d_dsp:
    case PteOp::thimble_depthwise_dsp:
    case PteOp::thimble_linear_dsp:
      return dsp_sample(op, random);
    case PteOp::thimble_conv2d_dsp_int4:
    case PteOp::thimble_conv2d_mve_int4:
    case PteOp::thimble_conv2d_scalar_int4:
    case PteOp::thimble_conv2d_int4_group:
    case PteOp::thimble_linear_int4_group:
    case PteOp::thimble_linear_dsp_int4:
    case PteOp::thimble_linear_mve_int4:
    case PteOp::thimble_linear_scalar_int4:
      return int4_sample(op, random);
    case PteOp::thimble_add16:
    case PteOp::thimble_avg_pool2d16:
    case PteOp::thimble_conv2d16:
    case PteOp::thimble_conv_transpose2d16:
    case PteOp::thimble_dequantize16:
    case PteOp::thimble_group_norm16:
    case PteOp::thimble_layer_norm16:
    case PteOp::thimble_linear16:
    case PteOp::thimble_lut16:
    case PteOp::thimble_matmul16:
    case PteOp::thimble_max_pool2d16:
    case PteOp::thimble_mean16:
    case PteOp::thimble_mul16:
    case PteOp::thimble_prelu16:
    case PteOp::thimble_quantize16:
    case PteOp::thimble_rescale:
    case PteOp::thimble_rms_norm16:
    case PteOp::thimble_softmax16:
    case PteOp::thimble_sub16:
      return wide_sample(op, random);
    case PteOp::thimble_conv2d_f32:
    case PteOp::thimble_group_norm_f32:
    case PteOp::thimble_gru_f32:
    case PteOp::thimble_layer_norm_f32:
    case PteOp::thimble_linear_f32:
    case PteOp::thimble_lstm_f32:
    case PteOp::thimble_max_pool2d_f32:
    case PteOp::thimble_power_spectrum_f32:
    case PteOp::thimble_rms_norm_f32:
    case PteOp::thimble_rnn_f32:
      return float_sample(op, random);
    default:
      return movement(op, random);
  }
}

}  // namespace thimble::kernels::test
