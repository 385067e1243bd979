#pragma once
// One kernel call while it is lifted: typed arguments by position, with located errors.

#include <vector>

#include "abi/pte_ops.h"
#include "emit/lift_memory.h"

namespace thimble::emit {

class LiftCall {
 public:
  LiftCall(const formats::pte::ExecutionPlan& plan, const std::vector<int32_t>& args,
           LiftMemory* memory, ir::Graph* graph)
      : plan_(plan), args_(args), memory_(memory), graph_(graph) {}

  /// Each argument is of the kind its letter says.
  Status check(const abi::PteOpInfo& info) const;

  [[nodiscard]] ir::Graph& graph() const { return *graph_; }
  Result<ir::ValueId> tensor(size_t i) { return memory_->read(args_[i]); }
  [[nodiscard]] bool is_none(size_t i) const;
  [[nodiscard]] int64_t integer(size_t i) const;
  [[nodiscard]] double number(size_t i) const;
  [[nodiscard]] std::vector<int64_t> integers(size_t i) const;
  [[nodiscard]] const std::vector<int32_t>& tensor_list(size_t i) const;
  Result<const Bytes*> constant(size_t i) const { return memory_->constant(args_[i]); }
  [[nodiscard]] Result<ir::Type> type(size_t i) const { return memory_->type(args_[i]); }
  [[nodiscard]] Result<ir::Type> out_type() const { return memory_->type(args_.back()); }
  LiftMemory& memory() { return *memory_; }

 private:
  const formats::pte::EValue& value(size_t i) const {
    return plan_.values[static_cast<size_t>(args_[i])];
  }

  const formats::pte::ExecutionPlan& plan_;
  const std::vector<int32_t>& args_;
  LiftMemory* memory_;
  ir::Graph* graph_;
};

/// [top, left] -> [top, left, bottom, right] such that the window's result has the out tensor's
/// extent. All lists have two entries; `image` has four dimensions; else an error.
Result<std::vector<int64_t>> window_padding(const LiftCall& call, const ir::Shape& image,
                                            const std::vector<int64_t>& pad,
                                            const std::vector<int64_t>& kernel,
                                            const std::vector<int64_t>& stride,
                                            const std::vector<int64_t>& dilation);

/// Adds the IR operators that mean this call; the result's type is then compared with the out
/// tensor's.
Result<ir::ValueId> lift_stock(abi::PteOp op, LiftCall* call);
Result<ir::ValueId> lift_native(abi::PteOp op, LiftCall* call);

}  // namespace thimble::emit
