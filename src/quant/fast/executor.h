// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a graph like eval::evaluate, but with a table of fast kernels and reused memory.
//
// An operator without a fast kernel runs the evaluator's function. An engine belongs to one thread.
// Engines of the same graph share only its constants, so results do not depend on the number of
// threads.

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "eval/call.h"
#include "eval/evaluate.h"
#include "ir/graph.h"

namespace thimble::quant {

/// Working memory of a kernel call, reused by later calls. The content is undefined.
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

/// call.output has the result's type and shape; its bytes are undefined.
using Kernel = void (*)(const eval::Call& call, Scratch& scratch);

/// Fast kernels by operator; null selects the evaluator's function.
using KernelTable = std::array<Kernel, static_cast<size_t>(ir::OpKind::kCount)>;

class FastExecutor {
 public:
  /// `graph` must outlive the engine and be verified.
  FastExecutor(const ir::Graph& graph, const KernelTable& kernels);
  FastExecutor(const ir::Graph&& graph, const KernelTable& kernels) = delete;

  /// Runs the graph on inputs of the graph's input types, in order. States continue from the
  /// previous run. `on_result` is called once per result, in execution order.
  void run(std::span<const ir::Tensor> inputs, const eval::OnResult& on_result);
  /// begin(), step() until it returns false, and finish() are a run in steps. `inputs` must remain
  /// until then. A step runs one operator, and returns false if there is none left.
  void begin(std::span<const ir::Tensor> inputs) { begin(inputs, {}); }
  /// As begin(), but the values `known` are not computed, nor what only they need. They must remain
  /// until the run is finished.
  using KnownValues = std::span<const std::pair<ir::ValueId, const ir::Tensor*>>;
  void begin(std::span<const ir::Tensor> inputs, KnownValues known);
  bool step(const eval::OnResult& on_result);
  void finish();
  /// Resets the states to their initial content.
  void reset();
  /// Returns the states that the next run will read, one tensor per state.
  [[nodiscard]] const eval::StateTensors& state() const { return state_; }
  /// Returns a value, or null if it is not in memory.
  [[nodiscard]] const ir::Tensor* held(ir::ValueId id) const {
    return values_[static_cast<size_t>(id)].get();
  }
  /// Returns the index of the operator of the next step.
  [[nodiscard]] size_t next() const { return next_; }
  /// Returns a value. Inside on_result, the operands of the current operator are available.
  [[nodiscard]] const ir::Tensor& value(ir::ValueId id) const {
    return *values_[static_cast<size_t>(id)];
  }
  /// Returns the outputs of the last run, one tensor per graph output.
  [[nodiscard]] std::vector<ir::Tensor> outputs() const;

 private:
  using Buffer = std::shared_ptr<ir::Tensor>;

  Buffer take(const ir::Type& type);
  void give_back(Buffer buffer);
  [[nodiscard]] bool in_place(ir::OpKind kind) const;
  Buffer make_result(const ir::Op& op);
  void execute(const ir::Op& op, const Buffer& result);
  void release_operands(const ir::Op& op);
  void choose_ops(KnownValues known);

  const ir::Graph& graph_;
  const KernelTable& kernels_;
  std::vector<int> uses_total_;
  std::vector<int> uses_left_;
  std::vector<bool> skipped_;  // by operator: not computed in this run; empty: none
  std::vector<ir::ValueId> known_;
  size_t next_ = 0;  // index of the operator of the next step
  std::vector<ir::TensorPtr> values_;
  std::vector<Buffer> owned_;  // the same tensors, if this engine allocated them
  std::vector<Buffer> free_;
  eval::StateTensors state_;
  Scratch scratch_;
};

}  // namespace thimble::quant
