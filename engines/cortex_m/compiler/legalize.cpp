// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/legalize.h"

#include <algorithm>

#include "abi/limits.h"
#include "engine/direct.h"
#include "engines/cortex_m/compiler/select_float.h"
#include "engines/cortex_m/compiler/sum_limit.h"
#include "ir/infer.h"
#include "ir/op_cost.h"
#include "ir/op_traits.h"
#include "ir/refused_op.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Attrs;
using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

/// cortex_m::pad and cortex_m::transpose support at most four dimensions.
constexpr size_t kStockRank = 4;
constexpr std::string_view kOtherRounding = "requires a rounding mode that the kernels do not have";
constexpr std::string_view kStillFloat =
    "is still float after quantization: it has no integer kernel";

std::string describe(const Op& op, std::string_view reason) {
  const std::string what =
      op.source.target.empty() ? std::string(ir::op_name(op.kind)) : op.source.target;
  return fmt::format("{} {}\n  {:<14} {:<30} in module {}", what, reason, op.source.where(),
                     op.source.text, op.source.module.empty() ? "(top)" : op.source.module);
}

class Legalizer {
 public:
  Legalizer(const ir::Graph& from, Dialect dialect)
      : rewriter_(from), from_(from), dialect_(dialect), stock_(dialect != Dialect::kNative) {}

  Result<ir::Graph> run() {
    for (const Op& op : from_.ops()) {
      THIMBLE_TRY(const ValueId result, convert(op));
      if (result == ir::kNoValue) continue;  // refused; continue, to list every refusal
      rewriter_.set(op.output, result);
    }
    if (!refusals_.empty()) {
      std::string message;
      for (const std::string& refusal : refusals_)
        message += (message.empty() ? "" : "\n") + refusal;
      return refusal(std::move(message), std::move(facts_));
    }
    return rewriter_.finish();
  }

 private:
  ir::Graph& to() { return rewriter_.to(); }
  const ir::Type& type(ValueId value) { return to().type(value); }

  ValueId refuse(const Op& op, std::string_view reason) {
    refusals_.push_back(describe(op, reason));
    facts_.ops.push_back(ir::refused_op(op.source, op.kind, reason));
    poisoned_.push_back(op.output);
    return ir::kNoValue;
  }

  Result<ValueId> add(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, const Op& like,
                      bool last = true) {
    ir::Graph::ResultHint hint;
    if (last) {
      const ir::Value& result = from_.value(like.output);
      hint = {result.name, result.type.dim_order, result.type.quant};
    } else {
      hint.quant = type(inputs[0]).quant;
    }
    return to().add(kind, std::move(inputs), std::move(attrs), like.source, std::move(hint));
  }

  Result<ValueId> convert(const Op& op) {
    for (const ValueId input : op.inputs) {
      if (std::find(poisoned_.begin(), poisoned_.end(), input) != poisoned_.end()) {
        poisoned_.push_back(op.output);
        return ir::kNoValue;
      }
    }
    if (from_.type(op.output).shape.size() > abi::kMaxRank) {
      return refuse(op, fmt::format("has a result with more than {} dimensions", abi::kMaxRank));
    }
    if (const Sum sum = sum_of(from_, op); sum.products > sum.most) {
      return refuse(op, fmt::format("sums {} products for each of its results; 32 bits hold {}",
                                    sum.products, sum.most));
    }
    if (is_float(from_, op)) return convert_float(op);
    switch (op.kind) {
      case OpKind::qconv2d:
        return convert_conv(op);
      case OpKind::qlinear:
        return convert_linear(op);
      case OpKind::qadd:
      case OpKind::qsub:
      case OpKind::qmul:
        return convert_binary(op);
      case OpKind::maximum:
      case OpKind::minimum:
        return stock_ ? stock_max_min(op) : convert_direct(op);
      case OpKind::where:
        return stock_ ? stock_where(op) : convert_direct(op);
      case OpKind::qavg_pool2d:
        return convert_avg_pool(op);
      case OpKind::max_pool2d:
        return convert_max_pool(op);
      case OpKind::qmean:
        return stock_ ? convert_mean(op) : add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
      case OpKind::qlog_softmax:
        if (dialect_ == Dialect::kStock)
          return refuse(
              op, "has no int8 kernel in ExecuTorch; end the network before it, or in a softmax");
        return add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
      case OpKind::pad:
        return convert_pad(op);
      case OpKind::copy:
      case OpKind::permute:
      case OpKind::reshape:
      case OpKind::slice:
      case OpKind::expand:
      case OpKind::concat:
      case OpKind::lut:
      case OpKind::qsoftmax:
        return add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
      case OpKind::delegate:
      case OpKind::quantize:
      case OpKind::dequantize:
        return add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
      default:
        if (direct_op(op.kind) != nullptr) return convert_direct(op);
        break;
    }
    return refuse(op, kStillFloat);
  }

