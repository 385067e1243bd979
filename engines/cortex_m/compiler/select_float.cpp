// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/select_float.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "abi/params/recurrent.h"
#include "abi/params/spectrum.h"
#include "abi/pte_ops.h"
#include "ir/op_traits.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;
using ir::DType;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// IR operators whose call has their operands and no other arguments.
struct PlainCall {
  OpKind kind;
  PteOp op;
};
constexpr PlainCall kPlainCalls[] = {
    {OpKind::abs, PteOp::aten_abs},
    {OpKind::asinh, PteOp::aten_asinh},
    {OpKind::atan, PteOp::aten_atan},
    {OpKind::cos, PteOp::aten_cos},
    {OpKind::div, PteOp::aten_div},
    {OpKind::erf, PteOp::aten_erf},
    {OpKind::exp, PteOp::aten_exp},
    {OpKind::floor, PteOp::aten_floor},
    {OpKind::linear, PteOp::thimble_linear_f32},
    {OpKind::log, PteOp::aten_log},
    {OpKind::matmul, PteOp::aten_bmm},
    {OpKind::maximum, PteOp::aten_maximum},
    {OpKind::minimum, PteOp::aten_minimum},
    {OpKind::mul, PteOp::aten_mul},
    {OpKind::rsqrt, PteOp::aten_rsqrt},
    {OpKind::sigmoid, PteOp::aten_sigmoid},
    {OpKind::sin, PteOp::aten_sin},
    {OpKind::sqrt, PteOp::aten_sqrt},
    {OpKind::tanh, PteOp::aten_tanh},
};
/// By the number of ir::compare's relation.
constexpr PteOp kRelations[] = {PteOp::aten_eq_tensor, PteOp::aten_ne_tensor,
                                PteOp::aten_lt_tensor, PteOp::aten_le_tensor,
                                PteOp::aten_gt_tensor, PteOp::aten_ge_tensor};

const PlainCall* plain_call(OpKind kind) {
  const auto* const row = std::ranges::find(kPlainCalls, kind, &PlainCall::kind);
  return row == std::end(kPlainCalls) ? nullptr : row;
}

/// Returns ATen's ceil_mode with which an average pool has this result; nothing if none.
std::optional<bool> ceil_mode(const ir::Graph& graph, const Op& op) {
  const ir::Shape& in = graph.type(op.inputs[0]).shape;
  const ir::Shape& out = graph.type(op.output).shape;
  const auto& kernel = op.get(ir::attr::kernel);
  const auto& stride = op.get(ir::attr::stride);
  const auto& padding = op.get(ir::attr::padding);
  for (const bool ceil : {false, true}) {
    bool fits = true;
    for (size_t k = 0; k < 2; ++k) {
      const int64_t room = in[2 + k] + 2 * padding[k] - kernel[k];
      int64_t extent = (room + (ceil ? stride[k] - 1 : 0)) / stride[k] + 1;
      if (ceil && (extent - 1) * stride[k] >= in[2 + k] + padding[k]) --extent;
      fits = fits && room >= 0 && extent == out[2 + k];
    }
    if (fits) return ceil;
  }
  return {};
}

/// Makes the call of one operator.
class FloatCall {
 public:
  FloatCall(const ir::Graph& graph, const Op& op) : graph_(graph), op_(op) {}

