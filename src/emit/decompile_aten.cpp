// Decompiles operators of ATen and of dim_order_ops, which ExecuTorch leaves to its portable
// kernels, as far as the IR has an equivalent. abi/pte_ops.def gives the argument positions.

#include <algorithm>
#include <map>

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

ValueId scalar(DecompilerCall* call, double value) {
  ir::Tensor tensor = ir::make_f32({}, std::vector<float>{static_cast<float>(value)});
  return call->graph().add_constant("number",
                                    std::make_shared<const ir::Tensor>(std::move(tensor)));
}

Result<ValueId> aten_unary(DecompilerCall* call, OpKind kind, Attrs attrs) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return call->graph().add(kind, {x}, std::move(attrs));
}

Result<ValueId> direct(DecompilerCall* call, const DirectOp& row) {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < row.operands; ++i) {
    THIMBLE_TRY(const ValueId operand, call->tensor(i));
    operands.push_back(operand);
  }
  return call->graph().add(row.kind, std::move(operands), {});
}

/// add and sub: b is multiplied by alpha. If `number` is set, b is a number.
Result<ValueId> sum(DecompilerCall* call, OpKind kind, bool number) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  ValueId b = ir::kNoValue;
  if (number) {
    b = scalar(call, call->number(1));
  } else {
    THIMBLE_TRY(b, call->tensor(1));
  }
  if (call->number(2) != 1) {
    THIMBLE_TRY(b, call->graph().add(OpKind::mul, {b, scalar(call, call->number(2))}, {}));
  }
  return call->graph().add(kind, {a, b}, {});
}

Result<ValueId> with_number(DecompilerCall* call, OpKind kind) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  return call->graph().add(kind, {a, scalar(call, call->number(1))}, {});
}

Result<ValueId> compare(DecompilerCall* call, PteOp op) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  const bool with_tensor = std::string_view(abi::info(op).arguments) == "TTo";
  ValueId b = ir::kNoValue;
  if (with_tensor) {
    THIMBLE_TRY(b, call->tensor(1));
  } else {
    if (type_of(call, a).dtype != ir::DType::kF32)
      return unsupported("compares a quantized tensor with a number");
    b = scalar(call, call->number(1));
  }
  return call->graph().add(OpKind::compare, {a, b}, {{"relation", kRelations.at(op)}});
}

Result<ValueId> limited(DecompilerCall* call, double low, double high) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  if (type_of(call, x).dtype == ir::DType::kF32) {
    return call->graph().add(OpKind::clamp, {x}, {{"min", low}, {"max", high}});
  }
  ir::Tensor table;
  table.dtype = ir::DType::kI8;
  table.shape = {256};
  table.bytes.resize(256);
  for (int code = -128; code <= 127; ++code) {
    const double limited = std::min(std::max(static_cast<double>(code), low), high);
    table.data<int8_t>()[static_cast<size_t>(code + 128)] = static_cast<int8_t>(limited);
  }
  const ValueId lut =
      call->graph().add_constant("limits", std::make_shared<const ir::Tensor>(std::move(table)));
  return call->graph().add(OpKind::lut, {x, lut}, {});
}
Result<ValueId> clamp(DecompilerCall* call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return limited(call, call->is_none(1) ? -kInfinity : call->number(1),
                 call->is_none(2) ? kInfinity : call->number(2));
}

// --- Movement ------------------------------------------------------------------------------------

Result<ValueId> reshaped(DecompilerCall* call, ValueId x) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  return call->graph().add(OpKind::reshape, {x}, {{"shape", out.shape}});
}
Result<ValueId> view(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return reshaped(call, x);
}

Result<ValueId> permute(DecompilerCall* call, std::vector<int64_t> dims) {
  for (int64_t& dim : dims) dim = call->normalize_dim(dim, 0);
  return aten_unary(call, OpKind::permute, {{"dims", dims}});
}
Result<ValueId> exchange(DecompilerCall* call, int64_t first, int64_t second) {
  THIMBLE_TRY(const ir::Type type, call->type(0));
  const auto rank = static_cast<int64_t>(type.shape.size());
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d) {
    dims.push_back(d == call->normalize_dim(first, 0)    ? call->normalize_dim(second, 0)
                   : d == call->normalize_dim(second, 0) ? call->normalize_dim(first, 0)
                                                         : d);
  }
  return permute(call, dims);
}

