// SPDX-License-Identifier: Apache-2.0
#pragma once
// One kernel call of a `.pte` during decompilation: typed arguments by position, with located
// errors.

#include <vector>

#include "abi/pte_op.h"
#include "emit/decompile_memory.h"

namespace thimble::emit {

class DecompilerCall {
 public:
  DecompilerCall(const formats::pte::ExecutionPlan& plan, const std::vector<int32_t>& args,
                 DecompilerMemory* memory, ir::Graph* graph)
      : plan_(plan), args_(args), memory_(memory), graph_(graph) {}

  /// Checks the number of arguments, and that each has the kind of its letter.
  Status check(const abi::PteOpInfo& info);

  [[nodiscard]] ir::Graph& graph() const { return *graph_; }
  Result<ir::ValueId> tensor(size_t i) { return memory_->read(args_[i]); }
  /// Returns kNoValue for None.
  Result<ir::ValueId> tensor_or_none(size_t i);
  ir::ValueId add_constant(std::string name, ir::Tensor tensor);
  [[nodiscard]] size_t argument_count() const { return args_.size(); }
  [[nodiscard]] bool is_none(size_t i) const;
  [[nodiscard]] int64_t integer(size_t i) const;
  /// Returns the value of a d, y or z argument.
  [[nodiscard]] double number(size_t i) const;
  /// Returns the integers of list argument i; empty for None.
  [[nodiscard]] std::vector<int64_t> integers(size_t i) const;
  [[nodiscard]] const std::vector<int32_t>& tensor_list(size_t i) const;
  /// Returns argument i as a dimension of tensor argument `of`; a negative one counts from the end.
  /// The range is not checked.
  [[nodiscard]] int64_t dim(size_t i, size_t of) const { return normalize_dim(integer(i), of); }
  [[nodiscard]] int64_t normalize_dim(int64_t dim, size_t of) const;
  Result<const Bytes*> constant(size_t i) const { return memory_->constant(args_[i]); }
  [[nodiscard]] Result<ir::Type> type(size_t i) const { return memory_->type(args_[i]); }
  /// Returns the index of the out tensor; of the first one if there are several.
  [[nodiscard]] int32_t out() const { return args_[out_at_]; }
  [[nodiscard]] Result<ir::Type> out_type() const { return memory_->type(out()); }
  DecompilerMemory& memory() { return *memory_; }

 private:
  const formats::pte::EValue& value(size_t i) const {
    return plan_.values[static_cast<size_t>(args_[i])];
  }

  const formats::pte::ExecutionPlan& plan_;
  const std::vector<int32_t>& args_;
  DecompilerMemory* memory_;
  ir::Graph* graph_;
  size_t out_at_ = 0;
};

/// Adds an operator whose operands are the first arguments of the call.
Result<ir::ValueId> add_op(DecompilerCall* call, ir::OpKind kind, size_t operands,
                           ir::Attrs attrs = {});

/// Returns the dimension of a shape with `rank` dimensions; a negative one counts from the end. An
/// error if it is out of range.
Result<int64_t> checked_dim(int64_t dim, size_t rank);

/// Extends [top, left] to [top, left, bottom, right] such that the window's result has the extent
/// of `out`. An error unless all lists have two entries and both shapes have four dimensions.
Result<std::vector<int64_t>> window_padding(const ir::Shape& out, const ir::Shape& image,
                                            const std::vector<int64_t>& pad,
                                            const std::vector<int64_t>& kernel,
                                            const std::vector<int64_t>& stride,
                                            const std::vector<int64_t>& dilation);

// Each function adds the IR operators that are equivalent to the call, and returns the result. The
// caller compares its type with the out tensor.

/// Operators of ExecuTorch; those of aten and dim_order_ops go to decompile_aten.
Result<ir::ValueId> decompile_stock(abi::PteOp op, DecompilerCall* call);
/// Operators of the aten and dim_order_ops dialects. Float operators have float results.
Result<ir::ValueId> decompile_aten(abi::PteOp op, DecompilerCall* call);
/// Thimble's operators on float32.
Result<ir::ValueId> decompile_float(abi::PteOp op, DecompilerCall* call);
/// Operators that write a list of tensors, each a piece of one tensor along a dimension.
Status decompile_split(DecompilerCall* call);
/// Native operators; packed ones go to the functions below.
Result<ir::ValueId> decompile_native(abi::PteOp op, DecompilerCall* call);
// Packed for Helium.
Result<ir::ValueId> decompile_conv2d_mve(DecompilerCall* call);
Result<ir::ValueId> decompile_depthwise_mve(DecompilerCall* call);
Result<ir::ValueId> decompile_linear_mve(DecompilerCall* call);
// Packed for the DSP extension.
Result<ir::ValueId> decompile_conv2d_dsp(DecompilerCall* call);
Result<ir::ValueId> decompile_depthwise_dsp(DecompilerCall* call);
Result<ir::ValueId> decompile_linear_dsp(DecompilerCall* call);
// Packed for cores without SIMD instructions (neither Helium nor the DSP extension): "scalar".
Result<ir::ValueId> decompile_conv2d_scalar(DecompilerCall* call);
Result<ir::ValueId> decompile_depthwise_scalar(DecompilerCall* call);
Result<ir::ValueId> decompile_linear_scalar(DecompilerCall* call);
// Packed for all cores: abi/packed_ops.h.
Result<ir::ValueId> decompile_add_flat(DecompilerCall* call);
/// Decompiles one call.
using DecompileFn = Result<ir::ValueId>(DecompilerCall* call);
/// Returns the function of an operator of abi/packed_ops.h, or null.
[[nodiscard]] DecompileFn* find_packed_op(abi::PteOp op);
/// Returns the function of an operator with weights of 4 bits, or null.
[[nodiscard]] DecompileFn* find_int4_op(abi::PteOp op);

}  // namespace thimble::emit
