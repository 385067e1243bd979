// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engines/cortex_m/compiler/select_float.h"
#include "ir/op_traits.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Attrs;
using ir::DimOrder;
using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

DimOrder identity_order(size_t rank) {
  DimOrder order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
  return order;
}
DimOrder full(const DimOrder& order, size_t rank) {
  return order.empty() ? identity_order(rank) : order;
}
DimOrder canonical(DimOrder order) {
  if (ir::is_contiguous(order)) order.clear();
  return order;
}
std::vector<int64_t> as_dims(const DimOrder& order) {
  return {order.begin(), order.end()};
}
/// Returns the inverse permutation: inverse[order[i]] = i.
DimOrder inverse(const DimOrder& order) {
  DimOrder result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<uint8_t>(i);
  return result;
}

bool is_linear(OpKind kind) {
  return ir::category_of(kind) == ir::OpCategory::kLinear;
}
/// Operators that support any memory order, or run in the physical frame, without moving data.
bool follows_operand(OpKind kind) {
  return ir::is_elementwise(kind) || kind == OpKind::concat || kind == OpKind::pad ||
         kind == OpKind::slice || kind == OpKind::expand || kind == OpKind::copy ||
         kind == OpKind::qgroup_norm || kind == OpKind::qgroup_norm16;
}

class Assigner {
 public:
  Assigner(const ir::Graph& from, Dialect dialect)
      : rewriter_(from), from_(from), dialect_(dialect), consumers_(from.consumers()) {}

  Result<ir::Graph> run() {
    for (const ir::State& state : from_.states()) {
      if (!needs_channels_last(state.value)) continue;
      to().value(rewriter_.map(state.value)).type.dim_order = ir::channels_last_order();
    }
    for (const Op& op : from_.ops()) {
      THIMBLE_TRY(const ValueId result, convert(op));
      rewriter_.set(op.output, result);
    }
    ir::Graph& to = rewriter_.to();
    std::vector<ValueId> outputs;
    for (const ValueId old_output : from_.outputs()) {
      THIMBLE_TRY(const ValueId output,
                  to_order(rewriter_.map(old_output), from_.type(old_output).dim_order, {}));
      outputs.push_back(output);
    }
    for (size_t i = 0; i < from_.states().size(); ++i) {
      const ir::State& state = from_.states()[i];
      const DimOrder kept = order(rewriter_.map(state.value));
      THIMBLE_TRY(const ValueId next, to_order(rewriter_.map(state.next), kept, {}));
      to.set_next(i, next);
    }
    for (const ValueId output : outputs) to.add_output(output);
    return std::move(to);
  }

 private:
  ir::Graph& to() { return rewriter_.to(); }
  const DimOrder& order(ValueId value) { return to().type(value).dim_order; }
  size_t rank(ValueId value) { return to().type(value).shape.size(); }

  Result<ValueId> add(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, const Op& like,
                      DimOrder result_order, ValueId old_output = ir::kNoValue) {
    ir::Graph::ResultHint hint;
    hint.dim_order = canonical(std::move(result_order));
    hint.quant =
        old_output == ir::kNoValue ? to().type(inputs[0]).quant : from_.type(old_output).quant;
    if (old_output != ir::kNoValue) hint.name = from_.value(old_output).name;
    return to().add(kind, std::move(inputs), std::move(attrs), like.source, std::move(hint));
  }

  /// Returns the value in another memory order; one conversion is shared by all readers.
  Result<ValueId> to_order(ValueId value, DimOrder wanted, const ir::Source& source) {
    wanted = canonical(std::move(wanted));
    if (order(value) == wanted) return value;
    const auto key = std::make_pair(value, wanted);
    if (const auto found = converted_.find(key); found != converted_.end()) return found->second;
    ValueId result = ir::kNoValue;
    if (to().value(value).constant) {
      const ir::Value constant = to().value(value);
      result =
          to().add_constant(constant.name + "_ordered", constant.constant, constant.type.quant);
      to().value(result).type.dim_order = wanted;
    } else {
      Op like;
      like.source = source;
      THIMBLE_TRY(result, move(value, wanted, like));
    }
    converted_[key] = result;
    return result;
  }

