// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps the tensor names of the exported graph to IR values. IR values are immutable; PyTorch
// tensors are not. A name is a view of a storage. A write creates a new value of the storage, which
// all names of the storage then read.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "formats/pt2/weights.h"
#include "import/view.h"

namespace thimble::import_pt2 {

/// Indices of the refusals that a name without a value depends on.
using Refusals = std::set<int>;

/// Returns a weight in the type with which the graph computes.
[[nodiscard]] Result<ir::Tensor> load_weight(const formats::pt2::Weights& weights,
                                             const std::string& fqn);

class Tensors {
 public:
  Tensors(Builder& builder, const formats::pt2::Weights& weights)
      : builder_(builder), weights_(weights) {}

  /// Binds a name to a new storage. `owner` names the state, parameter or constant it belongs to
  /// ("running_mean"), which must not be written to.
  void bind(const std::string& name, ir::ValueId value, std::string owner = {});
  /// Binds a name to a tensor of the archive, which is loaded at its first use.
  void bind_weight(const std::string& name, const std::string& fqn);
  /// Binds a name that shares the memory of `base`.
  void bind_view(const std::string& name, const std::string& base, View view);
  /// Binds a name to a tensor without elements. Only a list of tensors may contain it.
  void bind_empty(const std::string& name, Refusals refusals);
  [[nodiscard]] bool is_empty(std::string_view name) const { return empty_.contains(name); }
  /// Binds a name without a value.
  void bind_refused(const std::string& name, Refusals refusals);

  [[nodiscard]] bool is_bound(std::string_view name) const { return tensors_.count(name) != 0; }
  /// Returns null if the name has a value.
  [[nodiscard]] const Refusals* refusals(std::string_view name) const;
  /// Removes the value of the name's storage.
  void refuse(std::string_view name, const Refusals& refusals);

  Result<ir::ValueId> read(std::string_view name, const ir::Source& source);
  /// Writes to a tensor for an in-place operator. `value` has the type of the tensor.
  Status write(std::string_view name, ir::ValueId value, const ir::Source& source);
  /// Returns the parameter, buffer or constant that owns the memory, or "".
  [[nodiscard]] const std::string& owner(std::string_view name) const;

 private:
  struct Storage {
    ir::ValueId current = ir::kNoValue;  // kNoValue: a weight that is not loaded yet
    int version = 0;
    std::string owner;
    Refusals refusals;
  };
  struct Tensor {
    size_t storage = 0;
    View view;
    ir::ValueId cached = ir::kNoValue;  // value of the view for storage version `version`
    int version = -1;
  };

  Tensor& tensor(std::string_view name);
  [[nodiscard]] const Storage& storage(std::string_view name) const;
  Status load(Storage& storage);

  Builder& builder_;
  const formats::pt2::Weights& weights_;
  std::vector<Storage> storages_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> empty_;
};

}  // namespace thimble::import_pt2