Result<ValueId> cut(DecompilerCall* call, ValueId x, int64_t dim, int64_t start, int64_t end,
                    int64_t step = 1) {
  return call->graph().add(OpKind::slice, {x},
                           {{"dim", dim}, {"start", start}, {"end", end}, {"step", step}});
}
Result<ValueId> slice(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const int64_t dim = call->dim(1, 0);
  const ir::Shape shape = type_of(call, x).shape;
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return bad_input("no dimension {}", dim);
  const int64_t size = shape[static_cast<size_t>(dim)];
  const auto place = [&](size_t i, int64_t absent) {
    const int64_t index = call->is_none(i) ? absent : call->integer(i);
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  };
  return cut(call, x, dim, place(2, 0), place(3, size), call->integer(4));
}
Result<ValueId> select(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const int64_t dim = call->dim(1, 0);
  const ir::Shape shape = type_of(call, x).shape;
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return bad_input("no dimension {}", dim);
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
/// Argument i as a dimension of the result.
Result<int64_t> out_dim(DecompilerCall* call, size_t i) {
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const int64_t dim = call->integer(i);
  return dim < 0 ? dim + static_cast<int64_t>(out.shape.size()) : dim;
}
Result<ValueId> cat(DecompilerCall* call) {
  THIMBLE_TRY(std::vector<ValueId> values, list(call));
  THIMBLE_TRY(const int64_t dim, out_dim(call, 1));
  return call->graph().add(OpKind::concat, std::move(values), {{"dim", dim}});
}
Result<ValueId> stack(DecompilerCall* call) {
  THIMBLE_TRY(std::vector<ValueId> values, list(call));
  THIMBLE_TRY(const int64_t dim, out_dim(call, 1));
  for (ValueId& value : values) {
    ir::Shape shape = type_of(call, value).shape;
    if (dim < 0 || dim > static_cast<int64_t>(shape.size()))
      return bad_input("no dimension {}", dim);
    shape.insert(shape.begin() + dim, 1);
    THIMBLE_TRY(value, call->graph().add(OpKind::reshape, {value}, {{"shape", shape}}));
  }
  return call->graph().add(OpKind::concat, std::move(values), {{"dim", dim}});
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
  return aten_unary(call, OpKind::pad,
                    {{"before", before}, {"after", after}, {"value", call->number(2)}});
}

// --- Reductions, pools, products -----------------------------------------------------------------

Result<ValueId> reduce(DecompilerCall* call, OpKind kind, size_t keepdim) {
  THIMBLE_TRY(const ir::Type type, call->type(0));
  std::vector<int64_t> dims = call->integers(1);
  for (int64_t& dim : dims) dim = call->normalize_dim(dim, 0);
  for (size_t d = 0; dims.size() < type.shape.size() && call->integers(1).empty(); ++d) {
    dims.push_back(static_cast<int64_t>(d));
  }
  std::ranges::sort(dims);
  return aten_unary(call, kind, {{"dims", dims}, {"keepdim", call->integer(keepdim)}});
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
  return aten_unary(
      call, OpKind::max_pool2d,
      {{"kernel", kernel}, {"stride", stride}, {"padding", padding}, {"dilation", dilation}});
}

Result<ValueId> layer_norm(DecompilerCall* call) {
  std::vector<ValueId> operands;
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  operands.push_back(x);
  for (const size_t i : {size_t{2}, size_t{3}}) {
    ValueId factor = ir::kNoValue;
    if (!call->is_none(i)) {
      THIMBLE_TRY(factor, call->tensor(i));
    }
    operands.push_back(factor);
  }
  return call->graph().add(
      OpKind::layer_norm, std::move(operands),
      {{"dims", static_cast<int64_t>(call->integers(1).size())}, {"eps", call->number(4)}});
}

Result<ValueId> aten_linear(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  ValueId bias = ir::kNoValue;
  if (!call->is_none(2)) {
    THIMBLE_TRY(bias, call->tensor(2));
  }
  return call->graph().add(OpKind::linear, {x, w, bias}, {});
}

Result<ValueId> movement(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::aten_cat:
      return cat(call);
    case PteOp::aten_constant_pad_nd:
      return aten_pad(call);
    case PteOp::aten_expand_copy: {
      THIMBLE_TRY(const ir::Type out, call->out_type());
      return aten_unary(call, OpKind::expand, {{"shape", out.shape}});
    }
    case PteOp::aten_permute_copy:
      return permute(call, call->integers(1));
    case PteOp::aten_select_copy:
      return select(call);
    case PteOp::aten_slice_copy:
      return slice(call);
    case PteOp::aten_squeeze_copy_dim:
    case PteOp::aten_squeeze_copy_dims:
    case PteOp::aten_unsqueeze_copy:
    case PteOp::aten_view_copy:
      return view(call);
    case PteOp::aten_stack:
      return stack(call);
    case PteOp::aten_t_copy:
      return exchange(call, 0, -1);
    case PteOp::aten_transpose_copy:
      return exchange(call, call->integer(1), call->integer(2));
    case PteOp::dim_order_to_copy: {
      THIMBLE_TRY(const ir::Type in, call->type(0));
      THIMBLE_TRY(const ir::Type out, call->out_type());
      if (in.dtype != out.dtype) return unsupported("changes the element type");
      return aten_unary(call, OpKind::copy, {});
    }
    default:
      return unsupported("the IR has no operator for it");
  }
}

}  // namespace