  /// Converts images with one `copy`, other values with a permute of their frames.
  Result<ValueId> move(ValueId value, const DimOrder& wanted, const Op& like) {
    const DimOrder nhwc = ir::channels_last_order();
    const DimOrder& present = order(value);
    const bool image = (present.empty() || present == nhwc) && (wanted.empty() || wanted == nhwc);
    if (image || ir::same_memory(to().type(value).shape, present, wanted)) {
      return add(OpKind::copy, {value}, {}, like, wanted);
    }
    const DimOrder position = inverse(full(present, rank(value)));
    std::vector<int64_t> dims;
    for (const uint8_t dim : full(wanted, rank(value))) dims.push_back(position[dim]);
    THIMBLE_TRY(const ValueId frame, to_frame(value, like));
    THIMBLE_TRY(const ValueId moved,
                add(OpKind::permute, {frame}, {{ir::attr::dims, dims}}, like, {}));
    return from_frame(moved, wanted, like);
  }

  /// Returns the value's memory as a contiguous tensor; needs no copy.
  Result<ValueId> to_frame(ValueId value, const Op& like) {
    if (order(value).empty()) return value;
    return add(OpKind::permute, {value}, {{ir::attr::dims, as_dims(order(value))}}, like, {});
  }
  Result<ValueId> from_frame(ValueId value, const DimOrder& frame, const Op& like) {
    if (frame.empty()) return value;
    return add(OpKind::permute, {value}, {{ir::attr::dims, as_dims(inverse(frame))}}, like, frame);
  }

  /// Returns true if the gather's index has rank 1; the result then has the operand's rank.
  bool keeps_rank(const Op& op) { return from_.type(op.inputs[1]).shape.size() == 1; }

  /// Returns true for a delegate with channels-last images.
  static bool reads_images(const Op& op) {
    return op.kind == OpKind::delegate && op.get(ir::attr::nhwc) != 0;
  }

  /// Returns true if a reader, possibly after operators that keep the order, needs channels-last.
  bool needs_channels_last(ValueId old_value) {
    std::vector<ValueId> work = {old_value};
    std::set<ValueId> seen;
    while (!work.empty()) {
      const ValueId at = work.back();
      work.pop_back();
      if (from_.type(at).shape.size() != 4 || !seen.insert(at).second) continue;
      for (const int consumer : consumers_[static_cast<size_t>(at)]) {
        const Op& op = from_.ops()[static_cast<size_t>(consumer)];
        const bool window = ir::is_window(op.kind) && !is_float(from_, op);
        if (window || reads_images(op)) return true;
        const bool moves_rows = op.kind == OpKind::gather && keeps_rank(op);
        if (follows_operand(op.kind) || moves_rows) work.push_back(op.output);
      }
    }
    return false;
  }
  /// Returns the output's memory order if the value is a graph output or is copied to one.
  std::optional<DimOrder> exported_order(ValueId old_value) {
    for (;;) {
      for (const ValueId output : from_.outputs()) {
        if (output == old_value) return from_.type(output).dim_order;
      }
      const auto& readers = consumers_[static_cast<size_t>(old_value)];
      if (readers.size() != 1) return {};
      const Op& op = from_.ops()[static_cast<size_t>(readers[0])];
      if (op.kind != OpKind::copy) return {};
      old_value = op.output;
    }
  }

