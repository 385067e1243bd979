// SPDX-License-Identifier: Apache-2.0
// Legalizes a transposed convolution as a convolution. Output row o = q * stride + r reads input
// rows q + offset through the taps t with r + padding - t * dilation = offset * stride. The offsets
// do not depend on q. So the rows of each phase r are a convolution; where a phase has no tap, its
// filter is zero. All phases together are one convolution with stride * stride times the channels.
//
//   stride 2, padding 1, kernel 4:  row 2q     = w1 x[q] + w3 x[q-1]
//                                   row 2q + 1 = w0 x[q+1] + w2 x[q]
//   window [q-1, q, q+1]: phase 0 = [w3 w1 0], phase 1 = [0 w2 w0]
//
// The cost is the zero taps: along each side the filters have stride * window taps, of which k (the
// original taps) are not zero.

#include <algorithm>
#include <cstring>

#include "engines/neutron/compiler/legalizer.h"
#include "ir/transposed_filters.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::Tensor;
using ir::ValueId;

namespace {

/// The parameters along one dimension (height or width).
struct Side {
  int64_t stride = 1, padding = 0, dilation = 1, taps = 1;
  int64_t first = 0, last = 0;  // range of offsets that the window covers
  int64_t pad_before = 0, pad_after = 0;
  int64_t positions = 0;  // output size of the convolution along this side

  [[nodiscard]] bool meets(int64_t phase, int64_t tap) const {
    return (phase + padding - tap * dilation) % stride == 0;
  }
  [[nodiscard]] int64_t offset(int64_t phase, int64_t tap) const {
    return (phase + padding - tap * dilation) / stride;
  }
  [[nodiscard]] int64_t window() const { return last - first + 1; }
};

Side side_of(const Op& op, size_t side, int64_t taps, int64_t in, int64_t out) {
  Side s;
  s.stride = op.get(ir::attr::stride)[side];
  s.padding = op.get(ir::attr::padding)[side];
  s.dilation = op.get(ir::attr::dilation)[side];
  s.taps = taps;
  for (int64_t phase = 0; phase < s.stride; ++phase) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (!s.meets(phase, tap)) continue;
      s.first = std::min(s.first, s.offset(phase, tap));
      s.last = std::max(s.last, s.offset(phase, tap));
    }
  }
  s.pad_before = -s.first;
  const int64_t wanted = (out + s.stride - 1) / s.stride;
  s.pad_after = std::max<int64_t>(wanted + s.window() - 1 - in - s.pad_before, 0);
  s.positions = in + s.pad_before + s.pad_after - s.window() + 1;
  return s;
}

/// Repeats the per-channel entries once per phase; a tensor with one common entry stays as it is.
Tensor repeated(const Tensor& tensor, int64_t times) {
  if (tensor.shape[0] == 1) return tensor;
  Tensor all = ir::zeros(tensor.dtype, {tensor.shape[0] * times});
  for (int64_t i = 0; i < times; ++i) {
    std::memcpy(all.bytes.data() + static_cast<size_t>(i) * tensor.bytes.size(),
                tensor.bytes.data(), tensor.bytes.size());
  }
  return all;
}

std::optional<ir::Quant> repeated(const std::optional<ir::Quant>& quant, int64_t channels,
                                  int64_t times) {
  if (!quant || quant->scale.size() == 1) return quant;
  if (static_cast<int64_t>(quant->scale.size()) != channels) return std::nullopt;
  ir::Quant all{{}, {}, 0};
  for (int64_t i = 0; i < times; ++i) {
    all.scale.insert(all.scale.end(), quant->scale.begin(), quant->scale.end());
    all.zero_point.insert(all.zero_point.end(), quant->zero_point.begin(), quant->zero_point.end());
  }
  return all;
}

}  // namespace

/// Output channels of the convolution are ordered by row phase, column phase, output channel.
struct Legalizer::Phases {
  Side h, w;
  Tensor filters;  // [O, I / groups, kh, kw]
  int64_t groups = 1;

  [[nodiscard]] int64_t count() const { return h.stride * w.stride; }
  [[nodiscard]] int64_t channels() const { return filters.shape[0]; }
  [[nodiscard]] Tensor weights() const;
};

