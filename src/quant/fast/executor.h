#pragma once
// Runs a graph like eval::evaluate, with a table of fast kernels and memory that is used again.
//
// An operator without a fast kernel runs the evaluator's own function. One engine belongs to one
// thread; engines of the same graph share nothing but its constants, so results cannot depend on
// the number of threads.

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "eval/call.h"
#include "eval/evaluate.h"
#include "ir/graph.h"

namespace thimble::quant {

/// Memory of one kernel call, kept from call to call. Contents are undefined.
class Scratch {
 public:
  static constexpr size_t kSlots = 4;
  template <typename T>
  [[nodiscard]] T* get(size_t slot, size_t count) {
    auto& bytes = slots_[slot];
    if (bytes.size() < count * sizeof(T)) {
      bytes.clear();
      bytes.resize(count * sizeof(T));
    }
    return reinterpret_cast<T*>(bytes.data());
  }

 private:
  std::array<std::vector<std::byte>, kSlots> slots_;
};

/// call.output has its type and shape but undefined bytes.
using Kernel = void (*)(const eval::Call& call, Scratch& scratch);

/// Fast kernels by operator; null where the evaluator's function serves.
using KernelTable = std::array<Kernel, static_cast<size_t>(ir::OpKind::kCount)>;

class FastExecutor {
 public:
  /// `graph` must outlive the engine and be verified.
  FastExecutor(const ir::Graph& graph, const KernelTable& kernels);
  FastExecutor(const ir::Graph&& graph, const KernelTable& kernels) = delete;

  /// Inputs of the graph's types, in order. States go on from the run before. Every result is shown
  /// once, in execution order.
  void run(std::span<const ir::Tensor> inputs, const eval::OnResult& on_result);
  /// States begin again with their initial content.
  void reset();
  /// What the next run will read, one tensor per state.
  [[nodiscard]] const eval::StateTensors& state() const { return state_; }
  /// Inside on_result: the operands of the operator that just ran.
  [[nodiscard]] const ir::Tensor& value(ir::ValueId id) const {
    return *values_[static_cast<size_t>(id)];
  }
  /// Of the last run, one per graph output.
  [[nodiscard]] std::vector<ir::Tensor> outputs() const;

 private:
  using Buffer = std::shared_ptr<ir::Tensor>;

  Buffer take(const ir::Type& type);
  void give_back(Buffer buffer);
  [[nodiscard]] bool in_place(ir::OpKind kind) const;
  Buffer make_result(const ir::Op& op);
  void execute(const ir::Op& op, const Buffer& result);
  void release_operands(const ir::Op& op);

  const ir::Graph& graph_;
  const KernelTable& kernels_;
  std::vector<int> uses_total_;
  std::vector<int> uses_left_;
  std::vector<ir::TensorPtr> values_;
  std::vector<Buffer> owned_;  // the same tensors, where this engine made them
  std::vector<Buffer> free_;
  eval::StateTensors state_;
  Scratch scratch_;
};

}  // namespace thimble::quant
