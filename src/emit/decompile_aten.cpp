// SPDX-License-Identifier: Apache-2.0
// Decompiles operators of ATen and of dim_order_ops, which ExecuTorch leaves to its portable
// kernels, as far as the IR has an equivalent. abi/pte_ops.def gives the argument positions.

#include <algorithm>
#include <map>
#include <numeric>

#include "abi/pte_ops.h"
#include "emit/decompile_call.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

/// ATen operators that equal one IR operator, applied to their first `operands` tensors.
struct DirectOp {
  OpKind kind;
  size_t operands;
};
const std::map<PteOp, DirectOp> kDirectOps = {
    {PteOp::aten_abs, {OpKind::abs, 1}},
    {PteOp::aten_alias_copy, {OpKind::copy, 1}},
    {PteOp::aten_asinh, {OpKind::asinh, 1}},
    {PteOp::aten_atan, {OpKind::atan, 1}},
    {PteOp::aten_bmm, {OpKind::matmul, 2}},
    {PteOp::aten_clone, {OpKind::copy, 1}},
    {PteOp::aten_cos, {OpKind::cos, 1}},
    {PteOp::aten_div, {OpKind::div, 2}},
    {PteOp::aten_erf, {OpKind::erf, 1}},
    {PteOp::aten_exp, {OpKind::exp, 1}},
    {PteOp::aten_floor, {OpKind::floor, 1}},
    {PteOp::aten_log, {OpKind::log, 1}},
    {PteOp::aten_logical_and, {OpKind::logical_and, 2}},
    {PteOp::aten_logical_not, {OpKind::logical_not, 1}},
    {PteOp::aten_logical_or, {OpKind::logical_or, 2}},
    {PteOp::aten_maximum, {OpKind::maximum, 2}},
    {PteOp::aten_minimum, {OpKind::minimum, 2}},
    {PteOp::aten_mm, {OpKind::matmul, 2}},
    {PteOp::aten_mul, {OpKind::mul, 2}},
    {PteOp::aten_rsqrt, {OpKind::rsqrt, 1}},
    {PteOp::aten_sigmoid, {OpKind::sigmoid, 1}},
    {PteOp::aten_sin, {OpKind::sin, 1}},
    {PteOp::aten_sqrt, {OpKind::sqrt, 1}},
    {PteOp::aten_tanh, {OpKind::tanh, 1}},
    {PteOp::aten_where, {OpKind::where, 3}},
    {PteOp::dim_order_clone, {OpKind::copy, 1}},
};

/// Attribute `relation` of the IR's compare.
const std::map<PteOp, int64_t> kRelations = {
    {PteOp::aten_eq_tensor, 0}, {PteOp::aten_eq_scalar, 0}, {PteOp::aten_ne_tensor, 1},
    {PteOp::aten_ne_scalar, 1}, {PteOp::aten_lt_tensor, 2}, {PteOp::aten_lt_scalar, 2},
    {PteOp::aten_le_tensor, 3}, {PteOp::aten_le_scalar, 3}, {PteOp::aten_gt_tensor, 4},
    {PteOp::aten_gt_scalar, 4}, {PteOp::aten_ge_tensor, 5}, {PteOp::aten_ge_scalar, 5},
};

ir::Type type_of(DecompilerCall* call, ValueId id) {
  return call->graph().type(id);
}

ValueId number_constant(DecompilerCall* call, double value) {
  return call->add_constant("number",
                            ir::make_f32({}, std::vector<float>{static_cast<float>(value)}));
}

/// add and sub: b is multiplied by alpha. If `number` is set, b is a number.
Result<ValueId> add_or_sub(DecompilerCall* call, OpKind kind, bool number) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  ValueId b = ir::kNoValue;
  if (number) {
    b = number_constant(call, call->number(1));
  } else {
    THIMBLE_TRY(b, call->tensor(1));
  }
  if (call->number(2) != 1) {
    THIMBLE_TRY(b, call->graph().add(OpKind::mul, {b, number_constant(call, call->number(2))}, {}));
  }
  return call->graph().add(kind, {a, b}, {});
}

Result<ValueId> with_number(DecompilerCall* call, OpKind kind) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  return call->graph().add(kind, {a, number_constant(call, call->number(1))}, {});
}

