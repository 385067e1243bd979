// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/executor.h"

#include <algorithm>
#include <cassert>

namespace thimble::quant {
namespace {

constexpr void (*kReference[])(const eval::Call&) = {
#define THIMBLE_OP(name, category, operands, attributes) eval::eval_##name,
#include "ir/ops.def"
#undef THIMBLE_OP
};

/// Returns true if the result has the same bytes as the operand.
bool is_alias(ir::OpKind kind) {
  return kind == ir::OpKind::reshape || kind == ir::OpKind::copy;
}

std::vector<int> count_uses(const ir::Graph& graph) {
  std::vector<int> uses(graph.value_count(), 0);
  for (const ir::Op& op : graph.ops()) {
    for (const ir::ValueId id : op.inputs) {
      if (id != ir::kNoValue) ++uses[static_cast<size_t>(id)];
    }
  }
  for (const ir::ValueId id : graph.results()) ++uses[static_cast<size_t>(id)];
  return uses;
}

}  // namespace

FastExecutor::FastExecutor(const ir::Graph& graph, const KernelTable& kernels)
    : graph_(graph),
      kernels_(kernels),
      uses_total_(count_uses(graph)),
      values_(graph.value_count()),
      owned_(graph.value_count()) {
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i] = graph.value(static_cast<ir::ValueId>(i)).constant;
  }
  reset();
}

void FastExecutor::reset() {
  state_ = eval::initial_state(graph_);
}

