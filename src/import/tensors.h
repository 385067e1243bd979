#pragma once
// The exported graph's tensor names and the IR values behind them. IR values never change, PyTorch
// tensors do: a name is a view of a storage, and a write makes a new value of the storage that all
// its names see.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "formats/pt2/weights.h"
#include "import/view.h"

namespace thimble::import_pt2 {

/// What a name stands for if an operator before it was refused: indices of refusals.
using Refusals = std::set<int>;

/// A weight as the graph computes with it.
[[nodiscard]] Result<ir::Tensor> load_weight(const formats::pt2::Weights& weights,
                                             const std::string& fqn);

class Tensors {
 public:
  Tensors(Builder& builder, const formats::pt2::Weights& weights)
      : builder_(builder), weights_(weights) {}

  /// A new storage. `lasting`: the state, parameter or constant it is ("running_mean"); not to be
  /// written to.
  void bind(const std::string& name, ir::ValueId value, std::string lasting = {});
  /// A tensor of the archive, read when it is first used.
  void bind_weight(const std::string& name, const std::string& fqn);
  /// `name` shares the memory of `base`.
  void bind_view(const std::string& name, const std::string& base, View view);
  /// A name without a value.
  void bind_refused(const std::string& name, Refusals refusals);

  [[nodiscard]] bool is_bound(std::string_view name) const { return tensors_.count(name) != 0; }
  /// Null if the name has a value.
  [[nodiscard]] const Refusals* refusals(std::string_view name) const;
  /// The storage has lost its value.
  void refuse(std::string_view name, const Refusals& refusals);

  Result<ir::ValueId> read(std::string_view name, const ir::Source& source);
  /// An in-place operator: `value` has the type of the tensor.
  Status write(std::string_view name, ir::ValueId value, const ir::Source& source);
  /// The parameter, buffer or constant whose memory this is, or "".
  [[nodiscard]] const std::string& lasting(std::string_view name) const;

 private:
  struct Storage {
    ir::ValueId current = ir::kNoValue;  // none: a weight that has not been read
    int version = 0;
    std::string lasting;
    Refusals refusals;
  };
  struct Tensor {
    size_t storage = 0;
    View view;
    ir::ValueId cached = ir::kNoValue;  // of the storage's `version`
    int version = -1;
  };

  Tensor& tensor(std::string_view name);
  [[nodiscard]] const Storage& storage(std::string_view name) const;
  Status load(Storage& storage);

  Builder& builder_;
  const formats::pt2::Weights& weights_;
  std::vector<Storage> storages_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace thimble::import_pt2