Result<ValueId> compare(DecompilerCall* call, PteOp op) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  const bool with_tensor = std::string_view(abi::info(op).arguments) == "TTo";
  ValueId b = ir::kNoValue;
  if (with_tensor) {
    THIMBLE_TRY(b, call->tensor(1));
  } else {
    if (type_of(call, a).dtype != ir::DType::kF32)
      return unsupported("compares quantized values with a number");
    b = number_constant(call, call->number(1));
  }
  return call->graph().add(OpKind::compare, {a, b}, {{ir::attr::relation, kRelations.at(op)}});
}

/// The IR's clamp is a float operator; int8 values go through a table.
Result<ValueId> clamp_to(DecompilerCall* call, double low, double high) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  if (type_of(call, x).dtype == ir::DType::kF32) {
    return call->graph().add(OpKind::clamp, {x},
                             {{ir::attr::float_min, low}, {ir::attr::float_max, high}});
  }
  ir::Tensor table;
  table.dtype = ir::DType::kI8;
  table.shape = {256};
  table.bytes.resize(256);
  for (int value = -128; value <= 127; ++value) {
    const double clamped = std::min(std::max(static_cast<double>(value), low), high);
    table.data<int8_t>()[static_cast<size_t>(value + 128)] = static_cast<int8_t>(clamped);
  }
  return call->graph().add(OpKind::lut, {x, call->add_constant("limits", std::move(table))}, {});
}
Result<ValueId> aten_clamp(DecompilerCall* call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return clamp_to(call, call->is_none(1) ? -kInfinity : call->number(1),
                  call->is_none(2) ? kInfinity : call->number(2));
}

// --- Movement ------------------------------------------------------------------------------------

Result<ValueId> reshaped(DecompilerCall* call, ValueId x) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  return call->graph().add(OpKind::reshape, {x}, {{ir::attr::shape, out.shape}});
}
Result<ValueId> view(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return reshaped(call, x);
}

Result<ValueId> permute(DecompilerCall* call, std::vector<int64_t> dims) {
  for (int64_t& dim : dims) dim = call->normalize_dim(dim, 0);
  return add_op(call, OpKind::permute, 1, {{ir::attr::dims, dims}});
}
Result<ValueId> transpose(DecompilerCall* call, int64_t first, int64_t second) {
  THIMBLE_TRY(const ir::Type type, call->type(0));
  const size_t rank = type.shape.size();
  if (rank == 0) return permute(call, {});
  THIMBLE_TRY(const int64_t a, checked_dim(first, rank));
  THIMBLE_TRY(const int64_t b, checked_dim(second, rank));
  std::vector<int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), int64_t{0});
  std::swap(dims[static_cast<size_t>(a)], dims[static_cast<size_t>(b)]);
  return permute(call, dims);
}

Result<ValueId> cut(DecompilerCall* call, ValueId x, int64_t dim, int64_t start, int64_t end,
                    int64_t step = 1) {
  return call->graph().add(OpKind::slice, {x},
                           {{ir::attr::dim, dim},
                            {ir::attr::start, start},
                            {ir::attr::end, end},
                            {ir::attr::step, step}});
}
Result<ValueId> aten_slice(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const ir::Shape shape = type_of(call, x).shape;
  THIMBLE_TRY(const int64_t dim, checked_dim(call->integer(1), shape.size()));
  const int64_t size = shape[static_cast<size_t>(dim)];
  const auto place = [&](size_t i, int64_t absent) {
    const int64_t index = call->is_none(i) ? absent : call->integer(i);
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  };
  return cut(call, x, dim, place(2, 0), place(3, size), call->integer(4));
}
Result<ValueId> aten_select(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const ir::Shape shape = type_of(call, x).shape;
  THIMBLE_TRY(const int64_t dim, checked_dim(call->integer(1), shape.size()));
  int64_t index = call->integer(2);
  if (index < 0) index += shape[static_cast<size_t>(dim)];
  THIMBLE_TRY(const ValueId one, cut(call, x, dim, index, index + 1));
  return reshaped(call, one);
}

