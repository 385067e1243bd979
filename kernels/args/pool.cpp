// SPDX-License-Identifier: Apache-2.0
// Stock operands of avg_pool2d: x, kernel[2], stride[2], padding[2], ceil_mode, zero_point, mult,
// shift, scratch, y. zero_point, mult, shift and scratch are not used, because input and output
// have the same scale and zero point; scratch must be writable. Stock operands of max_pool2d: x,
// kernel[2], stride[2], padding[2], dilation[2], ceil_mode, x_zero_point, y_zero_point (equal),
// min, max, y.
//
// Native operands: x, PoolParams constant, y.

#include "kernels/args/pool.h"

#include "abi/ops/pool.h"
#include "abi/ops/stock.h"
#include "abi/params/pool.h"

namespace thimble::kernels {
namespace {

/// Maximum number of taps in a window; the sum of int8 values then fits 32 bits.
constexpr int64_t kMaxTaps = 1 << 23;

template <StockSignature kSignature>
void bind_activations(const Tensor& x, const Tensor& y, Pool& pool) {
  constexpr ImageDims dims = image_dims(kSignature);
  pool.x = codes(x);
  pool.y = mutable_codes(y);
  pool.batch = x.sizes[0];
  pool.c = x.sizes[dims.channels];
  pool.axis[0].in = x.sizes[dims.height];
  pool.axis[0].out = y.sizes[dims.height];
  pool.axis[1].in = x.sizes[dims.width];
  pool.axis[1].out = y.sizes[dims.width];
}

template <StockSignature kSignature>
Pool bind_stock(const Call& call, uint32_t y) {
  Pool pool;
  bind_activations<kSignature>(tensor(call, 0), tensor(call, y), pool);
  for (uint32_t a = 0; a < 2; ++a) {
    pool.axis[a].kernel = ints(call, 1).items[a];
    pool.axis[a].stride = ints(call, 2).items[a];
    pool.axis[a].pad = ints(call, 3).items[a];
    pool.axis[a].dilation = 1;
  }
  return pool;
}

Status check_activations(const Tensor& x, const Tensor& y, StockSignature form) {
  THIMBLE_RETURN_IF_ERROR(check_image(x, form));
  THIMBLE_RETURN_IF_ERROR(check_image(y, form));
  const uint32_t channels = image_dims(form).channels;
  const bool agree = x.sizes[0] == y.sizes[0] && x.sizes[channels] == y.sizes[channels];
  return agree ? Status::kOk : Status::kBadShape;
}

Status check_lists(const Call& call, uint32_t count) {
  for (uint32_t list = 1; list <= count; ++list) {
    if (ints(call, list).count != 2) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status check_pool(const Pool& pool) {
  if (!are_bounds(pool.min, pool.max)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_axes(pool.axis, pool.c));
  if (int64_t{pool.axis[0].kernel} * pool.axis[1].kernel > kMaxTaps) return Status::kBadShape;
  for (const WindowAxis& axis : pool.axis) {
    // Averages and maxima of an empty window are undefined.
    if (!windows_meet_image(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

Status check_stock(const Pool& pool, bool ceil_mode) {
  THIMBLE_RETURN_IF_ERROR(check_pool(pool));
  for (const WindowAxis& axis : pool.axis) {
    if (axis.out != window_output(axis, ceil_mode)) return Status::kBadShape;
  }
  return Status::kOk;
}

Status check_native(const Call& call) {
  const Tensor& params = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(
      check_activations(tensor(call, 0), tensor(call, 2), StockSignature::kCurrent));
  THIMBLE_RETURN_IF_ERROR(check_blob(params, sizeof(abi::PoolParams)));
  const Pool pool = bind_native_pool(call);
  THIMBLE_RETURN_IF_ERROR(check_pool(pool));
  for (const WindowAxis& axis : pool.axis) {
    if (!output_follows(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

constexpr StockSignature images_of(AvgPoolSignature form) {
  return form == AvgPoolSignature::kNhwc ? StockSignature::kNhwc : StockSignature::kCurrent;
}
constexpr uint32_t avg_pool_output(AvgPoolSignature form) {
  if (form == AvgPoolSignature::kNoCeilMode) return 8;
  return form == AvgPoolSignature::kNoCeilModeNoScratch ? 7 : 9;
}
}  // namespace

template <AvgPoolSignature kSignature>
Status check_stock_avg_pool(const Call& call) {
  constexpr Letters kCurrent = letters(abi::op_info::cortex_m_quantized_avg_pool2d);
  constexpr Letters kOlder = letters(abi::op_info::cortex_m_quantized_avg_pool2d_8);
  constexpr uint32_t y = avg_pool_output(kSignature);
  constexpr bool has_scratch = kSignature != AvgPoolSignature::kNoCeilModeNoScratch;
  constexpr bool has_ceil_mode = y == 9;
  if (!integers_fit(call, has_ceil_mode ? kCurrent : kOlder)) return Status::kBadParameter;
  if (has_scratch && tensor(call, y - 1).is_constant) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_lists(call, 3));
  THIMBLE_RETURN_IF_ERROR(
      check_activations(tensor(call, 0), tensor(call, y), images_of(kSignature)));
  return check_stock(bind_stock_avg_pool<kSignature>(call), has_ceil_mode && integer(call, 4) != 0);
}

template <StockSignature kSignature>
Status check_stock_max_pool(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_quantized_max_pool2d;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_lists(call, 4));
  THIMBLE_RETURN_IF_ERROR(check_activations(tensor(call, 0), tensor(call, 10), kSignature));
  if (!is_code(integer(call, 6)) || integer(call, 6) != integer(call, 7)) {
    return Status::kBadParameter;
  }
  return check_stock(bind_stock_max_pool<kSignature>(call), integer(call, 5) != 0);
}

Status check_native_avg_pool(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_native(call));
  const Pool pool = bind_native_pool(call);
  const bool dense = pool.axis[0].dilation == 1 && pool.axis[1].dilation == 1;
  return dense ? Status::kOk : Status::kBadParameter;
}

Status check_native_max_pool(const Call& call) {
  return check_native(call);
}

template <AvgPoolSignature kSignature>
Pool bind_stock_avg_pool(const Call& call) {
  return bind_stock<images_of(kSignature)>(call, avg_pool_output(kSignature));
}

template <StockSignature kSignature>
Pool bind_stock_max_pool(const Call& call) {
  Pool pool = bind_stock<kSignature>(call, 10);
  for (uint32_t a = 0; a < 2; ++a) pool.axis[a].dilation = ints(call, 4).items[a];
  pool.min = integer(call, 8);
  pool.max = integer(call, 9);
  return pool;
}

template Status check_stock_avg_pool<AvgPoolSignature::kCurrent>(const Call&);
template Pool bind_stock_avg_pool<AvgPoolSignature::kCurrent>(const Call&);
template Status check_stock_avg_pool<AvgPoolSignature::kNoCeilMode>(const Call&);
template Pool bind_stock_avg_pool<AvgPoolSignature::kNoCeilMode>(const Call&);
template Status check_stock_avg_pool<AvgPoolSignature::kNoCeilModeNoScratch>(const Call&);
template Pool bind_stock_avg_pool<AvgPoolSignature::kNoCeilModeNoScratch>(const Call&);
template Status check_stock_avg_pool<AvgPoolSignature::kNhwc>(const Call&);
template Pool bind_stock_avg_pool<AvgPoolSignature::kNhwc>(const Call&);
template Status check_stock_max_pool<StockSignature::kCurrent>(const Call&);
template Pool bind_stock_max_pool<StockSignature::kCurrent>(const Call&);
template Status check_stock_max_pool<StockSignature::kNhwc>(const Call&);
template Pool bind_stock_max_pool<StockSignature::kNhwc>(const Call&);

Pool bind_native_pool(const Call& call) {
  Pool pool;
  const auto header =
      read_params<abi::op_info::thimble_avg_pool2d, abi::op_info::thimble_max_pool2d>(
          tensor(call, 1));
  bind_activations<StockSignature::kCurrent>(tensor(call, 0), tensor(call, 2), pool);
  bind_window(header, pool.axis);
  pool.min = header.min;
  pool.max = header.max;
  return pool;
}

}  // namespace thimble::kernels
