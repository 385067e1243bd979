// SPDX-License-Identifier: Apache-2.0
// Samples of Thimble's operators on float32 (abi/ops/float.def).

#include "abi/params/recurrent.h"
#include "abi/params/spectrum.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

Value floats(Random& random, Sizes sizes, Order order = {}) {
  Value value = make(DType::kF32, std::move(sizes), std::move(order));
  for (int32_t i = 0; i < value.count(); ++i) {
    value.as<float>()[i] = static_cast<float>(uniform(random, -4000, 4000)) / 1000.0F;
  }
  return value;
}
/// Returns the value, or no value in half of the cases.
Value maybe(Random& random, Value value) {
  return random() % 2 == 0 ? std::move(value) : absent();
}

Invocation norm(PteOp op, Random& random) {
  const int32_t groups = uniform(random, 1, 3);
  const Sizes sizes = {uniform(random, 1, 3), groups * uniform(random, 1, 3),
                       uniform(random, 1, 5)};
  const bool grouped = op == PteOp::thimble_group_norm_f32;
  const Sizes factors = {grouped ? sizes[1] : sizes[2]};
  Invocation call(op);
  call.add(floats(random, sizes)).add(maybe(random, floats(random, factors)));
  if (op != PteOp::thimble_rms_norm_f32) call.add(maybe(random, floats(random, factors)));
  call.add(int64_t{grouped ? groups : 1}).add(1e-5);
  return std::move(call.add(floats(random, sizes)));
}

Invocation conv(Random& random) {
  const int32_t kernel = uniform(random, 1, 3), stride = uniform(random, 1, 2);
  const int32_t pad = uniform(random, 0, 1), groups = uniform(random, 1, 2);
  const Sizes x = {uniform(random, 1, 2), groups * uniform(random, 1, 3), uniform(random, 3, 9),
                   uniform(random, 3, 9)};
  const int32_t channels = groups * uniform(random, 1, 3);
  const auto extent = [&](int32_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  Invocation call(PteOp::thimble_conv2d_f32);
  call.add(floats(random, x)).add(floats(random, {channels, x[1] / groups, kernel, kernel}));
  call.add(maybe(random, floats(random, {channels}))).add({stride, stride});
  call.add({pad, pad, pad, pad}).add({1, 1}).add(int64_t{groups});
  return std::move(call.add(floats(random, {x[0], channels, extent(x[2]), extent(x[3])})));
}

Invocation linear(Random& random) {
  const int32_t in = uniform(random, 1, 9), out = uniform(random, 1, 9);
  const int32_t rows = uniform(random, 1, 3);
  Invocation call(PteOp::thimble_linear_f32);
  call.add(floats(random, {rows, in})).add(floats(random, {out, in}));
  call.add(maybe(random, floats(random, {out})));
  return std::move(call.add(floats(random, {rows, out})));
}

Invocation max_pool(Random& random) {
  const int32_t kernel = uniform(random, 1, 3), stride = uniform(random, 1, 2);
  const Sizes x = {uniform(random, 1, 2), uniform(random, 1, 3), uniform(random, 3, 7),
                   uniform(random, 3, 7)};
  const auto extent = [&](int32_t in) { return (in - kernel) / stride + 1; };
  Invocation call(PteOp::thimble_max_pool2d_f32);
  call.add(floats(random, x, random_order(random, 4))).add({kernel, kernel}).add({stride, stride});
  call.add({0, 0, 0, 0}).add({1, 1});
  return std::move(
      call.add(floats(random, {x[0], x[1], extent(x[2]), extent(x[3])}, random_order(random, 4))));
}

Invocation power_spectrum(Random& random) {
  const int32_t n = uniform(random, 1, 20), hop = uniform(random, 1, n);
  const int32_t rows = uniform(random, 1, 2), frames = uniform(random, 1, 3);
  Invocation call(PteOp::thimble_power_spectrum_f32);
  call.add(floats(random, {rows, n + hop * (frames - 1)})).add(floats(random, {n}));
  call.add(int64_t{hop});
  call.add(make(DType::kU8, {static_cast<int32_t>(abi::float_spectrum_scratch_bytes(n))}));
  return std::move(call.add(floats(random, {rows, frames, n / 2 + 1})));
}

Invocation recurrent(PteOp op, Random& random) {
  const int32_t gates = op == PteOp::thimble_lstm_f32 ? 4 : op == PteOp::thimble_gru_f32 ? 3 : 1;
  const int32_t lanes = op == PteOp::thimble_lstm_f32  ? abi::kFloatLstmLanes
                        : op == PteOp::thimble_gru_f32 ? abi::kFloatGruLanes
                                                       : abi::kFloatRnnLanes;
  const int32_t steps = uniform(random, 1, 4), batch = uniform(random, 1, 2);
  const int32_t inputs = uniform(random, 1, 4), hidden = uniform(random, 1, 4);
  Invocation call(op);
  call.add(floats(random, {steps, batch, inputs})).add(floats(random, {1, batch, hidden}));
  if (gates == 4) call.add(floats(random, {1, batch, hidden}));
  call.add(floats(random, {gates * hidden, inputs})).add(floats(random, {gates * hidden, hidden}));
  call.add(maybe(random, floats(random, {gates * hidden})));
  call.add(maybe(random, floats(random, {gates * hidden})));
  if (gates != 3) call.add(int64_t{uniform(random, 0, 1)});
  call.add(int64_t{uniform(random, 0, 1)});
  call.add(
      make(DType::kU8, {static_cast<int32_t>(abi::float_recurrent_scratch_bytes(lanes, hidden))}));
  return std::move(call.add(floats(random, {steps, batch, hidden})));
}

}  // namespace

Invocation float_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::thimble_conv2d_f32:
      return conv(random);
    case PteOp::thimble_linear_f32:
      return linear(random);
    case PteOp::thimble_group_norm_f32:
    case PteOp::thimble_layer_norm_f32:
    case PteOp::thimble_rms_norm_f32:
      return norm(op, random);
    case PteOp::thimble_max_pool2d_f32:
      return max_pool(random);
    case PteOp::thimble_power_spectrum_f32:
      return power_spectrum(random);
    default:
      return recurrent(op, random);
  }
}

}  // namespace thimble::kernels::test
