#include "emit/schedule.h"

#include <algorithm>
#include <map>

#include "abi/limits.h"
#include "emit/buffer_aliasing.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

class Scheduler {
 public:
  Scheduler(const engine::Lowered& lowered, std::optional<int64_t> states_offset_min)
      : graph_(lowered.graph),
        calls_(lowered.calls),
        delegates_(lowered.delegates),
        aliasing_(lowered),
        states_offset_min_(states_offset_min) {}

  Schedule run() {
    aliasing_.reuse_operand_buffers();
    schedule_.storage_of_value.assign(graph_.value_count(), -1);
    schedule_.scratch_of_call.assign(calls_.size(), -1);
    storage_of_buffer_.assign(aliasing_.aliased_buffers().size(), -1);
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      schedule_.source_of.push_back(aliasing_.source_of(static_cast<ValueId>(i)));
    }
    for (const ir::State& state : graph_.states()) {
      place(state.value);
      schedule_.kept_bytes += static_cast<int64_t>(graph_.type(state.value).bytes());
    }
    place_persistent();
    for (const ValueId input : graph_.inputs()) place(input);
    for (size_t step = 0; step < calls_.size(); ++step) place_call(static_cast<int>(step));
    for (const plan::Overlap& o : aliasing_.overlaps()) {
      schedule_.overlaps.push_back({storage_of_buffer_[static_cast<size_t>(o.operand)],
                                    storage_of_buffer_[static_cast<size_t>(o.result)], o.lead});
    }
    place_subranges();
    share_with_delegates();
    std::vector<plan::Buffer> buffers;
    for (const Storage& storage : schedule_.storages) buffers.push_back(storage.buffer);
    if (states_offset_min_) {
      for (size_t i = 0; i < graph_.states().size(); ++i) buffers[state_storage(i)].bytes = 0;
    }
    schedule_.placement =
        plan::place(buffers, abi::kArenaAlignment, schedule_.overlaps, plan::kProgramSteps);
    assert(plan::is_valid(buffers, schedule_.placement, schedule_.overlaps));
    if (states_offset_min_) place_states_after();
    // A storage inside another one has a higher index, so that one is placed already. The exception
    // is a delegate's scratch, which is inside no storage.
    for (size_t i = 0; i < schedule_.storages.size(); ++i) {
      const Storage& storage = schedule_.storages[i];
      if (storage.container < 0) continue;
      schedule_.placement.offsets[i] =
          schedule_.placement.offsets[static_cast<size_t>(storage.container)] +
          storage.container_offset;
    }
    return std::move(schedule_);
  }

 private:
  /// Adds the storage of the value's buffer, if it has one.
  void place(ValueId value) {
    const int home = aliasing_.buffer_of(value);
    if (home < 0) return;
    int& storage = storage_of_buffer_[static_cast<size_t>(home)];
    if (storage >= 0) return;
    storage = static_cast<int>(schedule_.storages.size());
    const BufferAliasing::AliasedBuffer& all =
        aliasing_.aliased_buffers()[static_cast<size_t>(home)];
    schedule_.storages.push_back({{all.bytes, all.first, all.last}, all.value});
  }

  size_t state_storage(size_t state) const {
    const int home = aliasing_.buffer_of(graph_.states()[state].value);
    return static_cast<size_t>(storage_of_buffer_[static_cast<size_t>(home)]);
  }

  void place_states_after() {
    plan::Placement& placement = schedule_.placement;
    const bool proven = placement.proven_minimal();
    placement.peak_bytes = std::max(placement.peak_bytes, aligned(*states_offset_min_));
    for (size_t i = 0; i < graph_.states().size(); ++i) {
      const size_t storage = state_storage(i);
      placement.offsets[storage] = placement.peak_bytes;
      placement.peak_bytes += aligned(schedule_.storages[storage].buffer.bytes);
    }
    if (proven) placement.lower_bound_bytes = placement.peak_bytes;
  }
  static int64_t aligned(int64_t bytes) {
    return (bytes + abi::kArenaAlignment - 1) & ~int64_t{abi::kArenaAlignment - 1};
  }

  /// Adds the delegates' memory that is filled when the model is loaded.
  void place_persistent() {
    for (const engine::Delegate& delegate : delegates_) {
      const bool kept = delegate.kept_bytes > 0;
      const int storage = static_cast<int>(schedule_.storages.size());
      schedule_.persistent_of_delegate.push_back(kept ? storage : -1);
      const int end = static_cast<int>(calls_.size());
      if (kept) schedule_.storages.push_back({{delegate.kept_bytes, 0, end}, ir::kNoValue});
    }
  }

  void place_call(int step) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(step)];
    for (const engine::Argument& argument : call.arguments) {
      const auto* scratch = std::get_if<engine::Scratch>(&argument);
      if (scratch != nullptr) place_scratch(scratch->bytes, step);
    }
    if (call.delegate >= 0) {
      const engine::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      place_scratch(delegate.scratch_bytes, step);
      for (const ValueId more : call.extra_outputs) place(more);
    }
    place(call.out);
  }

  void place_scratch(int64_t bytes, int step) {
    schedule_.scratch_of_call[static_cast<size_t>(step)] =
        static_cast<int>(schedule_.storages.size());
    schedule_.storages.push_back({{bytes, step, step}, ir::kNoValue});
  }

  /// Adds storages for values that do not begin at the start of their buffer.
  void place_subranges() {
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const auto value = static_cast<ValueId>(i);
      if (aliasing_.buffer_of(value) < 0) continue;
      const int home = storage_of_buffer_[static_cast<size_t>(aliasing_.buffer_of(value))];
      const int64_t offset = aliasing_.offset_of(value);
      schedule_.storage_of_value[i] = home;
      if (offset == 0) continue;
      schedule_.storage_of_value[i] = static_cast<int>(schedule_.storages.size());
      const plan::Buffer& buffer = schedule_.storages[static_cast<size_t>(home)].buffer;
      schedule_.storages.push_back({{0, buffer.first, buffer.last}, value, home, offset});
    }
  }

  void share_with_delegates() {
    for (size_t step = 0; step < calls_.size(); ++step) {
      const engine::KernelCall& call = calls_[step];
      if (call.delegate < 0) continue;
      const engine::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      const int scratch = schedule_.scratch_of_call[step];
      for (size_t i = 0; i < delegate.inputs.size(); ++i) {
        const ValueId value = std::get<engine::ValueRef>(call.arguments[i]).id;
        share(value, delegate.inputs[i], scratch, static_cast<int>(step), /*is_input=*/true);
      }
      for (size_t i = 0; i < delegate.outputs.size(); ++i) {
        const ValueId value = i == 0 ? call.out : call.extra_outputs[i - 1];
        share(value, delegate.outputs[i], scratch, static_cast<int>(step), /*is_input=*/false);
      }
    }
  }

  /// An input must die in the call, which may overwrite it, and an output begin there.
  void share(ValueId value, const engine::DelegateIo& io, int scratch, int step, bool is_input) {
    const int index = schedule_.storage_of_value[static_cast<size_t>(value)];
    if (index < 0 || graph_.is_input(aliasing_.source_of(value)) ||
        graph_.is_state(aliasing_.source_of(value)))
      return;
    Storage& storage = schedule_.storages[static_cast<size_t>(index)];
    const bool fits = storage.container < 0 && storage.buffer.bytes == io.bytes &&
                      io.offset % abi::kArenaAlignment == 0 &&
                      (is_input ? storage.buffer.last == step : storage.buffer.first == step);
    if (!fits || is_state_storage(index)) return;
    const int64_t before = live_peak();
    Storage& host = schedule_.storages[static_cast<size_t>(scratch)];
    const Storage old_storage = storage, old_host = host;
    host.buffer.first = std::min(host.buffer.first, storage.buffer.first);
    host.buffer.last = std::max(host.buffer.last, storage.buffer.last);
    storage.buffer.bytes = 0;
    storage.container = scratch;
    storage.container_offset = io.offset;
    if (live_peak() <= before) return;
    storage = old_storage;
    host = old_host;
  }

  bool is_state_storage(int index) const {
    return std::ranges::any_of(graph_.states(), [&](const ir::State& state) {
      return schedule_.storage_of_value[static_cast<size_t>(state.value)] == index;
    });
  }

  int64_t live_peak() const {
    std::vector<int64_t> change(calls_.size() + 2, 0);
    for (const Storage& storage : schedule_.storages) {
      const int64_t bytes =
          (storage.buffer.bytes + abi::kArenaAlignment - 1) & ~int64_t{abi::kArenaAlignment - 1};
      change[static_cast<size_t>(storage.buffer.first)] += bytes;
      change[static_cast<size_t>(storage.buffer.last) + 1] -= bytes;
    }
    int64_t live = 0, peak = 0;
    for (const int64_t step : change) peak = std::max(peak, live += step);
    return peak;
  }

  const ir::Graph& graph_;
  const std::vector<engine::KernelCall>& calls_;
  const std::vector<engine::Delegate>& delegates_;
  BufferAliasing aliasing_;
  const std::optional<int64_t> states_offset_min_;
  std::vector<int> storage_of_buffer_;
  Schedule schedule_;
};

}  // namespace

Schedule make_schedule(const engine::Lowered& lowered, std::optional<int64_t> states_offset_min) {
  return Scheduler(lowered, states_offset_min).run();
}

}  // namespace thimble::emit
