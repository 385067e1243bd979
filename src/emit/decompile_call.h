#pragma once
// One kernel call of a `.pte` during decompilation: typed arguments by position, with located
// errors.

#include <vector>

#include "abi/pte_ops.h"
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
  [[nodiscard]] size_t argument_count() const { return args_.size(); }
  [[nodiscard]] bool is_none(size_t i) const;
  [[nodiscard]] int64_t integer(size_t i) const;
  /// Returns the value of a d, y or z argument.
  [[nodiscard]] double number(size_t i) const;
  [[nodiscard]] const std::string& text(size_t i) const;
  /// Returns the integers of list argument i; empty for None.
  [[nodiscard]] std::vector<int64_t> integers(size_t i) const;
  [[nodiscard]] const std::vector<int32_t>& tensor_list(size_t i) const;
  /// Returns argument i as a dimension of tensor argument `of`; out of range, it is returned as is.
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

/// Extends [top, left] to [top, left, bottom, right] such that the window's result has the extent
/// of `out`. An error unless all lists have two entries and both shapes have four dimensions.
Result<std::vector<int64_t>> window_padding(const ir::Shape& out, const ir::Shape& image,
                                            const std::vector<int64_t>& pad,
                                            const std::vector<int64_t>& kernel,
                                            const std::vector<int64_t>& stride,
                                            const std::vector<int64_t>& dilation);

/// Adds the IR operators that are equivalent to this call. The type of the result is then compared
/// with that of the out tensor.
Result<ir::ValueId> decompile_stock(abi::PteOp op, DecompilerCall* call);
/// Operators of the aten and dim_order_ops dialects. Float operators have float results.
Result<ir::ValueId> decompile_aten(abi::PteOp op, DecompilerCall* call);
/// Operators that write a list of tensors, each a piece of one tensor along a dimension.
Status decompile_split(DecompilerCall* call);
Result<ir::ValueId> decompile_native(abi::PteOp op, DecompilerCall* call);
/// Native operators packed for Helium, for the DSP extension, and for cores without it.
Result<ir::ValueId> decompile_mve(abi::PteOp op, DecompilerCall* call);
Result<ir::ValueId> decompile_depthwise_mve(DecompilerCall* call);
Result<ir::ValueId> decompile_dsp(abi::PteOp op, DecompilerCall* call);
Result<ir::ValueId> decompile_scalar(abi::PteOp op, DecompilerCall* call);
/// Native operators packed for all cores: abi/packed_ops.h (kNoValue for other operators) and
/// abi/packed_ops.h.
Result<ir::ValueId> decompile_rows(abi::PteOp op, DecompilerCall* call);
Result<ir::ValueId> decompile_add_flat(DecompilerCall* call);

}  // namespace thimble::emit