Result<std::vector<ValueId>> list(DecompilerCall* call) {
  std::vector<ValueId> values;
  for (const int32_t index : call->tensor_list(0)) {
    THIMBLE_TRY(const ValueId value, call->memory().read(index));
    values.push_back(value);
  }
  return values;
}
Result<ValueId> cat(DecompilerCall* call) {
  THIMBLE_TRY(std::vector<ValueId> values, list(call));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const int64_t dim, checked_dim(call->integer(1), out.shape.size()));
  return call->graph().add(OpKind::concat, std::move(values), {{ir::attr::dim, dim}});
}
Result<ValueId> stack(DecompilerCall* call) {
  THIMBLE_TRY(std::vector<ValueId> values, list(call));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const int64_t dim, checked_dim(call->integer(1), out.shape.size()));
  for (ValueId& value : values) {
    ir::Shape shape = type_of(call, value).shape;
    if (dim > static_cast<int64_t>(shape.size())) return bad_input("no dimension {}", dim);
    shape.insert(shape.begin() + dim, 1);
    THIMBLE_TRY(value, call->graph().add(OpKind::reshape, {value}, {{ir::attr::shape, shape}}));
  }
  return call->graph().add(OpKind::concat, std::move(values), {{ir::attr::dim, dim}});
}

Result<ValueId> aten_pad(DecompilerCall* call) {
  THIMBLE_TRY(const ir::Type type, call->type(0));
  const size_t rank = type.shape.size();
  const std::vector<int64_t> pads = call->integers(1);
  if (pads.size() % 2 != 0 || pads.size() / 2 > rank)
    return bad_input("has {} padding amounts", pads.size());
  std::vector<int64_t> before(rank), after(rank);
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    before[rank - 1 - i] = pads[2 * i];
    after[rank - 1 - i] = pads[2 * i + 1];
  }
  return add_op(
      call, OpKind::pad, 1,
      {{ir::attr::before, before}, {ir::attr::after, after}, {ir::attr::value, call->number(2)}});
}

// --- Reductions, pools, products -----------------------------------------------------------------

Result<ValueId> reduce(DecompilerCall* call, OpKind kind, size_t keepdim = 2, Attrs attrs = {}) {
  THIMBLE_TRY(const ir::Type type, call->type(0));
  std::vector<int64_t> dims = call->integers(1);
  for (int64_t& dim : dims) dim = call->normalize_dim(dim, 0);
  if (dims.empty()) {
    // No dimensions: all of them.
    for (size_t d = 0; d < type.shape.size(); ++d) dims.push_back(static_cast<int64_t>(d));
  }
  std::ranges::sort(dims);
  attrs.set(ir::attr::dims, dims);
  attrs.set(ir::attr::keepdim, call->integer(keepdim));
  return add_op(call, kind, 1, std::move(attrs));
}

Result<ValueId> max_pool(DecompilerCall* call) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const ir::Type in, call->type(0));
  const auto pair = [&](size_t i, const std::vector<int64_t>& absent) {
    const std::vector<int64_t> items = call->integers(i);
    if (items.size() == 1) return std::vector<int64_t>(2, items[0]);
    return items.empty() ? absent : items;
  };
  const std::vector<int64_t> kernel = pair(1, {});
  const std::vector<int64_t> stride = pair(2, kernel);
  const std::vector<int64_t> dilation = pair(4, {1, 1});
  THIMBLE_TRY(const std::vector<int64_t> padding,
              window_padding(out.shape, in.shape, pair(3, {0, 0}), kernel, stride, dilation));
  return add_op(call, OpKind::max_pool2d, 1,
                {{ir::attr::kernel, kernel},
                 {ir::attr::stride, stride},
                 {ir::attr::padding, padding},
                 {ir::attr::dilation, dilation}});
}

Result<ValueId> layer_norm(DecompilerCall* call) {
  std::vector<ValueId> operands;
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  operands.push_back(x);
  for (const size_t i : {size_t{2}, size_t{3}}) {
    THIMBLE_TRY(const ValueId factor, call->tensor_or_none(i));
    operands.push_back(factor);
  }
  return call->graph().add(OpKind::layer_norm, std::move(operands),
                           {{ir::attr::last_dims, static_cast<int64_t>(call->integers(1).size())},
                            {ir::attr::eps, call->number(4)}});
}