  std::optional<KernelCall> run() {
    if (const PlainCall* const row = plain_call(op_.kind)) return call(row->op, operands());
    switch (op_.kind) {
      case OpKind::add:
        return call(PteOp::aten_add, {x(), value(1), 1.0});
      case OpKind::sub:
        return call(PteOp::aten_sub, {x(), value(1), 1.0});
      case OpKind::clamp:
        return call(PteOp::aten_clamp, {x(), bound(op_.get(ir::attr::float_min), -kInfinity),
                                        bound(op_.get(ir::attr::float_max), kInfinity)});
      case OpKind::pow:
        return call(PteOp::aten_pow_scalar, {x(), op_.get(ir::attr::exponent)});
      case OpKind::compare:
        return call(kRelations[op_.get(ir::attr::relation)], operands());
      case OpKind::conv2d:
        return call(PteOp::thimble_conv2d_f32,
                    {x(), value(1), value(2), ints(ir::attr::stride), ints(ir::attr::padding),
                     ints(ir::attr::dilation), op_.get(ir::attr::groups)});
      case OpKind::conv_transpose2d:
        return transposed();
      case OpKind::avg_pool2d:
        return call(PteOp::aten_avg_pool2d,
                    {x(), ints(ir::attr::kernel), ints(ir::attr::stride), padding(),
                     ceil_mode(graph_, op_).value_or(false), false, None{}});
      case OpKind::adaptive_avg_pool2d:
        return call(PteOp::aten_adaptive_avg_pool2d, {x(), ints(ir::attr::size)});
      case OpKind::max_pool2d:
        return call(PteOp::thimble_max_pool2d_f32,
                    {x(), ints(ir::attr::kernel), ints(ir::attr::stride), ints(ir::attr::padding),
                     ints(ir::attr::dilation)});
      case OpKind::mean:
        return call(PteOp::aten_mean, {x(), ints(ir::attr::dims), keepdim(), None{}});
      case OpKind::sum:
        return call(PteOp::aten_sum, {x(), ints(ir::attr::dims), keepdim(), None{}});
      case OpKind::amax:
        return call(PteOp::aten_amax, {x(), ints(ir::attr::dims), keepdim()});
      case OpKind::amin:
        return call(PteOp::aten_amin, {x(), ints(ir::attr::dims), keepdim()});
      case OpKind::variance:
        return call(PteOp::aten_var,
                    {x(), ints(ir::attr::dims), op_.get(ir::attr::correction), keepdim()});
      case OpKind::argmax:
        return call(PteOp::aten_argmax, {x(), op_.get(ir::attr::dim), keepdim()});
      case OpKind::softmax:
        return call(PteOp::aten_softmax, {x(), op_.get(ir::attr::dim), false});
      case OpKind::log_softmax:
        return call(PteOp::aten_log_softmax, {x(), op_.get(ir::attr::dim), false});
      case OpKind::group_norm:
        return call(PteOp::thimble_group_norm_f32,
                    {x(), value(1), value(2), op_.get(ir::attr::groups), op_.get(ir::attr::eps)});
      case OpKind::layer_norm:
        return call(
            PteOp::thimble_layer_norm_f32,
            {x(), value(1), value(2), op_.get(ir::attr::last_dims), op_.get(ir::attr::eps)});
      case OpKind::rms_norm:
        return call(PteOp::thimble_rms_norm_f32,
                    {x(), value(1), op_.get(ir::attr::last_dims), op_.get(ir::attr::eps)});
      case OpKind::lstm:
        return recurrent(PteOp::thimble_lstm_f32, abi::kFloatLstmLanes, op_.get(ir::attr::cell));
      case OpKind::gru:
        return recurrent(PteOp::thimble_gru_f32, abi::kFloatGruLanes, 0);
      case OpKind::rnn:
        return recurrent(PteOp::thimble_rnn_f32, abi::kFloatRnnLanes, op_.get(ir::attr::relu));
      case OpKind::pad:
        return pad();
      case OpKind::power_spectrum:
        return call(
            PteOp::thimble_power_spectrum_f32,
            {x(), value(1), op_.get(ir::attr::hop),
             Scratch{abi::float_spectrum_scratch_bytes(graph_.type(op_.inputs[1]).shape[0])}});
      case OpKind::permute:
        return call(PteOp::aten_permute_copy, {x(), ints(ir::attr::dims)});
      case OpKind::int_to_float:
        return call(PteOp::dim_order_to_copy, {x(), false, None{}});
      default:
        return {};
    }
  }

 private:
  using Arguments = std::vector<Argument>;

  KernelCall call(PteOp op, Arguments arguments) const {
    KernelCall result;
    result.op = op;
    result.arguments = std::move(arguments);
    return result;
  }
  Argument value(size_t i) const {
    const ValueId id = op_.inputs[i];
    if (id == ir::kNoValue) return None{};
    const ir::Value& v = graph_.value(id);
    if (!v.constant) return ValueRef{id};
    return Constant{std::make_shared<const std::vector<std::byte>>(
                        ir::to_memory(*v.constant, v.type.dim_order)),
                    v.type.dtype, v.type.shape, v.type.dim_order};
  }
  Argument x() const { return value(0); }
  Arguments operands() const {
    Arguments arguments;
    for (size_t i = 0; i < op_.inputs.size(); ++i) arguments.push_back(value(i));
    return arguments;
  }
  Integers ints(ir::AttrKey<std::vector<int64_t>> key) const { return op_.get(key); }
  bool keepdim() const { return op_.get(ir::attr::keepdim) != 0; }
  static Argument bound(double limit, double none) {
    return limit == none ? Argument(None{}) : Argument(limit);
  }
  /// Returns the padding of both sides of each axis.
  Integers padding() const {
    const auto& sides = op_.get(ir::attr::padding);
    return {sides[0], sides[1]};
  }

