// SPDX-License-Identifier: Apache-2.0
// quantized_decomposed: quantize and dequantize operators that ExecuTorch files keep where no
// cortex_m operator replaced them. They compute in float32 as PyTorch does:
//   q = clamp(round_half_even(x * (1 / scale)) + zero_point, min, max),
//   real = (q - zero_point) * scale.
//
// Operands: x, scale and zero_point (numbers, or tensors with an axis), quant_min, quant_max,
// dtype, [out_dtype,] y. Per channel, an absent zero point is 0. q is int8, uint8 or int16.

#include "abi/ops/decomposed.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Scale {
  float scale;
  int32_t zero_point;
};

bool is_scale_value(double scale) {
  return scale >= 0x1p-126 && scale <= 0x1p126;
}

struct Range {
  int32_t min, max;
};
Range range_of(DType type) {
  if (type == DType::kI16) return {-32768, 32767};
  return type == DType::kU8 ? Range{0, 255} : Range{-128, 127};
}
bool is_code_type(DType type) {
  return type == DType::kI8 || type == DType::kU8 || type == DType::kI16;
}

/// Checks the quantized tensor. quant_min, quant_max and dtype are arguments `first` and following.
Status check_codes(const Call& call, const Tensor& coded, uint32_t first) {
  if (!is_code_type(coded.dtype)) return Status::kBadDType;
  if (call.args[first + 2].integer != static_cast<int64_t>(coded.dtype)) return Status::kBadDType;
  const Range range = range_of(coded.dtype);
  const int64_t min = call.args[first].integer, max = call.args[first + 1].integer;
  return min >= range.min && min <= max && max <= range.max ? Status::kOk : Status::kBadParameter;
}
Status check_floats_out(const Call& call, uint32_t out_dtype) {
  const int64_t type = call.args[out_dtype].integer;
  return type == kAbsent || type == static_cast<int64_t>(DType::kF32) ? Status::kOk
                                                                      : Status::kBadDType;
}
Status check_pair_of(const Tensor& x, const Tensor& y, const Tensor& real) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (real.dtype != DType::kF32) return Status::kBadDType;
  return same_sizes(x, y) ? Status::kOk : Status::kBadShape;
}

int32_t read_code(const Tensor& t, int32_t i) {
  if (t.dtype == DType::kI16) return static_cast<const int16_t*>(t.data)[i];
  return t.dtype == DType::kU8 ? static_cast<const uint8_t*>(t.data)[i] : codes(t)[i];
}
void write_code(const Tensor& t, int32_t i, int32_t code) {
  if (t.dtype == DType::kI16) {
    static_cast<int16_t*>(t.data)[i] = static_cast<int16_t>(code);
  } else {
    static_cast<uint8_t*>(t.data)[i] = static_cast<uint8_t>(code);
  }
}

int32_t quantize(float x, float inverse, int32_t zero_point, Range range) {
  constexpr float kLimit = 0x1p20F;
  float scaled = x * inverse;
  scaled = scaled < -kLimit ? -kLimit : scaled > kLimit ? kLimit : scaled;
  return numerics::clamp(numerics::round_half_even(scaled) + zero_point, range.min, range.max);
}

/// Quantize and dequantize all elements of a traversal of y and x.
void quantize_all(StrideIterator& iterator, const Tensor& x, const Tensor& y, Scale s,
                  Range range) {
  const float inverse = 1.0F / s.scale;
  do {
    const StrideIterator::Axis& row = iterator.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      const float value = floats(x)[iterator.offset[1] + i * row.step[1]];
      write_code(y, iterator.offset[0] + i * row.step[0],
                 quantize(value, inverse, s.zero_point, range));
    }
  } while (iterator.next());
}
void dequantize_all(StrideIterator& iterator, const Tensor& x, const Tensor& y, Scale s) {
  do {
    const StrideIterator::Axis& row = iterator.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      const int32_t code = read_code(x, iterator.offset[1] + i * row.step[1]);
      mutable_floats(y)[iterator.offset[0] + i * row.step[0]] =
          static_cast<float>(code - s.zero_point) * s.scale;
    }
  } while (iterator.next());
}

// --- One scale -----------------------------------------------------------------------------------

Status check_scale(const Call& call) {
  const int64_t zero_point = call.args[2].integer;
  const bool fine =
      is_scale_value(call.args[1].number) && zero_point >= -32768 && zero_point <= 32767;
  return fine ? Status::kOk : Status::kBadParameter;
}
Scale scale_of(const Call& call) {
  return {static_cast<float>(call.args[1].number), integer(call, 2)};
}

Status check_quantize(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_pair_of(x, y, x));
  THIMBLE_RETURN_IF_ERROR(check_scale(call));
  return check_codes(call, y, 3);
}
void run_quantize(const Call& call) {
  const Tensor& x = tensor(call, 0);
  StrideIterator iterator = broadcast_pair(tensor(call, 6), x, x);
  quantize_all(iterator, x, tensor(call, 6), scale_of(call), {integer(call, 3), integer(call, 4)});
}
Status check_dequantize(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 7);
  THIMBLE_RETURN_IF_ERROR(check_pair_of(x, y, y));
  THIMBLE_RETURN_IF_ERROR(check_scale(call));
  THIMBLE_RETURN_IF_ERROR(check_floats_out(call, 6));
  return check_codes(call, x, 3);
}
void run_dequantize(const Call& call) {
  const Tensor& x = tensor(call, 0);
  StrideIterator iterator = broadcast_pair(tensor(call, 7), x, x);
  dequantize_all(iterator, x, tensor(call, 7), scale_of(call));
}