  /// Operators on float32 keep their form: lower_float() has rewritten those without a kernel.
  Result<ValueId> convert_float(const Op& op) {
    if (stock_) return refuse(op, kStillFloat);
    if (const std::string reason = float_refusal(from_, op); !reason.empty()) {
      return refuse(op, reason);
    }
    return add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
  }

  /// Converts operators that a native kernel computes directly.
  Result<ValueId> convert_direct(const Op& op) {
    if (dialect_ == Dialect::kStock)
      return refuse(op, "has no bit-exact int8 kernel in ExecuTorch");
    if (!has_kernel_for_type(op)) {
      const ir::DType dtype = from_.type(op.inputs[0]).dtype;
      return refuse(op, fmt::format("has no kernel for element type {}", ir::dtype_name(dtype)));
    }
    const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
    if (rounds && !rounds_double(op)) return refuse(op, kOtherRounding);
    const bool broadcasts = ir::is_elementwise(op.kind) && op.kind != OpKind::lut16;
    if (!broadcasts) return add(op.kind, rewriter_.map(op.inputs), op.attrs, op);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      THIMBLE_TRY(const ValueId input, operand(op, i, false, false));
      inputs.push_back(input);
    }
    return add(op.kind, std::move(inputs), op.attrs, op);
  }

  /// Returns false for element types that the IR operator supports but its kernel does not.
  bool has_kernel_for_type(const Op& op) {
    const ir::DType x = from_.type(op.inputs[0]).dtype;
    switch (op.kind) {
      case OpKind::adaptive_max_pool2d:
      case OpKind::amax:
      case OpKind::amin:
      case OpKind::argmax:
        return x == ir::DType::kI8 || x == ir::DType::kI16;
      case OpKind::compare:
      case OpKind::maximum:
      case OpKind::minimum:
        return x != ir::DType::kF32;
      case OpKind::int_cumsum:
      case OpKind::int_pair:
        return x == ir::DType::kI32;
      case OpKind::int_reduce:
        return x == ir::DType::kI32 || x == ir::DType::kBool;
      default:
        return true;
    }
  }

  bool rounds_double(const Op& op) { return op.get(ir::attr::rounding) == 0; }

  Result<ValueId> convert_conv(const Op& op) {
    if (!rounds_double(op)) return refuse(op, kOtherRounding);
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    Attrs attrs = op.attrs;
    const auto& padding = op.get(ir::attr::padding);
    if (stock_ && !symmetric(op, inputs[0])) {
      const std::vector<int64_t> before = {0, 0, padding[0], padding[1]};
      const std::vector<int64_t> after = {0, 0, padding[2], padding[3]};
      const auto value = static_cast<double>(op.get(ir::attr::x_zp));
      THIMBLE_TRY(
          inputs[0],
          add(OpKind::pad, {inputs[0]},
              {{ir::attr::before, before}, {ir::attr::after, after}, {ir::attr::value, value}}, op,
              false));
      attrs.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    }
    return add(op.kind, std::move(inputs), std::move(attrs), op);
  }

  /// The stock operators have one padding per dimension; the padding at the end follows from sizes.
  bool symmetric(const Op& op, ValueId x) {
    const auto& padding = op.get(ir::attr::padding);
    const auto& stride = op.get(ir::attr::stride);
    const std::vector<int64_t> dilation =
        op.kind == OpKind::qavg_pool2d ? std::vector<int64_t>{1, 1} : op.get(ir::attr::dilation);
    for (size_t k = 0; k < 2; ++k) {
      const int64_t kernel = op.kind == OpKind::qconv2d ? from_.type(op.inputs[1]).shape[2 + k]
                                                        : op.get(ir::attr::kernel)[k];
      const int64_t extent = ir::window_extent(type(x).shape[2 + k], padding[k], padding[k], kernel,
                                               stride[k], dilation[k]);
      if (extent != from_.type(op.output).shape[2 + k]) return false;
    }
    return true;
  }

  Result<ValueId> convert_linear(const Op& op) {
    if (!rounds_double(op)) return refuse(op, kOtherRounding);
    if (!from_.value(op.inputs[1]).constant) return refuse(op, "has weights that are not constant");
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    if (!stock_ || type(inputs[3]).shape[0] == 1)
      return add(op.kind, std::move(inputs), op.attrs, op);
    // The stock linear operator has one multiplier for all channels. A linear layer with
    // per-channel weights becomes a 1x1 convolution.
    const int64_t features = type(inputs[0]).shape.back();
    const int64_t rows = type(inputs[0]).elements() / features;
    const int64_t out = type(inputs[1]).shape[0];
    THIMBLE_TRY(inputs[0], reshape(inputs[0], {rows, features, 1, 1}, op));
    inputs[1] = reshaped_constant(op.inputs[1], {out, features, 1, 1});
    const std::vector<int64_t> ones = {1, 1};
    Attrs attrs = op.attrs;
    attrs.set(ir::attr::stride, ones);
    attrs.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    attrs.set(ir::attr::dilation, ones);
    ir::Graph::ResultHint hint;
    hint.quant = from_.type(op.output).quant;
    THIMBLE_TRY(const ValueId image,
                to().add(OpKind::qconv2d, std::move(inputs), attrs, op.source, hint));
    return add(OpKind::reshape, {image}, {{ir::attr::shape, from_.type(op.output).shape}}, op);
  }

  Result<ValueId> reshape(ValueId value, const Shape& shape, const Op& like) {
    if (type(value).shape == shape) return value;
    return add(OpKind::reshape, {value}, {{ir::attr::shape, shape}}, like, false);
  }

  ValueId reshaped_constant(ValueId old_value, const Shape& shape) {
    const ir::Value& value = from_.value(old_value);
    ir::Tensor tensor = *value.constant;
    tensor.shape = shape;
    std::optional<ir::Quant> quant = value.type.quant;
    return to().add_constant(value.name + "_reshaped",
                             std::make_shared<const ir::Tensor>(std::move(tensor)),
                             std::move(quant));
  }

  /// Calls visit(index in `shape`, value) for each element of a tensor broadcast to `shape`.
  template <typename Visit>
  static void for_each_broadcast(const ir::Tensor& codes, const Shape& shape, Visit visit) {
    const Shape& small = codes.shape;
    const std::vector<int64_t> big_strides = ir::strides(shape, {});
    const std::vector<int64_t> small_strides = ir::strides(small, {});
    const size_t lead = shape.size() - small.size();
    const auto count = static_cast<size_t>(ir::element_count(shape));
    for (size_t i = 0; i < count; ++i) {
      int64_t from = 0;
      for (size_t d = 0; d < small.size(); ++d) {
        const int64_t index = static_cast<int64_t>(i) / big_strides[lead + d] % shape[lead + d];
        if (small[d] != 1) from += index * small_strides[d];
      }
      visit(i, codes.data<int8_t>()[static_cast<size_t>(from)]);
    }
  }

  /// Adds the constant operand, broadcast to `shape`, with `map` applied to each quantized value.
  ValueId broadcast_constant(ValueId old_value, const Shape& shape, int8_t (*map)(int8_t)) {
    const ir::Value& value = from_.value(old_value);
    ir::Tensor tensor = ir::zeros(ir::DType::kI8, shape);
    const std::span<int8_t> codes = tensor.data<int8_t>();
    for_each_broadcast(*value.constant, shape,
                       [&](size_t to, int8_t code) { codes[to] = map(code); });
    return to().add_constant(value.name, std::make_shared<const ir::Tensor>(std::move(tensor)),
                             value.type.quant);
  }

  /// Returns -1 - q. With zero point -1 - z it represents the exact negative.
  static int8_t complement(int8_t code) { return static_cast<int8_t>(-1 - code); }
  static int8_t same(int8_t code) { return code; }

  Result<ValueId> through_table(ValueId x, int8_t (*map)(int32_t, int64_t, int64_t), int64_t a,
                                int64_t b, const Op& like, bool last) {
    ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
    for (int32_t code = -128; code < 128; ++code) {
      table.data<int8_t>()[static_cast<size_t>(code + 128)] = map(code, a, b);
    }
    const ValueId constant =
        to().add_constant(from_.value(like.output).name + "_table",
                          std::make_shared<const ir::Tensor>(std::move(table)));
    return add(OpKind::lut, {x, constant}, {}, like, last);
  }
  static int8_t clamp_code(int32_t code, int64_t low, int64_t high) {
    return static_cast<int8_t>(std::clamp<int64_t>(code, low, high));
  }

  /// Adds a clamp as a separate operator.
  Result<ValueId> clamped(ValueId x, const Op& op) {
    return through_table(x, clamp_code, op.get(ir::attr::min), op.get(ir::attr::max), op, true);
  }
  static bool clamps(const Op& op) {
    return op.get(ir::attr::min) != -128 || op.get(ir::attr::max) != 127;
  }

  /// Returns true if ExecuTorch's addition or multiplication can read an operand of this shape: it
  /// has one element per channel, and images are in channels-last order. assign_layouts() expands
  /// the operand if they are not.
  bool broadcasts_channels(const Op& op, const Shape& operand) const {
    if (op.kind != OpKind::qadd && op.kind != OpKind::qsub && op.kind != OpKind::qmul) return false;
    const Shape& shape = from_.type(op.output).shape;
    return shape.size() == 4 && operand == Shape{1, shape[1], 1, 1};
  }

  /// Maps operand `i` and gives it the result's rank; for a stock kernel also its shape.
  Result<ValueId> operand(const Op& op, size_t i, bool stock, bool negate) {
    const Shape& shape = from_.type(op.output).shape;
    const ir::Type& own = from_.type(op.inputs[i]);
    if (from_.value(op.inputs[i]).constant && (stock || negate)) {
      return broadcast_constant(op.inputs[i], shape, negate ? complement : same);
    }
    Shape aligned(shape.size() - own.shape.size(), 1);
    aligned.insert(aligned.end(), own.shape.begin(), own.shape.end());
    if (from_.value(op.inputs[i]).constant) return reshaped_constant(op.inputs[i], aligned);
    THIMBLE_TRY(ValueId value, reshape(rewriter_.map(op.inputs[i]), aligned, op));
    if (negate) {
      const auto map = [](int32_t code, int64_t, int64_t) {
        return static_cast<int8_t>(-1 - code);
      };
      THIMBLE_TRY(value, through_table(value, map, 0, 0, op, false));
    }
    if (stock && aligned != shape && !broadcasts_channels(op, aligned)) {
      THIMBLE_TRY(value, add(OpKind::expand, {value}, {{ir::attr::shape, shape}}, op, false));
    }
    return value;
  }

  Result<ValueId> convert_binary(const Op& op) {
    if (!rounds_double(op)) return refuse(op, kOtherRounding);
    const bool negate = stock_ && op.kind == OpKind::qsub;
    THIMBLE_TRY(const ValueId a, operand(op, 0, stock_, false));
    THIMBLE_TRY(const ValueId b, operand(op, 1, stock_, negate));
    Attrs attrs = op.attrs;
    if (negate) attrs.set(ir::attr::b_zp, -1 - op.get(ir::attr::b_zp));
    const bool separate_clamp = stock_ && op.kind == OpKind::qmul && clamps(op);
    if (separate_clamp) {
      attrs.set(ir::attr::min, int64_t{-128});
      attrs.set(ir::attr::max, int64_t{127});
    }
    const OpKind kind = negate ? OpKind::qadd : op.kind;
    THIMBLE_TRY(const ValueId result, add(kind, {a, b}, std::move(attrs), op, !separate_clamp));
    return separate_clamp ? clamped(result, op) : Result<ValueId>(result);
  }

  /// ExecuTorch's maximum and minimum support int8 operands of one shape with at most 4 dimensions.
  bool has_stock_max_min(const Op& op) const {
    const ir::Type& type = from_.type(op.output);
    return type.dtype == ir::DType::kI8 && type.shape.size() <= kStockRank;
  }

  Result<ValueId> stock_max_min(const Op& op) {
    if (!has_stock_max_min(op))
      return refuse(op, "has a type or rank that ExecuTorch's maximum and minimum do not support");
    THIMBLE_TRY(const ValueId a, operand(op, 0, true, false));
    THIMBLE_TRY(const ValueId b, operand(op, 1, true, false));
    return add(op.kind, {a, b}, {}, op);
  }

  /// Replaces `where` with a constant condition: each operand becomes minimum(x, c) with c = 127
  /// where it is selected and -128 elsewhere; the result is the maximum of both.
  Result<ValueId> stock_where(const Op& op) {
    const auto& condition = from_.value(op.inputs[0]).constant;
    if (!has_stock_max_min(op) || condition == nullptr) {
      return refuse(op, "has a condition that is not constant; ExecuTorch has no kernel for it");
    }
    THIMBLE_TRY(const ValueId a, operand(op, 1, true, false));
    THIMBLE_TRY(const ValueId b, operand(op, 2, true, false));
    THIMBLE_TRY(const ValueId from_a, masked_where(op, a, *condition, true));
    THIMBLE_TRY(const ValueId from_b, masked_where(op, b, *condition, false));
    return add(OpKind::maximum, {from_a, from_b}, {}, op);
  }

  /// Returns `value`, broadcast to the result's shape, where the condition is `kept`, else -128.
  Result<ValueId> masked_where(const Op& op, ValueId value, const ir::Tensor& condition,
                               bool kept) {
    const Shape& shape = from_.type(op.output).shape;
    ir::Tensor limits = ir::zeros(ir::DType::kI8, condition.shape);
    for (size_t i = 0; i < limits.bytes.size(); ++i) {
      const bool holds = condition.data<uint8_t>()[i] != 0;
      limits.data<int8_t>()[i] = holds == kept ? 127 : -128;
    }
    ir::Tensor spread = ir::zeros(ir::DType::kI8, shape);
    const auto codes = spread.data<int8_t>();
    for_each_broadcast(limits, shape, [&](size_t to, int8_t code) { codes[to] = code; });
    if (const auto known = to().value(value).constant) {
      for (size_t i = 0; i < codes.size(); ++i) {
        codes[i] = std::min(codes[i], known->data<int8_t>()[i]);
      }
    }
    const bool constant = to().value(value).constant != nullptr;
    const ValueId other = to().add_constant(from_.value(op.output).name + "_kept",
                                            std::make_shared<const ir::Tensor>(std::move(spread)),
                                            from_.type(op.output).quant);
    if (constant) return other;
    return add(OpKind::minimum, {value, other}, {}, op, false);
  }

  Result<ValueId> convert_avg_pool(const Op& op) {
    if (!rounds_double(op)) return refuse(op, kOtherRounding);
    const ValueId x = rewriter_.map(op.inputs[0]);
    if (!stock_) return add(op.kind, {x}, op.attrs, op);
    if (!symmetric(op, x) && !ceils(op, x)) {
      return refuse(op,
                    "has padding that differs between its sides, which ExecuTorch's average pool "
                    "does not support");
    }
    if (!clamps(op)) return add(op.kind, {x}, op.attrs, op);
    Attrs attrs = op.attrs;
    attrs.set(ir::attr::min, int64_t{-128});
    attrs.set(ir::attr::max, int64_t{127});
    THIMBLE_TRY(const ValueId pooled, add(op.kind, {x}, std::move(attrs), op, false));
    return clamped(pooled, op);
  }

  /// Returns true if rounding the window count up in both dimensions gives the output's size.
  bool ceils(const Op& op, ValueId x) {
    const auto& padding = op.get(ir::attr::padding);
    const auto& stride = op.get(ir::attr::stride);
    const auto& kernel = op.get(ir::attr::kernel);
    for (size_t k = 0; k < 2; ++k) {
      const int64_t input = type(x).shape[2 + k];
      int64_t extent = (input + 2 * padding[k] - kernel[k] + stride[k] - 1) / stride[k] + 1;
      if ((extent - 1) * stride[k] >= input + padding[k]) --extent;
      if (extent != from_.type(op.output).shape[2 + k]) return false;
    }
    return true;
  }

  Result<ValueId> convert_max_pool(const Op& op) {
    ValueId x = rewriter_.map(op.inputs[0]);
    if (!stock_) return add(op.kind, {x}, op.attrs, op);
    if (op.get(ir::attr::dilation) != std::vector<int64_t>{1, 1}) {
      return refuse(op, "is dilated; ExecuTorch's int8 max pool has no dilation");
    }
    Attrs attrs = op.attrs;
    if (!symmetric(op, x)) {
      const auto& padding = op.get(ir::attr::padding);
      const std::vector<int64_t> before = {0, 0, padding[0], padding[1]};
      const std::vector<int64_t> after = {0, 0, padding[2], padding[3]};
      THIMBLE_TRY(
          x, add(OpKind::pad, {x},
                 {{ir::attr::before, before}, {ir::attr::after, after}, {ir::attr::value, -128.0}},
                 op, false));
      attrs.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    }
    return add(op.kind, {x}, std::move(attrs), op);
  }

  /// Replaces a mean by a linear layer with weights 1 over the reduced dimensions, which are moved
  /// last. The multiplier includes the division. The result is bit-exact.
  Result<ValueId> convert_mean(const Op& op) {
    if (!rounds_double(op)) return refuse(op, kOtherRounding);
    const ValueId x = rewriter_.map(op.inputs[0]);
    const auto& reduced = op.get(ir::attr::dims);
    const Shape shape = type(x).shape;
    std::vector<int64_t> order, last;
    int64_t rows = 1, terms = 1;
    for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
      const bool goes = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
      (goes ? last : order).push_back(d);
      (goes ? terms : rows) *= shape[static_cast<size_t>(d)];
    }
    order.insert(order.end(), last.begin(), last.end());
    THIMBLE_TRY(ValueId value, add(OpKind::permute, {x}, {{ir::attr::dims, order}}, op, false));
    THIMBLE_TRY(value, reshape(value, {rows, terms}, op));
    const std::vector<int8_t> ones(static_cast<size_t>(terms), 1);
    const std::vector<int32_t> mult = {static_cast<int32_t>(op.get(ir::attr::mult))};
    const std::vector<int32_t> shift = {static_cast<int32_t>(op.get(ir::attr::shift))};
    const auto constant = [&](const char* role, ir::Tensor tensor) {
      return to().add_constant(from_.value(op.output).name + role,
                               std::make_shared<const ir::Tensor>(std::move(tensor)));
    };
    ir::Graph::ResultHint hint;
    hint.quant = from_.type(op.output).quant;
    THIMBLE_TRY(value, to().add(OpKind::qlinear,
                                {value, constant("_ones", ir::make_i8({1, terms}, ones)),
                                 ir::kNoValue, constant("_mult", ir::make_i32({1}, mult)),
                                 constant("_shift", ir::make_i32({1}, shift))},
                                {{ir::attr::x_zp, op.get(ir::attr::x_zp)},
                                 {ir::attr::y_zp, op.get(ir::attr::y_zp)},
                                 {ir::attr::min, op.get(ir::attr::min)},
                                 {ir::attr::max, op.get(ir::attr::max)}},
                                op.source, hint));
    return add(OpKind::reshape, {value}, {{ir::attr::shape, from_.type(op.output).shape}}, op);
  }

  /// A pad with fewer dimensions: a dimension that is not padded is merged into the one before it,
  /// whose sizes are multiplied by its extent.
  struct Padding {
    Shape shape;
    std::vector<int64_t> before, after;
  };
  static Padding joined(const Op& op, const Shape& shape) {
    const auto &before = op.get(ir::attr::before), &after = op.get(ir::attr::after);
    Padding joined;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d > 0 && before[d] == 0 && after[d] == 0) {
        joined.shape.back() *= shape[d];
        joined.before.back() *= shape[d];
        joined.after.back() *= shape[d];
      } else {
        joined.shape.push_back(shape[d]);
        joined.before.push_back(before[d]);
        joined.after.push_back(after[d]);
      }
    }
    return joined;
  }

  /// The pad kernel supports exactly four dimensions.
  Result<ValueId> convert_pad(const Op& op) {
    const ValueId x = rewriter_.map(op.inputs[0]);
    const size_t rank = type(x).shape.size();
    if (rank == kStockRank) return add(op.kind, {x}, op.attrs, op);
    Padding padding{type(x).shape, op.get(ir::attr::before), op.get(ir::attr::after)};
    if (rank > kStockRank) padding = joined(op, padding.shape);
    if (padding.shape.size() > kStockRank) return refuse(op, "pads more than four dimensions");
    const auto lead = [](std::vector<int64_t> values, int64_t filler) {
      values.insert(values.begin(), kStockRank - values.size(), filler);
      return values;
    };
    THIMBLE_TRY(ValueId value, reshape(x, lead(padding.shape, 1), op));
    THIMBLE_TRY(value, add(OpKind::pad, {value},
                           {{ir::attr::before, lead(padding.before, 0)},
                            {ir::attr::after, lead(padding.after, 0)},
                            {ir::attr::value, op.get(ir::attr::value)}},
                           op, false));
    return add(OpKind::reshape, {value}, {{ir::attr::shape, from_.type(op.output).shape}}, op);
  }

  ir::Rewriter rewriter_;
  const ir::Graph& from_;
  Dialect dialect_;
  bool stock_;  // ExecuTorch's operators, where it has them
  std::vector<std::string> refusals_;
  ErrorFacts facts_;  // of the refusals
  std::vector<ValueId> poisoned_;
};

}  // namespace

Result<ir::Graph> legalize(const ir::Graph& graph, Dialect dialect) {
  return Legalizer(graph, dialect).run();
}

}  // namespace thimble::engine::cortex_m