  Result<ValueId> convert(const Op& op) {
    if (is_float(from_, op) && has_float_order(op.kind)) return convert_float(op);
    if (ir::is_window(op.kind)) return convert_window(op);
    if (ir::category_of(op.kind) == ir::OpCategory::kTable) {
      const std::vector<ValueId> inputs = rewriter_.map(op.inputs);
      return add(op.kind, inputs, op.attrs, op, order(inputs[0]), op.output);
    }
    if (ir::is_elementwise(op.kind)) return convert_elementwise(op);
    switch (op.kind) {
      case OpKind::delegate:
        return convert_delegate(op);
      case OpKind::copy:
        return rewriter_.map(op.inputs[0]);  // this pass decides orders, not a clone() in the model
      case OpKind::quantize:
        return convert_quantize(op);
      case OpKind::dequantize:
        return convert_dequantize(op);
      case OpKind::permute:
        return convert_permute(op);
      case OpKind::reshape:
        return convert_reshape(op);
      case OpKind::qlinear16:
      case OpKind::qlinear:
        return convert_linear(op);
      case OpKind::pad:
        return convert_pad(op);
      case OpKind::concat:
      case OpKind::slice:
      case OpKind::expand:
      case OpKind::qcumsum:
        return convert_framed(op);
      case OpKind::gather:
        return keeps_rank(op) ? convert_framed(op) : convert_contiguous(op);
      case OpKind::qsoftmax16:
      case OpKind::qsoftmax:
      case OpKind::qlog_softmax:
        return convert_last_dim(op);
      case OpKind::qmean16:
      case OpKind::amax:
      case OpKind::amin:
      case OpKind::qmean:
      case OpKind::qvariance:
        return convert_reduction(op);
      case OpKind::argmax:
        return add(op.kind, rewriter_.map(op.inputs), op.attrs, op, {}, op.output);
      case OpKind::qgroup_norm16:
      case OpKind::qgroup_norm:
        return convert_group_norm(op);
      default:
        return convert_contiguous(op);
    }
  }

  /// Float32 operators whose kernels require contiguous operands, or do not follow an order.
  static bool has_float_order(OpKind kind) {
    return ir::is_window(kind) || kind == OpKind::pad || kind == OpKind::matmul;
  }
  /// Images are contiguous. The matrices of a product may have any order, so that a transposed
  /// matrix is not copied.
  Result<ValueId> convert_float(const Op& op) {
    if (op.kind != OpKind::matmul) return convert_contiguous(op);
    return add(op.kind, rewriter_.map(op.inputs), op.attrs, op, {}, op.output);
  }

  Result<ValueId> convert_quantize(const Op& op) {
    const ValueId x = rewriter_.map(op.inputs[0]);
    const DimOrder nhwc = ir::channels_last_order();
    DimOrder result = order(x);
    const bool wanted = needs_channels_last(op.output);
    const bool free = wanted && ir::same_memory(to().type(x).shape, result, nhwc);
    // The native kernel reorders while it quantizes. The stock kernel keeps the order; a copy
    // follows.
    if (wanted && (free || dialect_ == Dialect::kNative)) result = nhwc;
    return add(op.kind, {x}, op.attrs, op, result, op.output);
  }

  Result<ValueId> convert_dequantize(const Op& op) {
    ValueId x = rewriter_.map(op.inputs[0]);
    const DimOrder wanted = canonical(exported_order(op.output).value_or(order(x)));
    if (dialect_ != Dialect::kNative && !ir::same_memory(to().type(x).shape, order(x), wanted)) {
      THIMBLE_TRY(x, to_order(x, wanted, op.source));
    }
    return add(op.kind, {x}, op.attrs, op, wanted, op.output);
  }