// --- One scale for each channel ------------------------------------------------------------------

/// Returns the axis in 0..rank-1, or the rank if it is invalid.
uint32_t channel_axis(const Call& call) {
  const uint32_t rank = tensor(call, 0).rank;
  const int64_t axis = call.args[3].integer;
  const int64_t counted = axis < 0 ? axis + rank : axis;
  return counted < 0 || counted >= rank ? rank : static_cast<uint32_t>(counted);
}

Scale scale_of_channel(const Call& call, int32_t channel) {
  const Tensor& zero_points = tensor(call, 2);
  Scale s = {0, 0};
  const Tensor& scales = tensor(call, 1);
  s.scale = floats(scales)[channel];
  if (zero_points.is_null) return s;
  if (zero_points.dtype == DType::kI64) {
    int64_t wide;
    memcpy(&wide, static_cast<const uint8_t*>(zero_points.data) + channel * 8, 8);
    s.zero_point = wide < -32768 ? -32769 : wide > 32767 ? 32768 : static_cast<int32_t>(wide);
  } else {
    s.zero_point = static_cast<const int32_t*>(zero_points.data)[channel];
  }
  return s;
}

/// Checks that scales and zero points are constants in range, one per channel of x.
Status check_scales(const Call& call) {
  const Tensor& scales = tensor(call, 1);
  const Tensor& zero_points = tensor(call, 2);
  const uint32_t axis = channel_axis(call);
  if (axis == tensor(call, 0).rank) return Status::kBadParameter;
  const int32_t channels = tensor(call, 0).sizes[axis];
  THIMBLE_RETURN_IF_ERROR(check_tensor(scales, DType::kF32));
  if (!scales.is_constant) return Status::kBadParameter;
  if (elements(scales) != channels) return Status::kBadShape;
  if (!zero_points.is_null) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(zero_points));
    const bool known = zero_points.dtype == DType::kI64 || zero_points.dtype == DType::kI32;
    if (!known) return Status::kBadDType;
    if (!zero_points.is_constant) return Status::kBadParameter;
    if (elements(zero_points) != channels) return Status::kBadShape;
  }
  for (int32_t c = 0; c < channels; ++c) {
    const Scale s = scale_of_channel(call, c);
    const bool fine = is_scale_value(static_cast<double>(s.scale)) && s.zero_point >= -32768 &&
                      s.zero_point <= 32767;
    if (!fine) return Status::kBadParameter;
  }
  return Status::kOk;
}

/// Calls visit(walk, x, y, scale) for each channel, with the parts of x and y of that channel.
template <class Visit>
void for_each_channel(const Call& call, const Tensor& y, Visit visit) {
  const Tensor& x = tensor(call, 0);
  const uint32_t axis = channel_axis(call);
  int32_t steps_x[abi::kMaxRank], steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator iterator;
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    if (d != axis) iterator.push(y.sizes[d], steps_y[d], steps_x[d]);
  }
  for (int32_t c = 0; c < x.sizes[axis]; ++c) {
    Tensor part_x = x, part_y = y;
    part_x.data = static_cast<uint8_t*>(x.data) +
                  c * steps_x[axis] * static_cast<int32_t>(element_bytes(x.dtype));
    part_y.data = static_cast<uint8_t*>(y.data) +
                  c * steps_y[axis] * static_cast<int32_t>(element_bytes(y.dtype));
    visit(iterator, part_x, part_y, scale_of_channel(call, c));
  }
}

/// Operands: x, scales, zero_points, axis, quant_min, quant_max, dtype, y.
Status check_quantize_channels(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 7);
  if (tensor(call, 2).is_null) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_pair_of(x, y, x));
  THIMBLE_RETURN_IF_ERROR(check_scales(call));
  return check_codes(call, y, 4);
}
void run_quantize_channels(const Call& call) {
  const Range range = {integer(call, 4), integer(call, 5)};
  for_each_channel(call, tensor(call, 7),
                   [&](StrideIterator& iterator, const Tensor& x, const Tensor& y, Scale s) {
                     quantize_all(iterator, x, y, s, range);
                   });
}
/// Operands: x, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype, y.
Status check_dequantize_channels(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 8);
  THIMBLE_RETURN_IF_ERROR(check_pair_of(x, y, y));
  THIMBLE_RETURN_IF_ERROR(check_scales(call));
  THIMBLE_RETURN_IF_ERROR(check_floats_out(call, 7));
  return check_codes(call, x, 4);
}
void run_dequantize_channels(const Call& call) {
  for_each_channel(call, tensor(call, 8),
                   [&](StrideIterator& iterator, const Tensor& x, const Tensor& y, Scale s) {
                     dequantize_all(iterator, x, y, s);
                   });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, quantized_dequantize_per_channel, check_dequantize_channels,
                      run_dequantize_channels);
THIMBLE_DEFINE_KERNEL(portable, quantized_dequantize_per_tensor, check_dequantize, run_dequantize);
THIMBLE_DEFINE_KERNEL(portable, quantized_quantize_per_channel, check_quantize_channels,
                      run_quantize_channels);
THIMBLE_DEFINE_KERNEL(portable, quantized_quantize_per_tensor, check_quantize, run_quantize);

}  // namespace thimble::kernels
