// SPDX-License-Identifier: Apache-2.0
// Stock operands: x, w, bias?, stride[2], padding[2], dilation[2], [depth_multiplier,] x_offset,
// y_offset, mult int32[O], shift int32[O], min, max, [scratch,] y. The scratch is as large as the
// file has planned it, possibly empty or absent.
//
// Native operands: x, ConvParams constant, y.

#include "kernels/args/conv.h"

#include "abi/ops/conv.h"
#include "abi/ops/stock.h"
#include "abi/params/conv.h"

namespace thimble::kernels {
namespace {

/// Positions of stock operands. Depthwise has one additional integer before the offsets.
struct Stock {
  uint32_t x_offset, y_offset, mult, shift, min, max, scratch, y;
};
constexpr Stock kConv2d = {6, 7, 8, 9, 10, 11, 12, 13};
constexpr Stock kDepthwise = {7, 8, 9, 10, 11, 12, 13, 14};

/// Adjusts the positions for a signature without scratch: y takes its position.
constexpr Stock positions(Stock at, StockSignature form) {
  if (form == StockSignature::kNoScratch) --at.y;
  return at;
}

template <StockSignature kSignature>
void bind_activations(const Tensor& x, const Tensor& y, Conv& conv) {
  constexpr ImageDims dims = image_dims(kSignature);
  conv.x = codes(x);
  conv.y = mutable_codes(y);
  conv.batch = x.sizes[0];
  conv.in_c = x.sizes[dims.channels];
  conv.out_c = y.sizes[dims.channels];
  conv.axis[0].in = x.sizes[dims.height];
  conv.axis[0].out = y.sizes[dims.height];
  conv.axis[1].in = x.sizes[dims.width];
  conv.axis[1].out = y.sizes[dims.width];
}

template <StockSignature kSignature>
Conv bind_stock(const Call& call, const Stock& at) {
  Conv conv;
  bind_activations<kSignature>(tensor(call, 0), tensor(call, at.y), conv);
  conv.w = codes(tensor(call, 1));
  for (uint32_t a = 0; a < 2; ++a) {
    WindowAxis& axis = conv.axis[a];
    axis.kernel = tensor(call, 1).sizes[1 + a];
    axis.stride = ints(call, 3).items[a];
    axis.pad = ints(call, 4).items[a];
    axis.dilation = ints(call, 5).items[a];
  }
  conv.x_offset = integer(call, at.x_offset);
  if (kSignature != StockSignature::kNoScratch) {
    const Tensor& scratch = tensor(call, at.scratch);
    conv.scratch = mutable_codes(scratch);
    conv.scratch_bytes = scratch.is_null ? 0 : static_cast<int32_t>(scratch.bytes);
  }
  conv.requant.bias = words(tensor(call, 2));
  conv.requant.mult = words(tensor(call, at.mult));
  conv.requant.shift = codes(tensor(call, at.shift));
  conv.requant.y_offset = integer(call, at.y_offset);
  conv.requant.min = integer(call, at.min);
  conv.requant.max = integer(call, at.max);
  return conv;
}

Status check_activations(const Tensor& x, const Tensor& y, StockSignature form) {
  THIMBLE_RETURN_IF_ERROR(check_image(x, form));
  THIMBLE_RETURN_IF_ERROR(check_image(y, form));
  return x.sizes[0] == y.sizes[0] ? Status::kOk : Status::kBadShape;
}

/// Checks everything except the size of the weights and the per-channel values.
Status check_geometry(const Conv& conv) {
  if (!is_offset(conv.x_offset)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_axes(conv.axis, conv.in_c));
  if (conv.groups < 1 || conv.in_c % conv.groups != 0 || conv.out_c % conv.groups != 0) {
    return Status::kBadShape;
  }
  const int64_t taps = int64_t{conv.axis[0].kernel} * conv.axis[1].kernel;
  const int64_t sum = taps * (conv.in_c / conv.groups);
  return sum <= abi::kMaxAccumulations ? Status::kOk : Status::kBadShape;
}

int64_t weights_bytes(const Conv& conv) {
  return int64_t{conv.out_c} * conv.axis[0].kernel * conv.axis[1].kernel *
         (conv.in_c / conv.groups);
}

template <StockSignature kSignature>
Status check_stock(const Call& call, const Stock& at, Letters letters) {
  const Tensor& y = tensor(call, at.y);
  constexpr uint32_t channels = image_dims(kSignature).channels;
  const Tensor& w = tensor(call, 1);
  if (!integers_fit(call, letters)) return Status::kBadParameter;
  constexpr bool has_scratch = kSignature != StockSignature::kNoScratch;
  if (has_scratch && tensor(call, at.scratch).is_constant) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_activations(tensor(call, 0), y, kSignature));
  THIMBLE_RETURN_IF_ERROR(check_tensor(w, DType::kI8));
  if (w.rank != 4) return Status::kBadShape;
  if (!is_contiguous(w)) return Status::kBadDimOrder;
  THIMBLE_RETURN_IF_ERROR(check_bias(tensor(call, 2), y.sizes[channels]));
  for (uint32_t list = 3; list <= 5; ++list) {
    if (ints(call, list).count != 2) return Status::kBadParameter;
  }
  return check_stock_scales(tensor(call, at.mult), tensor(call, at.shift), y.sizes[channels]);
}

Status check_bound_stock(const Conv& conv) {
  THIMBLE_RETURN_IF_ERROR(check_geometry(conv));
  for (const WindowAxis& axis : conv.axis) {
    if (axis.out != window_output(axis, false)) return Status::kBadShape;
  }
  return check_requant(conv.requant, conv.out_c);
}

/// Binds everything except the arrays after the header; the caller must first check their size.
Conv bind_header(const Call& call) {
  Conv conv;
  const auto header =
      read_params<abi::op_info::thimble_conv2d, abi::op_info::thimble_depthwise_conv2d>(
          tensor(call, 1));
  bind_activations<StockSignature::kCurrent>(tensor(call, 0), tensor(call, 2), conv);
  bind_window(header, conv.axis);
  conv.groups = header.groups;
  conv.x_offset = header.x_offset;
  conv.requant.y_offset = header.y_offset;
  conv.requant.min = header.min;
  conv.requant.max = header.max;
  return conv;
}

Status check_native(const Call& call, bool depthwise) {
  const Tensor& x = tensor(call, 0);
  const Tensor& params = tensor(call, 1);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_activations(x, y, StockSignature::kCurrent));
  THIMBLE_RETURN_IF_ERROR(check_blob(params, sizeof(abi::ConvParams)));
  const auto header =
      read_params<abi::op_info::thimble_conv2d, abi::op_info::thimble_depthwise_conv2d>(params);
  if (header.out_channels != y.sizes[1]) return Status::kBadShape;
  if (depthwise && header.groups != x.sizes[1]) return Status::kBadShape;
  const Conv conv = bind_header(call);
  THIMBLE_RETURN_IF_ERROR(check_geometry(conv));
  for (const WindowAxis& axis : conv.axis) {
    if (!output_follows(axis)) return Status::kBadShape;
  }
  const int64_t bytes = packed_bytes(sizeof header, conv.out_c, conv.out_c, weights_bytes(conv));
  THIMBLE_RETURN_IF_ERROR(check_packed(params, bytes));
  return check_requant(bind_native_conv(call).requant, conv.out_c);
}

}  // namespace