Result<ValueId> decompile_aten(PteOp op, DecompilerCall* call) {
  if (const auto row = kDirectOps.find(op); row != kDirectOps.end())
    return direct(call, row->second);
  if (kRelations.contains(op)) return compare(call, op);
  switch (op) {
    case PteOp::aten_add:
    case PteOp::aten_add_scalar:
      return sum(call, OpKind::add, op == PteOp::aten_add_scalar);
    case PteOp::aten_sub:
    case PteOp::aten_sub_scalar:
      return sum(call, OpKind::sub, op == PteOp::aten_sub_scalar);
    case PteOp::aten_mul_scalar:
      return with_number(call, OpKind::mul);
    case PteOp::aten_div_scalar:
      return with_number(call, OpKind::div);
    case PteOp::aten_neg: {
      THIMBLE_TRY(const ValueId x, call->tensor(0));
      return call->graph().add(OpKind::mul, {x, scalar(call, -1)}, {});
    }
    case PteOp::aten_scalar_tensor:
      return scalar(call, call->number(0));
    case PteOp::aten_pow_scalar:
      return aten_unary(call, OpKind::pow, {{"exponent", call->number(1)}});
    case PteOp::aten_clamp:
    case PteOp::aten_hardtanh:
      return clamp(call);
    case PteOp::aten_relu:
      return limited(call, 0, std::numeric_limits<double>::infinity());
    case PteOp::aten_amax:
      return reduce(call, OpKind::amax, 2);
    case PteOp::aten_amin:
      return reduce(call, OpKind::amin, 2);
    case PteOp::aten_mean:
      return reduce(call, OpKind::mean, 2);
    case PteOp::aten_sum:
      return reduce(call, OpKind::sum, 2);
    case PteOp::aten_softmax:
      return aten_unary(call, OpKind::softmax, {{"dim", call->dim(1, 0)}});
    case PteOp::aten_log_softmax:
      return aten_unary(call, OpKind::log_softmax, {{"dim", call->dim(1, 0)}});
    case PteOp::aten_layer_norm:
      return layer_norm(call);
    case PteOp::aten_linear:
      return aten_linear(call);
    case PteOp::aten_max_pool2d:
      return max_pool(call);
    default:
      return movement(op, call);
  }
}

Status decompile_split(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const size_t last = call->argument_count() - 2;  // the list; the return value repeats it
  const int64_t dim = call->dim(last - 1, 0);
  const ir::Shape shape = type_of(call, x).shape;
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return bad_input("no dimension {}", dim);
  int64_t start = 0;
  for (const int32_t index : call->tensor_list(last)) {
    THIMBLE_TRY(const ir::Type type, call->memory().type(index));
    // Pieces of unbind do not have the dimension.
    const bool layer = type.shape.size() + 1 == shape.size();
    if (!layer && type.shape.size() != shape.size())
      return bad_input("the rank of an output differs");
    const int64_t size = layer ? 1 : type.shape[static_cast<size_t>(dim)];
    THIMBLE_TRY(ValueId piece, cut(call, x, dim, start, start + size));
    if (layer) {
      THIMBLE_TRY(piece, call->graph().add(OpKind::reshape, {piece}, {{"shape", type.shape}}));
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