/// Returns a list of two numbers; one number holds for both axes.
std::vector<int64_t> pair_of(DecompilerCall* call, size_t i) {
  const std::vector<int64_t> items = call->integers(i);
  return items.size() == 1 ? std::vector<int64_t>(2, items[0]) : items;
}

/// Convolutions of images [N,C,H,W].
Result<ValueId> convolution(DecompilerCall* call) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  THIMBLE_TRY(const ValueId bias, call->tensor_or_none(2));
  if (out.shape.size() != 4) return unsupported("is not a convolution of an image");
  const std::vector<int64_t> padding = pair_of(call, 4);
  if (padding.size() != 2) return bad_input("has {} paddings, expected 2", padding.size());
  const bool transposed = call->integer(6) != 0;
  Attrs attrs = {
      {ir::attr::stride, pair_of(call, 3)},
      {ir::attr::padding, std::vector<int64_t>{padding[0], padding[1], padding[0], padding[1]}},
      {ir::attr::dilation, pair_of(call, 5)},
      {ir::attr::groups, call->integer(8)}};
  if (transposed) attrs.set(ir::attr::output_padding, pair_of(call, 7));
  return call->graph().add(transposed ? OpKind::conv_transpose2d : OpKind::conv2d, {x, w, bias},
                           std::move(attrs));
}

Result<ValueId> avg_pool(DecompilerCall* call) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  THIMBLE_TRY(const ir::Type in, call->type(0));
  if (call->integer(5) != 0 || !call->is_none(6)) {
    return unsupported("divides by another number than that of its elements");
  }
  const std::vector<int64_t> kernel = pair_of(call, 1);
  const std::vector<int64_t> stride = pair_of(call, 2);
  THIMBLE_TRY(const std::vector<int64_t> padding,
              window_padding(out.shape, in.shape, pair_of(call, 3), kernel, stride, {1, 1}));
  return add_op(
      call, OpKind::avg_pool2d, 1,
      {{ir::attr::kernel, kernel}, {ir::attr::stride, stride}, {ir::attr::padding, padding}});
}

Result<ValueId> aten_linear(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  THIMBLE_TRY(const ValueId bias, call->tensor_or_none(2));
  return call->graph().add(OpKind::linear, {x, w, bias}, {});
}

}  // namespace

