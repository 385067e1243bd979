// SPDX-License-Identifier: Apache-2.0
// The operators between float and integer, computed in float32 as docs/numerics.md defines them.

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

template <typename Code>
void quantize_to(const Call& call) {
  constexpr float kLimit = 65536.0F;
  const float inverse = 1.0F / static_cast<float>(call.op.get(ir::attr::scale));
  const int64_t zero_point = call.get(ir::attr::zero_point);
  const auto x = call.input<float>(0);
  for (size_t i = 0; i < x.size(); ++i) {
    float scaled = x[i] * inverse;
    if (std::isnan(scaled)) scaled = 0.0F;
    scaled = std::min(std::max(scaled, -kLimit), kLimit);
    const int64_t code = round_half_even(static_cast<double>(scaled)) + zero_point;
    call.result<Code>()[i] =
        static_cast<Code>(clamp(code, call.get(ir::attr::min), call.get(ir::attr::max)));
  }
}

/// zero_point(i) and scale(i) belong to element i. The difference is exact in int64, because
/// quantized values have at most 32 bits.
template <typename ZeroPoint, typename Scale>
void dequantize_each(const Call& call, ZeroPoint zero_point, Scale scale) {
  const auto each = [&](auto codes) {
    for (size_t i = 0; i < codes.size(); ++i) {
      const int64_t difference = int64_t{codes[i]} - zero_point(i);
      call.result<float>()[i] = static_cast<float>(difference) * scale(i);
    }
  };
  switch (call.inputs[0]->dtype) {
    case ir::DType::kU8:
      return each(call.input<uint8_t>(0));
    case ir::DType::kI16:
      return each(call.input<int16_t>(0));
    case ir::DType::kI32:
      return each(call.input<int32_t>(0));
    default:
      return each(call.input<int8_t>(0));
  }
}

}  // namespace

void eval_quantize(const Call& call) {
  switch (call.output.dtype) {
    case ir::DType::kU8:
      return quantize_to<uint8_t>(call);
    case ir::DType::kI16:
      return quantize_to<int16_t>(call);
    default:
      return quantize_to<int8_t>(call);
  }
}

void eval_flip_sign(const Call& call) {
  if (call.inputs[0]->dtype == ir::DType::kI8) {
    const auto x = call.input<int8_t>(0);
    for (size_t i = 0; i < x.size(); ++i) {
      call.result<uint8_t>()[i] = static_cast<uint8_t>(x[i] + 128);
    }
  } else {
    const auto x = call.input<uint8_t>(0);
    for (size_t i = 0; i < x.size(); ++i) {
      call.result<int8_t>()[i] = static_cast<int8_t>(x[i] - 128);
    }
  }
}

void eval_dequantize(const Call& call) {
  const float scale = static_cast<float>(call.op.get(ir::attr::scale));
  const int64_t zero_point = call.get(ir::attr::zero_point);
  dequantize_each(
      call, [=](size_t) { return zero_point; }, [=](size_t) { return scale; });
}

void eval_dequantize_channels(const Call& call) {
  const auto scale = call.input<float>(1);
  const ir::Shape& shape = call.shape(0);
  const auto axis = static_cast<size_t>(call.get(ir::attr::axis));
  size_t inner = 1;
  for (size_t dim = axis + 1; dim < shape.size(); ++dim) inner *= static_cast<size_t>(shape[dim]);
  const auto channel = [&](size_t i) { return i / inner % scale.size(); };
  dequantize_each(
      call, [&](size_t i) { return call.has(2) ? int64_t{call.input<int32_t>(2)[channel(i)]} : 0; },
      [&](size_t i) { return scale[channel(i)]; });
}

}  // namespace thimble::eval
