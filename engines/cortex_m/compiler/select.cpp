// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/select.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "abi/pte_ops.h"
#include "engine/direct.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/kernel_variants.h"
#include "engines/cortex_m/compiler/layout.h"
#include "engines/cortex_m/compiler/lead.h"
#include "engines/cortex_m/compiler/linked_size.h"
#include "engines/cortex_m/compiler/pack.h"
#include "engines/cortex_m/compiler/scratch.h"
#include "engines/cortex_m/compiler/select_float.h"
#include "ir/op_traits.h"
#include "ir/refused_op.h"
#include "ir/views.h"
#include "numerics/multiplier.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

// ScalarType numbers of ExecuTorch, used in dtype arguments.
constexpr int64_t kInt8Code = 1;

Constant int32_constant(const std::vector<int32_t>& values, std::vector<int64_t> sizes) {
  std::vector<std::byte> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
          ir::DType::kI32,
          std::move(sizes),
          {}};
}

class Selector {
 public:
  Selector(Lowered* lowered, const Core& target, const Options& options)
      : graph_(lowered->graph),
        calls_(&lowered->calls),
        target_(target),
        options_(options),
        isa_(target.isa),
        stock_(options.dialect != Dialect::kNative) {}

  Status run() {
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      if (ir::is_alias(graph_, op)) continue;
      if (op.kind == OpKind::delegate) {
        add_delegate(op, static_cast<int>(i));
        continue;
      }
      const bool wants_least_scratch =
          std::ranges::count(options_.min_scratch_ops, static_cast<int>(i)) != 0;
      const bool only_fastest = options_.optimize != Optimize::kFlash && !wants_least_scratch;
      THIMBLE_TRY(std::vector<KernelCall> signatures, variants_of(op, only_fastest));
      for (KernelCall& call : signatures) {
        assert(call.arguments.size() + 1 == std::string_view(abi::info(call.op).arguments).size());
        call.out = op.output;
        call.ir_op = static_cast<int>(i);
        if (!stock_) call.lead = lead_of(graph_, op);
      }
      if (wants_least_scratch) take_least_scratch(&signatures);
      calls_->push_back(signatures.front());
      if (options_.optimize == Optimize::kFlash) choices_.emplace(calls_->size() - 1, signatures);
    }
    take_least_flash();
    return ok();
  }

 private:
  using Arguments = std::vector<Argument>;

  /// Returns the kernel variants, the fastest first. `only_fastest` avoids packing weights for
  /// variants that cannot be selected.
  Result<std::vector<KernelCall>> variants_of(const Op& op, bool only_fastest) {
    std::vector<KernelCall> signatures;
    const bool computes_floats = is_float(graph_, op) && !ir::only_moves(op.kind);
    if (!stock_ && !computes_floats) signatures = fast_calls(graph_, op, target_);
    // For the least memory, a kernel is called with the least scratch that it supports.
    for (size_t i = 1; i < signatures.size() && options_.optimize == Optimize::kSize; ++i) {
      KernelCall &first = signatures.front(), &other = signatures[i];
      if (other.op == first.op && scratch_of(other) < scratch_of(first)) std::swap(first, other);
    }
    if (!signatures.empty() && only_fastest)
      signatures.erase(signatures.begin() + 1, signatures.end());
    if (signatures.empty() || !only_fastest) {
      THIMBLE_TRY(KernelCall call, general(op));
      signatures.push_back(std::move(call));
    }
    return signatures;
  }

  static int64_t scratch_of(const KernelCall& call) {
    int64_t bytes = 0;
    for (const Argument& argument : call.arguments) {
      if (const auto* scratch = std::get_if<Scratch>(&argument)) bytes += scratch->bytes;
    }
    return bytes;
  }

  std::vector<KernelVariant> properties_of(const std::vector<KernelCall>& calls) const {
    std::vector<KernelVariant> signatures;
    for (const KernelCall& call : calls) {
      const Op& op = graph_.ops()[static_cast<size_t>(call.ir_op)];
      signatures.push_back(variant_of(graph_, op, call, target_));
    }
    return signatures;
  }
  void take_least_scratch(std::vector<KernelCall>* calls) const {
    std::swap(calls->front(), (*calls)[least_scratch(properties_of(*calls))]);
  }
  void take_least_flash() {
    std::vector<std::vector<KernelVariant>> ops;
    for (const auto& [call, signatures] : choices_) ops.push_back(properties_of(signatures));
    const auto code_bytes = [&](const std::set<PteOp>& kernels) {
      LinkRequest request;
      request.kernels.assign(kernels.begin(), kernels.end());
      const std::optional<LinkedCode> code = linked_code(request, target_);
      assert(code && "all kernels have a size");
      return code->flash_bytes;
    };
    const std::vector<size_t> chosen = least_flash(ops, code_bytes);
    size_t i = 0;
    for (auto& [call, signatures] : choices_) (*calls_)[call] = std::move(signatures[chosen[i++]]);
  }

  /// Adds the call of a delegate. Its operators are consecutive; one call computes all results.
  void add_delegate(const Op& op, int index) {
    const auto subgraph = static_cast<int>(op.get(ir::attr::subgraph));
    if (!calls_->empty() && calls_->back().delegate == subgraph) {
      calls_->back().extra_outputs.push_back(op.output);
      return;
    }
    KernelCall call;
    for (const ValueId input : op.inputs) call.arguments.emplace_back(ValueRef{input});
    call.delegate = subgraph;
    call.out = op.output;
    call.ir_op = index;
    calls_->push_back(std::move(call));
  }

  Result<KernelCall> general(const Op& op) {
    if (is_float(graph_, op)) {
      if (std::optional<KernelCall> call = float_call(graph_, op)) return std::move(*call);
    }
    switch (op.kind) {
      case OpKind::quantize:
      case OpKind::dequantize:
        return edge(op);
      case OpKind::qconv2d:
        return stock_ ? stock_conv(op) : call(native_conv_op(op), {x(op), pack_conv(graph_, op)});
      case OpKind::qlinear:
        return stock_ ? stock_linear(op)
                      : call(PteOp::thimble_linear, {x(op), pack_linear(graph_, op)});
      case OpKind::qadd:
      case OpKind::qsub:
        return stock_ ? stock_add(op) : elementwise(PteOp::thimble_add, op, pack_add(op));
      case OpKind::qmul:
        return stock_ ? stock_mul(op) : elementwise(PteOp::thimble_mul, op, pack_mul(op));
      case OpKind::maximum:
        return stock_ ? call(PteOp::cortex_m_maximum, {x(op), value(op.inputs[1])}) : direct(op);
      case OpKind::minimum:
        return stock_ ? call(PteOp::cortex_m_minimum, {x(op), value(op.inputs[1])}) : direct(op);
      case OpKind::qavg_pool2d:
        return stock_ ? stock_avg_pool(op)
                      : call(PteOp::thimble_avg_pool2d, {x(op), pack_pool(op)});
      case OpKind::max_pool2d:
        return stock_ ? stock_max_pool(op)
                      : call(PteOp::thimble_max_pool2d, {x(op), pack_pool(op)});
      case OpKind::qmean:
        return call(PteOp::thimble_mean, {x(op), pack_mean(op)});
      case OpKind::qlog_softmax:
        return call(PteOp::thimble_log_softmax, {x(op), pack_log_softmax(graph_, op)});
      case OpKind::qsoftmax:
        return softmax(op);
      case OpKind::lut:
        return in_place(call(PteOp::cortex_m_quantized_activation, {x(op), value(op.inputs[1])}));
      case OpKind::concat:
        return call(PteOp::aten_cat,
                    {ValueList(op.inputs.begin(), op.inputs.end()), op.get(ir::attr::dim)});
      case OpKind::slice:
        return call(PteOp::aten_slice_copy, {x(op), op.get(ir::attr::dim), op.get(ir::attr::start),
                                             op.get(ir::attr::end), op.get(ir::attr::step)});
      case OpKind::expand:
        return call(PteOp::aten_expand_copy,
                    {x(op), Integers(graph_.type(op.output).shape), false});
      case OpKind::pad:
        return pad(op);
      case OpKind::permute:
        return transpose(op);
      case OpKind::copy:
        return clone(op);
      default:
        return direct(op);
    }
  }

  Result<KernelCall> direct(const Op& op) {
    const DirectOp* const row = direct_op(op.kind);
    assert(row != nullptr && "legalize() emits no other operator");
    Arguments arguments;
    for (const ValueId id : op.inputs) {
      arguments.push_back(id == ir::kNoValue ? Argument(None{}) : value(id));
    }
    if (row->params_bytes != 0) {
      THIMBLE_TRY(Bytes params, direct_params(*row, op));
      const auto size = static_cast<int64_t>(params.size());
      arguments.emplace_back(
          Constant{std::make_shared<const Bytes>(std::move(params)), ir::DType::kU8, {size}, {}});
    }
    if (std::string_view(abi::info(row->op).arguments).find('s') != std::string_view::npos) {
      arguments.emplace_back(Scratch{direct_scratch_bytes(graph_, op)});
    }
    KernelCall result = call(row->op, std::move(arguments));
    if (ir::is_elementwise(op.kind)) result.in_place = overwritten_operand(op);
    // The kernels of norms read a whole row before they write it.
    const bool norm = ir::category_of(op.kind) == ir::OpCategory::kNorm;
    return norm ? in_place(std::move(result)) : result;
  }

  /// Elementwise kernels read an element before they write it, so the result may replace an
  /// operand. Returns the operand's index; -1 if no operand has the result's shape and element
  /// size.
  int overwritten_operand(const Op& op) const {
    const ir::Type& result = graph_.type(op.output);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const ir::Value& operand = graph_.value(op.inputs[i]);
      const bool fits = !operand.constant && operand.type.shape == result.shape &&
                        ir::dtype_bytes(operand.type.dtype) == ir::dtype_bytes(result.dtype);
      if (fits) return static_cast<int>(i);
    }
    return -1;
  }

  static KernelCall call(PteOp op, Arguments arguments) {
    KernelCall result;
    result.op = op;
    result.arguments = std::move(arguments);
    return result;
  }
  /// Native byte-wise kernels may overwrite their operand; ExecuTorch's kernels do not guarantee
  /// it.
  KernelCall in_place(KernelCall call) const {
    if (!stock_) call.in_place = 0;
    return call;
  }

  Argument value(ValueId id) {
    const ir::Value& v = graph_.value(id);
    if (!v.constant) return ValueRef{id};
    return Constant{std::make_shared<const std::vector<std::byte>>(
                        ir::to_memory(*v.constant, v.type.dim_order)),
                    v.type.dtype, v.type.shape, v.type.dim_order};
  }
  Argument x(const Op& op) { return value(op.inputs[0]); }

  KernelCall elementwise(PteOp pte_op, const Op& op, Constant params) {
    KernelCall result = call(pte_op, {x(op), value(op.inputs[1]), std::move(params)});
    const ir::Shape& shape = graph_.type(op.output).shape;
    for (int i = 1; i >= 0; --i) {
      const ir::Value& operand = graph_.value(op.inputs[static_cast<size_t>(i)]);
      if (!operand.constant && operand.type.shape == shape) result.in_place = i;
    }
    return result;
  }

  Result<KernelCall> edge(const Op& op) {
    const bool quantizes = op.kind == OpKind::quantize;
    const double scale = op.get(ir::attr::scale);
    const int64_t zero_point = op.get(ir::attr::zero_point);
    const ir::Type& from = graph_.type(op.inputs[0]);
    const ir::Type& to = graph_.type(op.output);
    const bool wide = (quantizes ? to : from).dtype == ir::DType::kI16;
    if (!stock_) {
      const PteOp narrow_op = quantizes ? PteOp::thimble_quantize : PteOp::thimble_dequantize;
      const PteOp wide_op = quantizes ? PteOp::thimble_quantize16 : PteOp::thimble_dequantize16;
      return call(wide ? wide_op : narrow_op, {x(op), scale, zero_point});
    }
    assert(ir::same_memory(from.shape, from.dim_order, to.dim_order));
    (void)from;
    (void)to;
    return call(
        quantizes ? PteOp::cortex_m_quantize_per_tensor : PteOp::cortex_m_dequantize_per_tensor,
        {x(op), scale, zero_point, int64_t{-128}, int64_t{127}, kInt8Code});
  }

  PteOp native_conv_op(const Op& op) {
    return is_depthwise(graph_, op) ? PteOp::thimble_depthwise_conv2d : PteOp::thimble_conv2d;
  }

  WindowShape window(const Op& op) {
    const ir::Shape& in = graph_.type(op.inputs[0]).shape;
    const ir::Shape& out = graph_.type(op.output).shape;
    WindowShape s = {};
    s.batch = in[0];
    s.in_c = in[1];
    s.in_h = in[2];
    s.in_w = in[3];
    s.out_c = out[1];
    s.out_h = out[2];
    s.out_w = out[3];
    if (op.kind == OpKind::qconv2d) {
      const ir::Shape& weights = graph_.type(op.inputs[1]).shape;
      s.kernel_c = weights[1];
      s.kernel_h = weights[2];
      s.kernel_w = weights[3];
      s.dilation_h = op.get(ir::attr::dilation)[0];
      s.dilation_w = op.get(ir::attr::dilation)[1];
    }
    s.stride_h = op.get(ir::attr::stride)[0];
    s.stride_w = op.get(ir::attr::stride)[1];
    s.pad_h = op.get(ir::attr::padding)[0];
    s.pad_w = op.get(ir::attr::padding)[1];
    return s;
  }
  int64_t zero_point_of(ValueId id) const {
    const std::optional<ir::Quant>& quant = graph_.type(id).quant;
    return quant && !quant->zero_point.empty() ? quant->zero_point[0] : 0;
  }
  static Integers pair(const Op& op, ir::AttrKey<std::vector<int64_t>> key) {
    const std::vector<int64_t>& values = op.get(key);
    return {values[0], values[1]};
  }

  Result<KernelCall> stock_conv(const Op& op) {
    const WindowShape s = window(op);
    // The depthwise kernel supports batch 1 only; ExecuTorch uses the general one for larger
    // batches.
    const bool depthwise = is_depthwise(graph_, op) && s.batch == 1;
    const int64_t groups = op.get(ir::attr::groups);
    Argument bias = None{};
    if (op.inputs[2] != ir::kNoValue || groups > 1) {
      // Kernels for groups always read the bias, so it must exist.
      bias = int32_constant(op.inputs[2] == ir::kNoValue
                                ? std::vector<int32_t>(static_cast<size_t>(s.out_c), 0)
                                : per_channel(graph_, op.inputs[2], s.out_c),
                            {s.out_c});
    }
    ir::Tensor weights = *graph_.value(op.inputs[1]).constant;
    weights = ir::permuted(
        weights, depthwise ? std::vector<int64_t>{1, 2, 3, 0} : std::vector<int64_t>{0, 2, 3, 1});
    Constant weights_constant = {
        std::make_shared<const std::vector<std::byte>>(std::move(weights.bytes)),
        ir::DType::kI8,
        weights.shape,
        {}};
    Arguments arguments = {x(op),
                           std::move(weights_constant),
                           std::move(bias),
                           pair(op, ir::attr::stride),
                           pair(op, ir::attr::padding),
                           pair(op, ir::attr::dilation)};
    if (depthwise) arguments.emplace_back(s.out_c / s.in_c);
    arguments.emplace_back(-op.get(ir::attr::x_zp));
    arguments.emplace_back(op.get(ir::attr::y_zp));
    arguments.emplace_back(int32_constant(per_channel(graph_, op.inputs[3], s.out_c), {s.out_c}));
    arguments.emplace_back(int32_constant(per_channel(graph_, op.inputs[4], s.out_c), {s.out_c}));
    arguments.emplace_back(op.get(ir::attr::min));
    arguments.emplace_back(op.get(ir::attr::max));
    arguments.emplace_back(
        Scratch{depthwise ? depthwise_scratch_bytes(s, isa_) : conv_scratch_bytes(s, isa_)});
    return call(
        depthwise ? PteOp::cortex_m_quantized_depthwise_conv2d : PteOp::cortex_m_quantized_conv2d,
        std::move(arguments));
  }

  Result<KernelCall> stock_linear(const Op& op) {
    const ir::Tensor& weights = *graph_.value(op.inputs[1]).constant;
    const int64_t out = weights.shape[0];
    const int64_t in = weights.shape[1];
    const int64_t x_offset = -op.get(ir::attr::x_zp);
    Argument bias = None{};
    Argument kernel_sum = None{};
    std::vector<int32_t> sums(static_cast<size_t>(out), 0);
    if (op.inputs[2] != ir::kNoValue) sums = per_channel(graph_, op.inputs[2], out);
    if (isa_ == abi::Isa::kMve) {
      // The Helium kernel reads bias plus zero-point sum as one number per row; the other kernels
      // read the bias.
      for (int64_t o = 0; o < out; ++o) {
        int64_t sum = sums[static_cast<size_t>(o)];
        for (const int8_t w :
             weights.data<int8_t>().subspan(static_cast<size_t>(o * in), static_cast<size_t>(in))) {
          sum += x_offset * w;
        }
        sums[static_cast<size_t>(o)] = static_cast<int32_t>(sum);
      }
      kernel_sum = int32_constant(sums, {1, out});
    } else if (op.inputs[2] != ir::kNoValue) {
      bias = int32_constant(sums, {out});
    }
    const auto scalar = [&](size_t i) {
      return Integers{graph_.value(op.inputs[i]).constant->data<int32_t>()[0]};
    };
    return call(PteOp::cortex_m_quantized_linear,
                {x(op), value(op.inputs[1]), std::move(bias), std::move(kernel_sum), x_offset,
                 int64_t{0}, op.get(ir::attr::y_zp), scalar(3), scalar(4), op.get(ir::attr::max),
                 op.get(ir::attr::min)});
  }

  Result<KernelCall> stock_add(const Op& op) {
    return call(PteOp::cortex_m_quantized_add,
                {x(op), op.get(ir::attr::a_zp), op.get(ir::attr::a_mult), op.get(ir::attr::a_shift),
                 value(op.inputs[1]), op.get(ir::attr::b_zp), op.get(ir::attr::b_mult),
                 op.get(ir::attr::b_shift), op.get(ir::attr::y_zp), op.get(ir::attr::y_mult),
                 op.get(ir::attr::y_shift), op.get(ir::attr::min), op.get(ir::attr::max)});
  }
  Result<KernelCall> stock_mul(const Op& op) {
    return call(PteOp::cortex_m_quantized_mul,
                {x(op), op.get(ir::attr::a_zp), value(op.inputs[1]), op.get(ir::attr::b_zp),
                 op.get(ir::attr::y_zp), op.get(ir::attr::mult), op.get(ir::attr::shift)});
  }

  Result<KernelCall> stock_avg_pool(const Op& op) {
    const WindowShape s = window(op);
    const auto& kernel = op.get(ir::attr::kernel);
    const bool ceil_mode = s.out_h > (s.in_h + 2 * s.pad_h - kernel[0]) / s.stride_h + 1 ||
                           s.out_w > (s.in_w + 2 * s.pad_w - kernel[1]) / s.stride_w + 1;
    // Zero point, multiplier and shift are required arguments; the kernel does not use them.
    const std::optional<ir::Quant>& quant = graph_.type(op.inputs[0]).quant;
    const numerics::Multiplier scale =
        numerics::quantize_multiplier(quant && !quant->scale.empty() ? quant->scale[0] : 1.0);
    return call(PteOp::cortex_m_quantized_avg_pool2d,
                {x(op), Integers(kernel), pair(op, ir::attr::stride), pair(op, ir::attr::padding),
                 ceil_mode, zero_point_of(op.inputs[0]), int64_t{scale.mult}, int64_t{scale.shift},
                 Scratch{avg_pool_scratch_bytes(s, isa_)}});
  }

  Result<KernelCall> stock_max_pool(const Op& op) {
    const int64_t zero_point = zero_point_of(op.inputs[0]);
    return call(
        PteOp::cortex_m_quantized_max_pool2d,
        {x(op), pair(op, ir::attr::kernel), pair(op, ir::attr::stride), pair(op, ir::attr::padding),
         pair(op, ir::attr::dilation), false, zero_point, zero_point, int64_t{-128}, int64_t{127}});
  }

  Result<KernelCall> softmax(const Op& op) {
    // The zero points are required arguments; the input's cancels and the output's is fixed.
    const int64_t zero_point = zero_point_of(op.inputs[0]);
    return call(PteOp::cortex_m_softmax,
                {x(op), op.get(ir::attr::dim), zero_point, int64_t{-128}, op.get(ir::attr::mult),
                 op.get(ir::attr::shift), op.get(ir::attr::diff_min)});
  }

  /// ExecuTorch treats an image as channels-last also if its order is ambiguous, and expects the
  /// padding amounts in that order.
  static bool counts_as_channels_last(const ir::Type& type) {
    return type.shape[1] == 1 || (type.shape[2] == 1 && type.shape[3] == 1) ||
           type.dim_order == ir::channels_last_order();
  }

  Result<KernelCall> pad(const Op& op) {
    const ir::Type& type = graph_.type(op.inputs[0]);
    const auto physical = [&](ir::AttrKey<std::vector<int64_t>> key) {
      const std::vector<int64_t>& logical = op.get(key);
      if (!counts_as_channels_last(type)) return logical;
      return Integers{logical[0], logical[2], logical[3], logical[1]};
    };
    return call(PteOp::cortex_m_pad, {x(op), physical(ir::attr::before), physical(ir::attr::after),
                                      static_cast<int64_t>(op.get(ir::attr::value))});
  }

  Result<KernelCall> transpose(const Op& op) {
    constexpr size_t kMaxTransposeRank = 4;
    if (graph_.type(op.output).shape.size() > kMaxTransposeRank) {
      if (options_.dialect != Dialect::kStock) return direct(op);
      constexpr std::string_view kReason = "needs a transpose of more than four dimensions";
      ErrorFacts facts;
      facts.ops.push_back(ir::refused_op(op.source, op.kind, kReason));
      return refusal(fmt::format("{} {}\n  {}  {}", op.source.target, kReason, op.source.where(),
                                 op.source.text),
                     std::move(facts));
    }
    return call(PteOp::cortex_m_transpose, {x(op), Integers(op.get(ir::attr::dims))});
  }

  Result<KernelCall> clone(const Op& op) {
    const ir::Type& type = graph_.type(op.output);
    Integers order;
    for (size_t i = 0; i < type.shape.size(); ++i) {
      order.push_back(type.dim_order.empty() ? static_cast<int64_t>(i) : type.dim_order[i]);
    }
    return call(PteOp::dim_order_clone, {x(op), false, std::move(order)});
  }

  const ir::Graph& graph_;
  std::vector<KernelCall>* calls_;
  std::map<size_t, std::vector<KernelCall>> choices_;  // by call
  const Core& target_;
  const Options& options_;
  abi::Isa isa_;
  bool stock_;
};

}  // namespace

Status select_calls(Lowered* lowered, const Core& target, const Options& options) {
  return Selector(lowered, target, options).run();
}

}  // namespace thimble::engine::cortex_m