Result<ValueId> decompile_aten(PteOp op, DecompilerCall* call) {
  if (const auto row = kDirectOps.find(op); row != kDirectOps.end())
    return add_op(call, row->second.kind, row->second.operands);
  if (kRelations.contains(op)) return compare(call, op);
  switch (op) {
    case PteOp::aten_add:
    case PteOp::aten_add_scalar:
      return add_or_sub(call, OpKind::add, op == PteOp::aten_add_scalar);
    case PteOp::aten_sub:
    case PteOp::aten_sub_scalar:
      return add_or_sub(call, OpKind::sub, op == PteOp::aten_sub_scalar);
    case PteOp::aten_mul_scalar:
      return with_number(call, OpKind::mul);
    case PteOp::aten_div_scalar:
      return with_number(call, OpKind::div);
    case PteOp::aten_neg: {
      THIMBLE_TRY(const ValueId x, call->tensor(0));
      return call->graph().add(OpKind::mul, {x, number_constant(call, -1)}, {});
    }
    case PteOp::aten_scalar_tensor:
      return number_constant(call, call->number(0));
    case PteOp::aten_pow_scalar:
      return add_op(call, OpKind::pow, 1, {{ir::attr::exponent, call->number(1)}});
    case PteOp::aten_clamp:
    case PteOp::aten_hardtanh:
      return aten_clamp(call);
    case PteOp::aten_relu:
      return clamp_to(call, 0, std::numeric_limits<double>::infinity());
    case PteOp::aten_amax:
      return reduce(call, OpKind::amax);
    case PteOp::aten_amin:
      return reduce(call, OpKind::amin);
    case PteOp::aten_any:
      return add_op(call, OpKind::amax, 1,
                    {{ir::attr::dims, std::vector<int64_t>{call->dim(1, 0)}},
                     {ir::attr::keepdim, call->integer(2)}});
    case PteOp::aten_mean:
      return reduce(call, OpKind::mean);
    case PteOp::aten_sum:
      return reduce(call, OpKind::sum);
    case PteOp::aten_var:
      if (call->is_none(2)) return unsupported("has no correction");
      return reduce(call, OpKind::variance, 3, {{ir::attr::correction, call->number(2)}});
    case PteOp::aten_softmax:
      return add_op(call, OpKind::softmax, 1, {{ir::attr::dim, call->dim(1, 0)}});
    case PteOp::aten_log_softmax:
      return add_op(call, OpKind::log_softmax, 1, {{ir::attr::dim, call->dim(1, 0)}});
    case PteOp::aten_layer_norm:
      return layer_norm(call);
    case PteOp::aten_linear:
      return aten_linear(call);
    case PteOp::aten_adaptive_avg_pool2d:
      return add_op(call, OpKind::adaptive_avg_pool2d, 1, {{ir::attr::size, call->integers(1)}});
    case PteOp::aten_argmax:
      if (call->is_none(1)) return unsupported("has no dimension");
      return add_op(call, OpKind::argmax, 1,
                    {{ir::attr::dim, call->dim(1, 0)}, {ir::attr::keepdim, call->integer(2)}});
    case PteOp::aten_avg_pool2d:
      return avg_pool(call);
    case PteOp::aten_convolution:
      return convolution(call);
    case PteOp::aten_max_pool2d:
      return max_pool(call);
    case PteOp::aten_cat:
      return cat(call);
    case PteOp::aten_constant_pad_nd:
      return aten_pad(call);
    case PteOp::aten_expand_copy: {
      THIMBLE_TRY(const ir::Type out, call->out_type());
      return add_op(call, OpKind::expand, 1, {{ir::attr::shape, out.shape}});
    }
    case PteOp::aten_permute_copy:
      return permute(call, call->integers(1));
    case PteOp::aten_select_copy:
      return aten_select(call);
    case PteOp::aten_slice_copy:
      return aten_slice(call);
    case PteOp::aten_squeeze_copy_dim:
    case PteOp::aten_squeeze_copy_dims:
    case PteOp::aten_unsqueeze_copy:
    case PteOp::aten_view_copy:
      return view(call);
    case PteOp::aten_stack:
      return stack(call);
    case PteOp::aten_t_copy:
      return transpose(call, 0, -1);
    case PteOp::aten_transpose_copy:
      return transpose(call, call->integer(1), call->integer(2));
    case PteOp::dim_order_to_copy: {
      THIMBLE_TRY(const ir::Type in, call->type(0));
      THIMBLE_TRY(const ir::Type out, call->out_type());
      const bool number = in.dtype == ir::DType::kI32 || in.dtype == ir::DType::kI64;
      if (number && out.dtype == ir::DType::kF32) return add_op(call, OpKind::int_to_float, 1);
      if (in.dtype != out.dtype) return unsupported("changes the element type");
      return add_op(call, OpKind::copy, 1);
    }
    default:
      return unsupported("the IR has no operator for it");
  }
}

Status decompile_split(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const size_t last = call->argument_count() - 2;  // the list; the return value repeats it
  const ir::Shape shape = type_of(call, x).shape;
  THIMBLE_TRY(const int64_t dim, checked_dim(call->integer(last - 1), shape.size()));
  int64_t start = 0;
  for (const int32_t index : call->tensor_list(last)) {
    THIMBLE_TRY(const ir::Type type, call->memory().type(index));
    // unbind removes the dimension, split keeps it.
    const bool drops_dim = type.shape.size() + 1 == shape.size();
    if (!drops_dim && type.shape.size() != shape.size())
      return bad_input("a piece has another rank");
    const int64_t size = drops_dim ? 1 : type.shape[static_cast<size_t>(dim)];
    THIMBLE_TRY(ValueId piece, cut(call, x, dim, start, start + size));
    if (drops_dim) {
      THIMBLE_TRY(piece,
                  call->graph().add(OpKind::reshape, {piece}, {{ir::attr::shape, type.shape}}));
    }
    if (type_of(call, piece).shape != type.shape)
      return bad_input("the shape of an output differs");
    call->graph().value(piece).type.dim_order = type.dim_order;
    THIMBLE_CHECK(call->memory().write(index, piece));
    start += size;
  }
  return ok();
}

}  // namespace thimble::emit
