// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads packed constants (abi/params), and adds the IR operators that they describe.
//
// Input offsets in them (x_, a_, b_offset) are -zero_point as in CMSIS-NN, y_offset is +zero_point;
// geometries have zero points.

#include <algorithm>
#include <cstring>

#include "abi/params/arithmetic.h"
#include "abi/params/linear.h"
#include "abi/params/reduction.h"
#include "abi/params/window.h"
#include "emit/decompile_call.h"

namespace thimble::emit {

/// Reader of the header and arrays of one packed constant, front to back, with bounds checks.
class PackedReader {
 public:
  explicit PackedReader(const Bytes& bytes) : bytes_(bytes) {}

  template <typename T>
  Result<T> header() {
    T value;
    if (sizeof(T) > bytes_.size()) return bad_input("its parameters have {} bytes", bytes_.size());
    std::memcpy(&value, bytes_.data(), sizeof(T));
    at_ = sizeof(T);
    return value;
  }
  /// Reads the next array. Arrays start at multiples of 4.
  template <typename T>
  Result<std::vector<T>> array(int64_t count) {
    if (count < 0 || static_cast<uint64_t>(count) > (bytes_.size() - at_) / sizeof(T)) {
      return bad_input("its parameters end too early");
    }
    std::vector<T> values(static_cast<size_t>(count));
    if (count != 0) std::memcpy(values.data(), bytes_.data() + at_, values.size() * sizeof(T));
    at_ = std::min(bytes_.size(), (at_ + values.size() * sizeof(T) + 3) / 4 * 4);
    return values;
  }

 private:
  const Bytes& bytes_;
  size_t at_ = 0;
};

/// Header of constant argument i.
template <typename T>
Result<T> header_of(DecompilerCall* call, size_t i) {
  THIMBLE_TRY(const Bytes* bytes, call->constant(i));
  return PackedReader(*bytes).header<T>();
}

/// Geometry in argument i, checked against the sizes of the call's x and result.
Result<abi::WindowGeometry> read_geometry(DecompilerCall* call, size_t i);

/// Geometry of a packed linear in argument i, checked against the lengths of x and the result.
Result<abi::LinearGeometry> read_linear_geometry(DecompilerCall* call, size_t i);

/// The operands after the weights: one bias, multiplier and shift per channel.
struct ChannelOperands {
  ir::ValueId bias = ir::kNoValue, mult = ir::kNoValue, shift = ir::kNoValue;
  int64_t weight_bits = 8;
  int64_t weight_group = 0;
};
/// Adds a qlinear with these operands. Params is LinearParams or LinearGeometry.
template <class Params>
Result<ir::ValueId> add_qlinear(DecompilerCall* call, ir::ValueId x, ir::ValueId weights,
                                const ChannelOperands& channels, const Params& p,
                                int64_t x_zero_point, int64_t y_zero_point) {
  return call->graph().add(ir::OpKind::qlinear,
                           {x, weights, channels.bias, channels.mult, channels.shift},
                           {{ir::attr::x_zp, x_zero_point},
                            {ir::attr::y_zp, y_zero_point},
                            {ir::attr::min, int64_t{p.min}},
                            {ir::attr::max, int64_t{p.max}},
                            {ir::attr::weight_bits, channels.weight_bits},
                            {ir::attr::weight_group, channels.weight_group}});
}
/// Adds a qconv2d with these operands. Window is ConvParams or WindowGeometry.
template <class Window>
Result<ir::ValueId> add_qconv2d(DecompilerCall* call, ir::ValueId x, ir::ValueId weights,
                                const ChannelOperands& channels, const Window& w, int64_t groups,
                                int64_t x_zero_point, int64_t y_zero_point) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const std::vector<int64_t> stride = {w.stride_h, w.stride_w};
  const std::vector<int64_t> dilation = {w.dilation_h, w.dilation_w};
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(out.shape, call->graph().type(x).shape, {w.pad_top, w.pad_left},
                             {w.kernel_h, w.kernel_w}, stride, dilation));
  return call->graph().add(ir::OpKind::qconv2d,
                           {x, weights, channels.bias, channels.mult, channels.shift},
                           {{ir::attr::stride, stride},
                            {ir::attr::padding, pad},
                            {ir::attr::dilation, dilation},
                            {ir::attr::groups, groups},
                            {ir::attr::x_zp, x_zero_point},
                            {ir::attr::y_zp, y_zero_point},
                            {ir::attr::min, int64_t{w.min}},
                            {ir::attr::max, int64_t{w.max}},
                            {ir::attr::weight_bits, channels.weight_bits},
                            {ir::attr::weight_group, channels.weight_group}});
}

/// Filters and scales of a packed convolution or linear, unpacked.
struct UnpackedFilters {
  std::vector<int8_t> weights;  // [out][kh][kw][in / groups]
  std::vector<int64_t> bias;    // includes the contribution of x's zero point
  std::vector<int32_t> mult, shift;
  int64_t weight_bits = 8;
  int64_t weight_group = 0;
};
/// Adds a qconv2d with the first out_c filters.
Result<ir::ValueId> build_qconv2d(DecompilerCall* call, const abi::WindowGeometry& geometry,
                                  int64_t groups, UnpackedFilters filters);
/// Adds a qlinear with the first out_features filters.
Result<ir::ValueId> build_qlinear(DecompilerCall* call, const abi::LinearGeometry& geometry,
                                  UnpackedFilters filters);

/// Unpacks `count` filters of `depth` weights each from one packed format.
using ReadFiltersFn = Result<UnpackedFilters>(const Bytes& bytes, int64_t count, int64_t depth);
/// Calls whose arguments are x, a geometry and filters: a convolution without groups, a linear.
Result<ir::ValueId> decompile_packed_conv(DecompilerCall* call, ReadFiltersFn* read);
Result<ir::ValueId> decompile_packed_linear(DecompilerCall* call, ReadFiltersFn* read);

// Operators whose general form and packed forms have the same parameters.
Result<ir::ValueId> build_qadd(DecompilerCall* call, const abi::AddParams& p);
Result<ir::ValueId> build_qmul(DecompilerCall* call, const abi::MulParams& p);
Result<ir::ValueId> build_qmean(DecompilerCall* call, const abi::MeanParams& p);
/// Adds a pooling operator. Window is PoolParams or WindowGeometry.
template <class Window>
Result<ir::ValueId> build_pool(DecompilerCall* call, ir::OpKind kind, const Window& w) {
  THIMBLE_TRY(const ir::ValueId x, call->tensor(0));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const std::vector<int64_t> kernel = {w.kernel_h, w.kernel_w};
  const std::vector<int64_t> stride = {w.stride_h, w.stride_w};
  const std::vector<int64_t> dilation = {w.dilation_h, w.dilation_w};
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(out.shape, call->graph().type(x).shape, {w.pad_top, w.pad_left},
                             kernel, stride, dilation));
  ir::Attrs attrs = {
      {ir::attr::kernel, kernel}, {ir::attr::stride, stride}, {ir::attr::padding, pad}};
  if (kind == ir::OpKind::max_pool2d) {
    attrs.set(ir::attr::dilation, dilation);
  } else {
    attrs.set(ir::attr::min, int64_t{w.min});
    attrs.set(ir::attr::max, int64_t{w.max});
  }
  return call->graph().add(kind, {x}, std::move(attrs));
}

}  // namespace thimble::emit
