// SPDX-License-Identifier: Apache-2.0
#include "import/tensors.h"

#include <cassert>
#include <utility>

#include "import/constants.h"

namespace thimble::import_pt2 {

using ir::ValueId;

Result<ir::Tensor> load_weight(const formats::pt2::Weights& weights, const std::string& fqn) {
  THIMBLE_TRY(auto weight, weights.gather_finite(fqn));
  auto tensor = convert_weight(std::move(weight));
  if (tensor) return tensor;
  return prefixed(fqn, tensor.error());
}

void Tensors::bind(const std::string& name, ValueId value, std::string owner) {
  tensors_[name] = {storages_.size(), {}, value, 0};
  storages_.push_back({value, 0, std::move(owner), {}});
}

void Tensors::bind_weight(const std::string& name, const std::string& fqn) {
  tensors_[name] = {storages_.size(), {}, ir::kNoValue, -1};
  storages_.push_back({ir::kNoValue, 0, fqn, {}});
}

void Tensors::bind_view(const std::string& name, const std::string& base, View view) {
  const Tensor& seen = tensor(base);
  View whole = seen.view;
  whole.insert(whole.end(), view.begin(), view.end());
  Tensor result{seen.storage, std::move(whole), ir::kNoValue, -1};
  tensors_[name] = std::move(result);
}

void Tensors::bind_refused(const std::string& name, Refusals refusals) {
  tensors_[name] = {storages_.size(), {}, ir::kNoValue, -1};
  storages_.push_back({ir::kNoValue, 0, {}, std::move(refusals)});
}

const Refusals* Tensors::refusals(std::string_view name) const {
  const Storage& held = storage(name);
  return held.refusals.empty() ? nullptr : &held.refusals;
}

void Tensors::refuse(std::string_view name, const Refusals& refusals) {
  storages_[tensor(name).storage].refusals.insert(refusals.begin(), refusals.end());
}

const std::string& Tensors::owner(std::string_view name) const {
  return storage(name).owner;
}

void Tensors::bind_empty(const std::string& name, Refusals refusals) {
  bind_refused(name, std::move(refusals));
  empty_.insert(name);
}

Result<ValueId> Tensors::read(std::string_view name, const ir::Source& source) {
  Tensor& wanted = tensor(name);
  Storage& held = storages_[wanted.storage];
  if (held.current == ir::kNoValue) THIMBLE_CHECK(load(held));
  if (wanted.version != held.version) {
    THIMBLE_TRY(wanted.cached,
                apply(builder_, wanted.view, held.current, source, std::string(name)));
    wanted.version = held.version;
  }
  return wanted.cached;
}

Status Tensors::write(std::string_view name, ValueId value, const ir::Source& source) {
  Tensor& target = tensor(name);
  Storage& held = storages_[target.storage];
  assert(held.owner.empty());
  THIMBLE_TRY(held.current,
              write_through(builder_, target.view, held.current, value, source, std::string(name)));
  target.cached = value;
  target.version = ++held.version;
  return ok();
}

Tensors::Tensor& Tensors::tensor(std::string_view name) {
  const auto found = tensors_.find(name);
  assert(found != tensors_.end() && "the reader checks that names are defined before their use");
  return found->second;
}

const Tensors::Storage& Tensors::storage(std::string_view name) const {
  return storages_[tensors_.find(name)->second.storage];
}

Status Tensors::load(Storage& storage) {
  THIMBLE_TRY(ir::Tensor tensor, load_weight(weights_, storage.owner));
  storage.current = builder_.constant(storage.owner, std::move(tensor));
  return ok();
}

}  // namespace thimble::import_pt2