  KernelCall transposed() const {
    return call(
        PteOp::aten_convolution,
        {x(), value(1), value(2), ints(ir::attr::stride), padding(), ints(ir::attr::dilation), true,
         ints(ir::attr::output_padding), op_.get(ir::attr::groups)});
  }

  KernelCall recurrent(PteOp op, int64_t lanes, int64_t flag) const {
    Arguments arguments = operands();
    if (op != PteOp::thimble_gru_f32) arguments.emplace_back(flag != 0);
    arguments.emplace_back(op_.get(ir::attr::reverse) != 0);
    const int64_t hidden = graph_.type(op_.output).shape.back();
    arguments.emplace_back(Scratch{abi::float_recurrent_scratch_bytes(lanes, hidden)});
    return call(op, std::move(arguments));
  }

  /// ATen lists pairs of amounts from the last dimension to the first one that is padded.
  KernelCall pad() const {
    const auto& before = op_.get(ir::attr::before);
    const auto& after = op_.get(ir::attr::after);
    Integers amounts;
    size_t first = 0;
    while (first < before.size() && before[first] == 0 && after[first] == 0) ++first;
    for (size_t d = before.size(); d > first; --d) {
      amounts.push_back(before[d - 1]);
      amounts.push_back(after[d - 1]);
    }
    return call(PteOp::aten_constant_pad_nd, {x(), std::move(amounts), op_.get(ir::attr::value)});
  }

  const ir::Graph& graph_;
  const Op& op_;
};

/// Elementwise kernels read an element before they write it.
int overwritten_operand(const ir::Graph& graph, const Op& op) {
  if (!ir::is_elementwise(op.kind)) return -1;
  const ir::Type& result = graph.type(op.output);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ir::Value& operand = graph.value(op.inputs[i]);
    const bool fits = !operand.constant && operand.type.shape == result.shape &&
                      operand.type.dim_order == result.dim_order &&
                      operand.type.dtype == result.dtype;
    if (fits) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

bool is_float(const ir::Graph& graph, const Op& op) {
  if (op.kind == OpKind::quantize || op.kind == OpKind::dequantize) return false;
  if (graph.type(op.output).dtype == DType::kF32) return true;
  return std::ranges::any_of(op.inputs, [&](ValueId input) {
    return input != ir::kNoValue && graph.type(input).dtype == DType::kF32;
  });
}

bool float_pool_fits(const ir::Graph& graph, const Op& op) {
  return ceil_mode(graph, op).has_value();
}

std::string float_refusal(const ir::Graph& graph, const Op& op) {
  switch (op.kind) {
    case OpKind::avg_pool2d:
      assert(float_pool_fits(graph, op));
      return {};
    case OpKind::pad: {
      constexpr int64_t kPairsMax = 4;  // of the kernel's list
      const auto &before = op.get(ir::attr::before), &after = op.get(ir::attr::after);
      size_t first = 0;
      while (first < before.size() && before[first] == 0 && after[first] == 0) ++first;
      if (std::ssize(before) - static_cast<int64_t>(first) <= kPairsMax) return {};
      return "pads more than four dimensions";
    }
    case OpKind::adaptive_max_pool2d:
    case OpKind::dequantize_channels:
    case OpKind::log_mel:
    case OpKind::camera_image:
    case OpKind::unpack:
    case OpKind::prelu:
    case OpKind::batch_norm:
    case OpKind::resize_bilinear:
      return "has no float32 kernel";
    case OpKind::cumsum:
      return "sums more than 65536 elements; its float32 form stores triangles of ones";
    default:
      return {};
  }
}

std::optional<KernelCall> float_call(const ir::Graph& graph, const Op& op) {
  std::optional<KernelCall> call = FloatCall(graph, op).run();
  if (call) call->in_place = overwritten_operand(graph, op);
  return call;
}

}  // namespace thimble::engine::cortex_m