template <StockSignature kSignature>
Status check_stock_conv2d(const Call& call) {
  constexpr Letters kLetters = letters(abi::op_info::cortex_m_quantized_conv2d_13);
  constexpr Stock at = positions(kConv2d, kSignature);
  constexpr uint32_t channels = image_dims(kSignature).channels;
  THIMBLE_RETURN_IF_ERROR(check_stock<kSignature>(call, at, kLetters));
  const Tensor& w = tensor(call, 1);
  const int32_t in_c = tensor(call, 0).sizes[channels];
  if (w.sizes[0] != tensor(call, at.y).sizes[channels]) return Status::kBadShape;
  if (w.sizes[3] > in_c || in_c % w.sizes[3] != 0) return Status::kBadShape;
  return check_bound_stock(bind_stock_conv2d<kSignature>(call));
}

template <StockSignature kSignature>
Status check_stock_depthwise(const Call& call) {
  constexpr Letters kLetters = letters(abi::op_info::cortex_m_quantized_depthwise_conv2d_14);
  constexpr Stock at = positions(kDepthwise, kSignature);
  constexpr uint32_t channels = image_dims(kSignature).channels;
  THIMBLE_RETURN_IF_ERROR(check_stock<kSignature>(call, at, kLetters));
  const Tensor& w = tensor(call, 1);
  const int64_t in_c = tensor(call, 0).sizes[channels];
  const int32_t out_c = tensor(call, at.y).sizes[channels];
  if (w.sizes[0] != 1 || w.sizes[3] != out_c) return Status::kBadShape;
  if (in_c * integer(call, 6) != out_c) return Status::kBadShape;
  return check_bound_stock(bind_stock_depthwise<kSignature>(call));
}

Status check_native_conv2d(const Call& call) {
  return check_native(call, false);
}
Status check_native_depthwise(const Call& call) {
  return check_native(call, true);
}

template <StockSignature kSignature>
Conv bind_stock_conv2d(const Call& call) {
  Conv conv = bind_stock<kSignature>(call, positions(kConv2d, kSignature));
  conv.groups = conv.in_c / tensor(call, 1).sizes[3];
  return conv;
}

template <StockSignature kSignature>
Conv bind_stock_depthwise(const Call& call) {
  Conv conv = bind_stock<kSignature>(call, positions(kDepthwise, kSignature));
  conv.groups = conv.in_c;
  return conv;
}

template Status check_stock_conv2d<StockSignature::kCurrent>(const Call&);
template Status check_stock_depthwise<StockSignature::kCurrent>(const Call&);
template Conv bind_stock_conv2d<StockSignature::kCurrent>(const Call&);
template Conv bind_stock_depthwise<StockSignature::kCurrent>(const Call&);
template Status check_stock_conv2d<StockSignature::kNoScratch>(const Call&);
template Status check_stock_depthwise<StockSignature::kNoScratch>(const Call&);
template Conv bind_stock_conv2d<StockSignature::kNoScratch>(const Call&);
template Conv bind_stock_depthwise<StockSignature::kNoScratch>(const Call&);
template Status check_stock_conv2d<StockSignature::kNhwc>(const Call&);
template Status check_stock_depthwise<StockSignature::kNhwc>(const Call&);
template Conv bind_stock_conv2d<StockSignature::kNhwc>(const Call&);
template Conv bind_stock_depthwise<StockSignature::kNhwc>(const Call&);

Conv bind_native_conv(const Call& call) {
  Conv conv = bind_header(call);
  conv.w =
      bind_packed(tensor(call, 1), sizeof(abi::ConvParams), conv.out_c, conv.out_c, conv.requant);
  return conv;
}

}  // namespace thimble::kernels