  Result<ValueId> convert_window(const Op& op) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    THIMBLE_TRY(inputs[0], to_order(inputs[0], ir::channels_last_order(), op.source));
    if (op.kind == OpKind::qconv2d16) {  // its kernel reads unpacked weights
      THIMBLE_TRY(inputs[1], to_order(inputs[1], ir::channels_last_order(), op.source));
    }
    const bool transposed =
        op.kind == OpKind::qconv_transpose2d || op.kind == OpKind::qconv_transpose2d16;
    if (transposed) {  // the input channels of a tap must be contiguous
      THIMBLE_TRY(inputs[1], to_order(inputs[1], {1, 2, 3, 0}, op.source));
    }
    return add(op.kind, std::move(inputs), op.attrs, op, ir::channels_last_order(), op.output);
  }

  Result<ValueId> convert_delegate(const Op& op) {
    const auto border = [&](ValueId value) {
      return reads_images(op) && rank(value) == 4 ? ir::channels_last_order() : DimOrder{};
    };
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    for (ValueId& input : inputs) {
      THIMBLE_TRY(input, to_order(input, border(input), op.source));
    }
    const bool image = reads_images(op) && from_.type(op.output).shape.size() == 4;
    return add(op.kind, std::move(inputs), op.attrs, op,
               image ? ir::channels_last_order() : DimOrder{}, op.output);
  }

  /// Returns channels-last if any non-constant operand has it, else the order of the first.
  DimOrder common_order(const std::vector<ValueId>& values) {
    std::optional<DimOrder> common;
    for (const ValueId value : values) {
      if (to().value(value).constant) continue;
      if (!common || order(value) == ir::channels_last_order()) common = order(value);
    }
    return common.value_or(DimOrder{});
  }

  /// If all operands have the result's rank, they get one common order. If an operand has a lower
  /// rank and is broadcast, all must be contiguous.
  Result<ValueId> convert_elementwise(const Op& op) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    const bool same_rank = std::ranges::all_of(
        inputs, [&](ValueId input) { return rank(input) == from_.type(op.output).shape.size(); });
    const DimOrder common = same_rank ? common_order(inputs) : DimOrder{};
    for (ValueId& input : inputs) {
      THIMBLE_TRY(input, to_order(input, common, op.source));
      THIMBLE_TRY(input, expanded_for_stock(input, op, common));
    }
    return add(op.kind, std::move(inputs), op.attrs, op, common, op.output);
  }

  /// Expands an operand with one element per channel if ExecuTorch's addition or multiplication
  /// cannot read it: they support one only for images in channels-last order.
  Result<ValueId> expanded_for_stock(ValueId input, const Op& op, const DimOrder& order) {
    const Shape& shape = from_.type(op.output).shape;
    const bool stock_binary =
        dialect_ != Dialect::kNative && (op.kind == OpKind::qadd || op.kind == OpKind::qmul);
    if (!stock_binary || to().type(input).shape == shape || order == ir::channels_last_order()) {
      return input;
    }
    THIMBLE_TRY(input, to_order(input, {}, op.source));
    THIMBLE_TRY(input, add(OpKind::expand, {input}, {{ir::attr::shape, shape}}, op, {}));
    return to_order(input, order, op.source);
  }

  /// Default: all operands and the result are contiguous.
  Result<ValueId> convert_contiguous(const Op& op) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    for (ValueId& input : inputs) {
      if (input == ir::kNoValue) continue;
      THIMBLE_TRY(input, to_order(input, {}, op.source));
    }
    return add(op.kind, std::move(inputs), op.attrs, op, {}, op.output);
  }

  /// The pad kernel supports contiguous and channels-last images. It treats an image that could be
  /// either as channels-last.
  Result<ValueId> convert_pad(const Op& op) {
    ValueId x = rewriter_.map(op.inputs[0]);
    const Shape& shape = to().type(x).shape;
    const bool could_be_either = shape[1] == 1 || (shape[2] == 1 && shape[3] == 1);
    const bool channels_last = could_be_either || order(x) == ir::channels_last_order();
    const DimOrder wanted = channels_last ? ir::channels_last_order() : DimOrder{};
    THIMBLE_TRY(x, to_order(x, wanted, op.source));
    return add(op.kind, {x}, op.attrs, op, wanted, op.output);
  }

  Result<ValueId> convert_permute(const Op& op) {
    const ValueId x = rewriter_.map(op.inputs[0]);
    const auto& dims = op.get(ir::attr::dims);
    DimOrder to_result(dims.size());
    for (size_t k = 0; k < dims.size(); ++k)
      to_result[static_cast<size_t>(dims[k])] = static_cast<uint8_t>(k);
    DimOrder result = full(order(x), dims.size());
    for (uint8_t& dim : result) dim = to_result[dim];
    return add(op.kind, {x}, op.attrs, op, result, op.output);
  }

  Result<ValueId> convert_reshape(const Op& op) {
    ValueId x = rewriter_.map(op.inputs[0]);
    const ir::Type& type = to().type(x);
    if (!ir::same_memory(type.shape, type.dim_order, {}) && feeds_only_linear(op)) {
      flattened_[op.output] = type.shape;
      THIMBLE_TRY(x, to_frame(x, op));
    } else {
      THIMBLE_TRY(x, to_order(x, {}, op.source));
    }
    return add(op.kind, {x}, op.attrs, op, {}, op.output);
  }

  /// Returns true for a reshape of a channels-last [N,C,H,W] to [N,C*H*W] that is read only by
  /// linear layers with constant weights.
  bool feeds_only_linear(const Op& op) {
    const Shape& from = from_.type(op.inputs[0]).shape;
    const Shape& result = from_.type(op.output).shape;
    if (from.size() != 4 || result.size() != 2 || from[0] != result[0]) return false;
    if (order(rewriter_.map(op.inputs[0])) != ir::channels_last_order()) return false;
    for (const ValueId result : from_.results()) {
      if (result == op.output) return false;
    }
    const auto& readers = consumers_[static_cast<size_t>(op.output)];
    return std::all_of(readers.begin(), readers.end(), [&](int reader) {
      const Op& linear = from_.ops()[static_cast<size_t>(reader)];
      return is_linear(linear.kind) && linear.inputs[0] == op.output &&
             from_.value(linear.inputs[1]).constant != nullptr;
    });
  }

  Result<ValueId> convert_linear(const Op& op) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    THIMBLE_TRY(inputs[0], to_order(inputs[0], {}, op.source));
    if (const auto found = flattened_.find(op.inputs[0]); found != flattened_.end()) {
      const Shape& image = found->second;
      const ir::Value& weights = from_.value(op.inputs[1]);
      ir::Tensor columns = *weights.constant;
      const Shape matrix = columns.shape;
      columns.shape = {matrix[0], image[1], image[2], image[3]};
      columns = ir::permuted(columns, std::vector<int64_t>{0, 2, 3, 1});
      columns.shape = matrix;
      inputs[1] = to().add_constant(weights.name + "_nhwc",
                                    std::make_shared<const ir::Tensor>(std::move(columns)),
                                    weights.type.quant);
    }
    return add(op.kind, std::move(inputs), op.attrs, op, {}, op.output);
  }

  /// Returns the attributes with dimensions renumbered for the physical frame.
  Attrs framed_attrs(const Op& op, const DimOrder& frame) {
    Attrs attrs = op.attrs;
    if (frame.empty()) return attrs;
    const DimOrder position = inverse(frame);
    if (const int64_t* dim = op.attrs.find(ir::attr::dim)) {
      attrs.set(ir::attr::dim, int64_t{position[static_cast<size_t>(*dim)]});
    }
    if (const std::vector<int64_t>* logical = op.attrs.find(ir::attr::dims)) {
      std::vector<int64_t> dims = *logical;
      for (int64_t& dim : dims) dim = position[static_cast<size_t>(dim)];
      std::sort(dims.begin(), dims.end());
      attrs.set(ir::attr::dims, dims);
    }
    for (const auto key : {ir::attr::before, ir::attr::after, ir::attr::shape}) {
      const std::vector<int64_t>* logical = op.attrs.find(key);
      if (logical == nullptr) continue;
      std::vector<int64_t> values;
      for (const uint8_t dim : frame) values.push_back((*logical)[dim]);
      attrs.set(key, values);
    }
    return attrs;
  }

  Result<ValueId> run_framed(const Op& op, const DimOrder& frame, Attrs attrs) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    const size_t count = op.kind == OpKind::concat ? inputs.size() : 1;
    for (size_t i = 0; i < count; ++i) {
      THIMBLE_TRY(inputs[i], to_order(inputs[i], frame, op.source));
      if (to().value(inputs[i]).constant && !frame.empty()) {
        const ir::Value constant = to().value(inputs[i]);
        inputs[i] = to().add_constant(
            constant.name + "_framed",
            std::make_shared<const ir::Tensor>(ir::permuted(*constant.constant, as_dims(frame))),
            constant.type.quant);
      } else {
        THIMBLE_TRY(inputs[i], to_frame(inputs[i], op));
      }
    }
    THIMBLE_TRY(const ValueId framed,
                add(op.kind, std::move(inputs), std::move(attrs), op, {}, op.output));
    return from_frame(framed, frame, op);
  }

  Result<ValueId> convert_framed(const Op& op) {
    const bool gathers = op.kind == OpKind::gather;
    const ValueId x = rewriter_.map(op.inputs[0]);
    const DimOrder frame = gathers ? order(x) : common_order(rewriter_.map(op.inputs));
    // If expand adds leading dimensions, only a contiguous operand has a frame.
    if (op.kind == OpKind::expand &&
        rank(rewriter_.map(op.inputs[0])) != from_.type(op.output).shape.size()) {
      return run_framed(op, {}, op.attrs);
    }
    return run_framed(op, frame, framed_attrs(op, frame));
  }

  /// Softmax kernels work on the last dimension in memory.
  Result<ValueId> convert_last_dim(const Op& op) {
    const ValueId x = rewriter_.map(op.inputs[0]);
    const auto dim = static_cast<uint8_t>(op.get(ir::attr::dim));
    DimOrder frame = full(order(x), rank(x));
    if (frame.back() != dim) {
      frame.erase(std::find(frame.begin(), frame.end(), dim));
      frame.push_back(dim);
    }
    frame = canonical(frame);
    return run_framed(op, frame, framed_attrs(op, frame));
  }

  /// The kernel works on planes or on pixels, so it supports both memory orders.
  Result<ValueId> convert_group_norm(const Op& op) {
    std::vector<ValueId> inputs = rewriter_.map(op.inputs);
    DimOrder innermost = full({}, rank(inputs[0]));
    std::rotate(innermost.begin() + 1, innermost.begin() + 2, innermost.end());
    const DimOrder wanted = order(inputs[0]) == innermost ? innermost : DimOrder{};
    THIMBLE_TRY(inputs[0], to_order(inputs[0], wanted, op.source));
    return add(op.kind, std::move(inputs), op.attrs, op, wanted, op.output);
  }

  Result<ValueId> convert_reduction(const Op& op) {
    const DimOrder frame = order(rewriter_.map(op.inputs[0]));
    Attrs attrs = framed_attrs(op, frame);
    if (frame.empty()) return run_framed(op, frame, attrs);
    attrs.set(ir::attr::keepdim, int64_t{1});
    THIMBLE_TRY(ValueId kept, run_framed(op, frame, attrs));
    if (op.get(ir::attr::keepdim) != 0) return kept;
    THIMBLE_TRY(kept, to_order(kept, {}, op.source));
    return add(OpKind::reshape, {kept}, {{ir::attr::shape, from_.type(op.output).shape}}, op, {});
  }

  ir::Rewriter rewriter_;
  const ir::Graph& from_;
  Dialect dialect_;
  std::vector<std::vector<int>> consumers_;
  std::map<std::pair<ValueId, DimOrder>, ValueId> converted_;
  std::map<ValueId, Shape> flattened_;  // old result of a flatten, logical shape of its image
};

}  // namespace

Result<Lowered> assign_layouts(const ir::Graph& graph, Dialect dialect) {
  Lowered lowered;
  THIMBLE_TRY(lowered.graph, Assigner(graph, dialect).run());
  return lowered;
}

}  // namespace thimble::engine::cortex_m
