// SPDX-License-Identifier: Apache-2.0
#include "emit/decompile_packed.h"

namespace thimble::emit {

using ir::ValueId;

Result<abi::WindowGeometry> read_geometry(DecompilerCall* call, size_t i) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const abi::WindowGeometry g, header_of<abi::WindowGeometry>(call, i));
  const ir::Shape& image = call->graph().type(x).shape;
  if (image != ir::Shape{1, g.in_c, g.in_h, g.in_w} ||
      out.shape != ir::Shape{1, g.out_c, g.out_h, g.out_w}) {
    return bad_input("its geometry does not match the sizes of its operands");
  }
  if (g.kernel_h == 0 || g.kernel_w == 0) return bad_input("its window is empty");
  return g;
}

Result<abi::LinearGeometry> read_linear_geometry(DecompilerCall* call, size_t i) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const abi::LinearGeometry g, header_of<abi::LinearGeometry>(call, i));
  const ir::Type& rows = call->graph().type(x);
  const bool features = !rows.shape.empty() && !out.shape.empty() &&
                        rows.shape.back() == g.in_features && out.shape.back() == g.out_features;
  if (!features || rows.elements() != int64_t{g.rows} * g.in_features) {
    return bad_input("its geometry does not match the sizes of its operands");
  }
  return g;
}

namespace {

/// Keeps the first `count` filters of `depth` weights. The others fill the last group of the packed
/// form.
void drop_padding_filters(size_t count, size_t depth, UnpackedFilters* filters) {
  filters->weights.resize(count * depth);
  filters->bias.resize(count);
  filters->mult.resize(count);
  filters->shift.resize(count);
}

/// Biases as docs/numerics.md defines them, without the contribution of x's zero point.
std::vector<int32_t> plain_biases(const UnpackedFilters& filters, size_t depth,
                                  int64_t x_zero_point) {
  std::vector<int32_t> biases;
  for (size_t o = 0; o < filters.bias.size(); ++o) {
    int64_t bias = filters.bias[o];
    for (size_t k = 0; k < depth; ++k) bias += x_zero_point * filters.weights[o * depth + k];
    biases.push_back(static_cast<int32_t>(bias));
  }
  return biases;
}

ChannelOperands add_channels(DecompilerCall* call, const UnpackedFilters& filters, size_t depth,
                             int64_t x_zero_point) {
  const ir::Shape count = {static_cast<int64_t>(filters.bias.size())};
  const std::vector<int32_t> bias = plain_biases(filters, depth, x_zero_point);
  return {call->add_constant("bias", ir::make_i32(count, bias)),
          call->add_constant("mult", ir::make_i32(count, filters.mult)),
          call->add_constant("shift", ir::make_i32(count, filters.shift)), filters.weight_bits,
          filters.weight_group};
}

}  // namespace

Result<ValueId> build_qlinear(DecompilerCall* call, const abi::LinearGeometry& g,
                              UnpackedFilters filters) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  drop_padding_filters(g.out_features, g.in_features, &filters);
  const ValueId w =
      call->add_constant("w", ir::make_i8({g.out_features, g.in_features}, filters.weights));
  const ChannelOperands channels = add_channels(call, filters, g.in_features, g.x_zero_point);
  return add_qlinear(call, x, w, channels, g, g.x_zero_point, g.y_zero_point);
}

Result<ValueId> build_qconv2d(DecompilerCall* call, const abi::WindowGeometry& g, int64_t groups,
                              UnpackedFilters filters) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  if (groups < 1 || g.in_c % groups != 0)
    return bad_input("its channels are not divisible by its groups");
  const ir::Shape shape = {g.out_c, g.kernel_h, g.kernel_w, g.in_c / groups};
  const size_t depth = static_cast<size_t>(ir::element_count(shape) / shape[0]);
  drop_padding_filters(g.out_c, depth, &filters);
  const std::vector<int64_t> order = {0, 3, 1, 2};
  const ValueId w =
      call->add_constant("w", ir::permuted(ir::make_i8(shape, filters.weights), order));
  const ChannelOperands channels = add_channels(call, filters, depth, g.x_zero_point);
  return add_qconv2d(call, x, w, channels, g, groups, g.x_zero_point, g.y_zero_point);
}

Result<ValueId> decompile_packed_conv(DecompilerCall* call, ReadFiltersFn* read) {
  THIMBLE_TRY(const abi::WindowGeometry g, read_geometry(call, 1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  const int64_t depth = int64_t{g.kernel_h * g.kernel_w} * g.in_c;
  THIMBLE_TRY(const UnpackedFilters filters, read(*bytes, g.out_c, depth));
  return build_qconv2d(call, g, 1, filters);
}

Result<ValueId> decompile_packed_linear(DecompilerCall* call, ReadFiltersFn* read) {
  THIMBLE_TRY(const abi::LinearGeometry g, read_linear_geometry(call, 1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  THIMBLE_TRY(const UnpackedFilters filters, read(*bytes, g.out_features, g.in_features));
  return build_qlinear(call, g, filters);
}

Result<ValueId> build_qadd(DecompilerCall* call, const abi::AddParams& p) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(1));
  return call->graph().add(p.b_negate != 0 ? ir::OpKind::qsub : ir::OpKind::qadd, {a, b},
                           {{ir::attr::a_zp, int64_t{-p.a_offset}},
                            {ir::attr::a_mult, int64_t{p.a_mult}},
                            {ir::attr::a_shift, int64_t{p.a_shift}},
                            {ir::attr::b_zp, int64_t{-p.b_offset}},
                            {ir::attr::b_mult, int64_t{p.b_mult}},
                            {ir::attr::b_shift, int64_t{p.b_shift}},
                            {ir::attr::y_zp, int64_t{p.y_offset}},
                            {ir::attr::y_mult, int64_t{p.y_mult}},
                            {ir::attr::y_shift, int64_t{p.y_shift}},
                            {ir::attr::min, int64_t{p.min}},
                            {ir::attr::max, int64_t{p.max}}});
}

Result<ValueId> build_qmul(DecompilerCall* call, const abi::MulParams& p) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(1));
  return call->graph().add(ir::OpKind::qmul, {a, b},
                           {{ir::attr::a_zp, int64_t{-p.a_offset}},
                            {ir::attr::b_zp, int64_t{-p.b_offset}},
                            {ir::attr::y_zp, int64_t{p.y_offset}},
                            {ir::attr::mult, int64_t{p.mult}},
                            {ir::attr::shift, int64_t{p.shift}},
                            {ir::attr::min, int64_t{p.min}},
                            {ir::attr::max, int64_t{p.max}}});
}

Result<ValueId> build_qmean(DecompilerCall* call, const abi::MeanParams& p) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const size_t rank = call->graph().type(x).shape.size();
  std::vector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d) {
    if ((p.dims_mask >> d & 1) != 0) dims.push_back(static_cast<int64_t>(d));
  }
  return call->graph().add(ir::OpKind::qmean, {x},
                           {{ir::attr::dims, dims},
                            {ir::attr::keepdim, int64_t{out.shape.size() == rank ? 1 : 0}},
                            {ir::attr::x_zp, int64_t{-p.x_offset}},
                            {ir::attr::y_zp, int64_t{p.y_offset}},
                            {ir::attr::mult, int64_t{p.mult}},
                            {ir::attr::shift, int64_t{p.shift}},
                            {ir::attr::min, int64_t{p.min}},
                            {ir::attr::max, int64_t{p.max}}});
}

}  // namespace thimble::emit
