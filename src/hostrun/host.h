#pragma once
// A `.pte` in the production runtime, on this machine, with every portable kernel: the code that a
// device runs, on the very bytes it would get.
//
//   THIMBLE_TRY(auto model, hostrun::HostModel::load(bytes, "kws.pte"));
//   THIMBLE_TRY(auto outputs, model.run(inputs));
//
// Tensors are logical on both sides; the memory order that the file declares is applied here.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

class HostModel {
 public:
  /// `label` is what messages call the file.
  static Result<HostModel> load(ByteView pte, std::string label);

  HostModel(HostModel&&) noexcept;
  HostModel& operator=(HostModel&&) noexcept;
  ~HostModel();

  [[nodiscard]] const Interface& interface() const;
  /// What the runtime reserved for activations and scratch.
  [[nodiscard]] int64_t arena_bytes() const;
  /// Calls the model once; state that the model keeps lives on to the next call.
  Result<std::vector<ir::Tensor>> run(std::span<const ir::Tensor> inputs);
  Status reset();
  /// The state kept between calls, and a call to go on from one.
  Result<Bytes> save() const;
  Status restore(ByteView saved);

 private:
  struct State;
  explicit HostModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thimble::hostrun