Tensor Legalizer::Phases::weights() const {
  const int64_t each = filters.shape[1], ins = each * groups, outs = channels();
  Tensor result = ir::zeros(ir::DType::kI8, {count() * outs, ins, h.window(), w.window()});
  const auto from = filters.data<int8_t>();
  const auto to = result.data<int8_t>();
  const auto place = [&](int64_t out, int64_t in, int64_t row, int64_t column) {
    return static_cast<size_t>(((out * ins + in) * h.window() + row) * w.window() + column);
  };
  size_t next = 0;
  for (int64_t o = 0; o < outs; ++o) {
    const int64_t first_in = o / (outs / groups) * each;
    for (int64_t i = 0; i < each; ++i) {
      for (int64_t tap = 0; tap < h.taps * w.taps; ++tap, ++next) {
        const int64_t y = tap / w.taps, x = tap % w.taps;
        for (int64_t phase = 0; phase < count(); ++phase) {
          const int64_t py = phase / w.stride, px = phase % w.stride;
          if (!h.meets(py, y) || !w.meets(px, x)) continue;
          to[place(phase * outs + o, first_in + i, h.offset(py, y) - h.first,
                   w.offset(px, x) - w.first)] = from[next];
        }
      }
    }
  }
  return result;
}

Result<std::vector<ValueId>> Legalizer::phase_operands(const Op& op, const Phases& phases) {
  const auto scales = repeated(type(op, 1).quant, phases.channels(), phases.count());
  std::vector<ValueId> inputs = {rewriter_.map(op.inputs[0]),
                                 constant(op, "_phases.w", phases.weights(), scales)};
  constexpr std::string_view kNames[] = {"_phases.b", "_phases.mult", "_phases.shift"};
  for (size_t i = 2; i < 5; ++i) {
    const Tensor* given = tensor(op, i);
    inputs.push_back(
        given == nullptr
            ? ir::kNoValue
            : constant(op, kNames[i - 2], repeated(*given, phases.count()),
                       repeated(type(op, i).quant, phases.channels(), phases.count())));
  }
  return inputs;
}

Status Legalizer::phases(const Op& op) {
  const Shape &x = type(op, 0).shape, &y = from_.type(op.output).shape;
  Phases phases;
  phases.groups = op.get(ir::attr::groups);
  phases.filters = ir::transposed_conv_filters(*tensor(op, 1), phases.groups);
  const Side& h = phases.h = side_of(op, 0, phases.filters.shape[2], x[2], y[2]);
  const Side& w = phases.w = side_of(op, 1, phases.filters.shape[3], x[3], y[3]);
  THIMBLE_TRY(const std::vector<ValueId> inputs, phase_operands(op, phases));
  ir::Attrs attrs = {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                     {ir::attr::padding,
                      std::vector<int64_t>{h.pad_before, w.pad_before, h.pad_after, w.pad_after}},
                     {ir::attr::dilation, std::vector<int64_t>{1, 1}}};
  for (const auto key :
       {ir::attr::x_zp, ir::attr::y_zp, ir::attr::min, ir::attr::max, ir::attr::rounding}) {
    attrs.set(key, op.get(key));
  }
  const ir::Type& like = from_.type(op.output);
  const Shape grown = {y[0], y[1], h.positions * h.stride, w.positions * w.stride};
  if (phases.count() == 1 && grown == y) return finish(op, OpKind::qconv2d, inputs, attrs);
  THIMBLE_TRY(ValueId made, add_inner(op, OpKind::qconv2d, inputs, attrs, "_phases", like));
  // Transpose [N, (rows, columns,) C, H, W] to [N, C, H, (rows,) W, (columns)].
  if (phases.count() > 1) {
    Shape apart = {y[0]};
    if (h.stride > 1) apart.push_back(h.stride);
    if (w.stride > 1) apart.push_back(w.stride);
    const auto lead = static_cast<int64_t>(apart.size());
    apart.insert(apart.end(), {y[1], h.positions, w.positions});
    std::vector<int64_t> dims = {0, lead, lead + 1};
    if (h.stride > 1) dims.push_back(1);
    dims.push_back(lead + 2);
    if (w.stride > 1) dims.push_back(lead - 1);
    THIMBLE_TRY(made, reshaped(op, made, apart, "_apart", like));
    THIMBLE_TRY(made,
                add_inner(op, OpKind::permute, {made}, {{ir::attr::dims, dims}}, "_rows", like));
    if (grown == y) return finish(op, OpKind::reshape, {made}, {{ir::attr::shape, y}});
    THIMBLE_TRY(made, reshaped(op, made, grown, "_grown", like));
  }
  const auto cut = [&](int64_t dim) -> ir::Attrs {
    return {{ir::attr::dim, dim},
            {ir::attr::start, int64_t{0}},
            {ir::attr::end, y[static_cast<size_t>(dim)]}};
  };
  if (grown[3] == y[3]) return finish(op, OpKind::slice, {made}, cut(2));
  if (grown[2] != y[2]) {
    THIMBLE_TRY(made, add_inner(op, OpKind::slice, {made}, cut(2), "_cut", like));
  }
  return finish(op, OpKind::slice, {made}, cut(3));
}

}  // namespace thimble::engine::neutron