/// The smallest free buffer that is large enough, else the largest, which then grows.
FastExecutor::Buffer FastExecutor::take(const ir::Type& type) {
  const size_t bytes = type.bytes();
  const auto rank = [bytes](const Buffer& buffer) {
    const size_t capacity = buffer->bytes.capacity();
    return capacity >= bytes ? std::pair(0, capacity) : std::pair(1, SIZE_MAX - capacity);
  };
  const auto best = std::min_element(
      free_.begin(), free_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  Buffer buffer;
  if (best == free_.end()) {
    buffer = std::make_shared<ir::Tensor>();
  } else {
    buffer = std::move(*best);
    free_.erase(best);
  }
  if (buffer->bytes.capacity() < bytes) buffer->bytes.clear();  // avoids copying old content
  buffer->bytes.resize(bytes);
  buffer->dtype = type.dtype;
  buffer->shape = type.shape;
  return buffer;
}

/// Result element i depends on operand element i alone. The evaluator's functions want a result
/// filled with zeros, so only fast kernels may work in place.
bool FastExecutor::in_place(ir::OpKind kind) const {
  const bool fast = kernels_[static_cast<size_t>(kind)] != nullptr;
  return is_alias(kind) || (kind == ir::OpKind::clamp && fast);
}

void FastExecutor::give_back(Buffer buffer) {
  if (buffer != nullptr) free_.push_back(std::move(buffer));
}

FastExecutor::Buffer FastExecutor::make_result(const ir::Op& op) {
  const ir::Type& type = graph_.type(op.output);
  if (in_place(op.kind)) {
    // The result reuses the memory of an operand without further readers.
    const size_t x = static_cast<size_t>(op.inputs[0]);
    if (uses_left_[x] == 1 && owned_[x] != nullptr) return owned_[x];
  }
  return take(type);
}

void FastExecutor::execute(const ir::Op& op, const Buffer& result) {
  eval::Call call{op, {}, *result};
  for (const ir::ValueId id : op.inputs) {
    call.inputs.push_back(id == ir::kNoValue ? nullptr : values_[static_cast<size_t>(id)].get());
  }
  const Kernel fast = kernels_[static_cast<size_t>(op.kind)];
  if (fast != nullptr) return fast(call, scratch_);
  std::fill(result->bytes.begin(), result->bytes.end(), std::byte{0});
  kReference[static_cast<size_t>(op.kind)](call);
}

void FastExecutor::release_operands(const ir::Op& op) {
  for (const ir::ValueId id : op.inputs) {
    if (id == ir::kNoValue || --uses_left_[static_cast<size_t>(id)] > 0) continue;
    Buffer& buffer = owned_[static_cast<size_t>(id)];
    if (buffer == nullptr) continue;
    values_[static_cast<size_t>(id)].reset();
    give_back(std::move(buffer));
    buffer.reset();
  }
}

void FastExecutor::run(std::span<const ir::Tensor> inputs, const eval::OnResult& on_result) {
  begin(inputs);
  while (step(on_result)) {
  }
  finish();
}

/// Counts the uses of values by operators that are not skipped.
void FastExecutor::choose_ops(KnownValues known) {
  skipped_.clear();
  uses_left_ = uses_total_;
  if (known.empty()) return;
  std::vector<bool> is_known(graph_.value_count(), false);
  for (const auto& [id, tensor] : known) is_known[static_cast<size_t>(id)] = true;
  std::fill(uses_left_.begin(), uses_left_.end(), 0);
  for (const ir::ValueId id : graph_.results()) ++uses_left_[static_cast<size_t>(id)];
  skipped_.assign(graph_.ops().size(), false);
  for (size_t i = graph_.ops().size(); i-- > 0;) {
    const ir::Op& op = graph_.ops()[i];
    const size_t result = static_cast<size_t>(op.output);
    skipped_[i] = is_known[result] || uses_left_[result] == 0;
    if (skipped_[i]) continue;
    for (const ir::ValueId id : op.inputs) {
      if (id != ir::kNoValue) ++uses_left_[static_cast<size_t>(id)];
    }
  }
}

void FastExecutor::begin(std::span<const ir::Tensor> inputs, KnownValues known) {
  assert(inputs.size() == graph_.inputs().size());
  next_ = 0;
  choose_ops(known);
  for (size_t i = 0; i < owned_.size(); ++i) {  // releases the outputs of the previous run
    if (owned_[i] == nullptr) continue;
    values_[i].reset();
    give_back(std::move(owned_[i]));
    owned_[i].reset();
  }
  for (const ir::ValueId id : known_) values_[static_cast<size_t>(id)].reset();
  known_.clear();
  for (const auto& [id, tensor] : known) {
    values_[static_cast<size_t>(id)] = ir::TensorPtr(ir::TensorPtr(), tensor);
    known_.push_back(id);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_[static_cast<size_t>(graph_.inputs()[i])] = ir::TensorPtr(ir::TensorPtr(), &inputs[i]);
  }
  for (size_t i = 0; i < state_.size(); ++i) {
    values_[static_cast<size_t>(graph_.states()[i].value)] =
        std::make_shared<const ir::Tensor>(std::move(state_[i]));
  }
}

bool FastExecutor::step(const eval::OnResult& on_result) {
  while (next_ < skipped_.size() && skipped_[next_]) ++next_;
  if (next_ == graph_.ops().size()) return false;
  const ir::Op& op = graph_.ops()[next_++];
  const Buffer result = make_result(op);
  const bool moved = in_place(op.kind) && result == owned_[static_cast<size_t>(op.inputs[0])];
  if (!moved || !is_alias(op.kind)) execute(op, result);
  if (moved) {
    const size_t x = static_cast<size_t>(op.inputs[0]);
    owned_[x].reset();
    values_[x].reset();
    result->shape = graph_.type(op.output).shape;
  }
  if (on_result) on_result(op, *result);
  release_operands(op);
  if (uses_left_[static_cast<size_t>(op.output)] > 0) {
    owned_[static_cast<size_t>(op.output)] = result;
    values_[static_cast<size_t>(op.output)] = result;
  } else {
    give_back(result);
  }
  return true;
}

void FastExecutor::finish() {
  for (size_t i = 0; i < state_.size(); ++i) {
    state_[i] = *values_[static_cast<size_t>(graph_.states()[i].next)];
  }
}

std::vector<ir::Tensor> FastExecutor::outputs() const {
  std::vector<ir::Tensor> result;
  for (const ir::ValueId id : graph_.outputs()) {
    result.push_back(*values_[static_cast<size_t>(id)]);
  }
  return result;
}

}  // namespace thimble::quant
