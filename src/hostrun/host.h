// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a `.pte` on this machine in the production runtime, with every portable kernel: the same
// code and the same bytes as on a device.
//
//   THIMBLE_TRY(auto model, hostrun::HostModel::load(bytes, "kws.pte"));
//   THIMBLE_TRY(auto outputs, model.run(inputs));
//
// Tensors on both sides are in logical order; this class converts to the file's memory order.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hostrun/call_trace.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

class HostModel {
 public:
  /// `label` names the file in messages. `linux_npu`: the NPUs are those of this machine, with this
  /// device of the kernel's driver or the first one if it is empty; otherwise they are simulated.
  static Result<HostModel> load(ByteView pte, std::string label,
                                const std::optional<std::string>& linux_npu = {});

  /// Returns the size in bytes of the memory that load() allocates for the arena and the runtime.
  static Result<size_t> memory_bytes_of(ByteView pte, std::string label);

  HostModel(HostModel&&) noexcept;
  HostModel& operator=(HostModel&&) noexcept;
  ~HostModel();

  [[nodiscard]] const Interface& interface() const;
  /// Size in bytes of the runtime's memory for activations and scratch.
  [[nodiscard]] int64_t arena_bytes() const;
  /// Runs the model once. The next run continues with the states of this one.
  Result<std::vector<ir::Tensor>> run(std::span<const ir::Tensor> inputs);
  /// Records the following runs in `*trace`, each in place of the one before; null: no record. With
  /// `tensors`, also copies the tensors of traced_tensors().
  Status trace(CallTrace* trace, bool tensors);
  /// Returns true if all inputs and outputs are in logical order in memory.
  [[nodiscard]] bool is_logical_order() const;
  /// Runs the model once, with the inputs in their memory: their bytes in the file's memory order,
  /// aligned to their elements. The model reads them until the end of the run.
  Status run_in_place(std::span<const ByteView> inputs);
  /// Returns the bytes of an output in the file's memory order. They are valid until the next run.
  [[nodiscard]] Result<ByteView> output(size_t index) const;
  Status reset();
  /// Saves the states between two runs, and restores saved ones.
  Result<Bytes> save() const;
  Status restore(ByteView saved);

 private:
  struct State;
  static Result<std::unique_ptr<State>> verified(ByteView pte, std::string label,
                                                 const std::optional<std::string>& linux_npu);
  explicit HostModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thimble::hostrun
