#include "emit/schedule.h"

#include <algorithm>
#include <map>

#include "abi/limits.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

class Scheduler {
 public:
  explicit Scheduler(const target::Lowered& lowered)
      : graph_(lowered.graph),
        calls_(lowered.calls),
        delegates_(lowered.delegates),
        last_read_(graph_.value_count(), -1) {}

  Schedule run() {
    schedule_.storage_of_value.assign(graph_.value_count(), -1);
    schedule_.scratch_of_call.assign(calls_.size(), -1);
    find_sources();
    find_last_reads();
    place_states();
    place_kept();
    place_renamed_inputs();
    for (size_t step = 0; step < calls_.size(); ++step) place_call(static_cast<int>(step));
    for (size_t value = 0; value < graph_.value_count(); ++value) {
      schedule_.storage_of_value[value] =
          schedule_.storage_of_value[static_cast<size_t>(schedule_.source_of[value])];
    }
    share_with_delegates();
    std::vector<plan::Buffer> buffers;
    for (const Storage& storage : schedule_.storages) buffers.push_back(storage.buffer);
    schedule_.placement = plan::place(buffers, abi::kArenaAlignment);
    assert(plan::is_valid(buffers, schedule_.placement));
    for (size_t i = 0; i < schedule_.storages.size(); ++i) {
      const Storage& storage = schedule_.storages[i];
      if (storage.inside < 0) continue;
      schedule_.placement.offsets[i] =
          schedule_.placement.offsets[static_cast<size_t>(storage.inside)] + storage.inside_offset;
    }
    return std::move(schedule_);
  }

 private:
  ValueId source(ValueId value) const { return schedule_.source_of[static_cast<size_t>(value)]; }

  void find_sources() {
    for (size_t i = 0; i < graph_.value_count(); ++i)
      schedule_.source_of.push_back(static_cast<ValueId>(i));
    for (const ir::Op& op : graph_.ops()) {
      if (target::is_alias(graph_, op)) {
        schedule_.source_of[static_cast<size_t>(op.output)] = source(op.inputs[0]);
      }
    }
  }

  template <typename Visit>
  static void for_each_read(const target::KernelCall& call, Visit visit) {
    for (const target::Argument& argument : call.arguments) {
      if (const auto* ref = std::get_if<target::ValueRef>(&argument)) visit(ref->id);
      if (const auto* list = std::get_if<target::ValueList>(&argument)) {
        for (const ValueId value : *list) visit(value);
      }
    }
  }

  void find_last_reads() {
    const auto read = [&](ValueId value, int step) {
      int& last = last_read_[static_cast<size_t>(source(value))];
      last = std::max(last, step);
    };
    for (size_t step = 0; step < calls_.size(); ++step) {
      for_each_read(calls_[step], [&](ValueId value) { read(value, static_cast<int>(step)); });
    }
    for (const ValueId output : graph_.outputs()) read(output, static_cast<int>(calls_.size()));
  }

  void place_states() {
    for (const ir::State& state : graph_.states()) {
      const int storage = static_cast<int>(schedule_.storages.size());
      const auto bytes = static_cast<int64_t>(graph_.type(state.value).bytes());
      const int end = static_cast<int>(calls_.size());
      schedule_.storages.push_back({{bytes, 0, end}, state.value});
      schedule_.storage_of_value[static_cast<size_t>(state.value)] = storage;
      schedule_.storage_of_value[static_cast<size_t>(source(state.next))] = storage;
      schedule_.kept_bytes += bytes;
    }
  }

  /// Memory of a delegate that it fills when the model is loaded.
  void place_kept() {
    for (const target::Delegate& delegate : delegates_) {
      const bool kept = delegate.kept_bytes > 0;
      const int storage = static_cast<int>(schedule_.storages.size());
      schedule_.kept_of_delegate.push_back(kept ? storage : -1);
      const int end = static_cast<int>(calls_.size());
      if (kept) schedule_.storages.push_back({{delegate.kept_bytes, 0, end}, ir::kNoValue});
    }
  }

  void place_renamed_inputs() {
    for (const ValueId input : graph_.inputs()) {
      const auto renames = [&](size_t value) {
        return static_cast<ValueId>(value) != input && schedule_.source_of[value] == input;
      };
      bool renamed = false;
      for (size_t value = 0; value < graph_.value_count(); ++value) renamed |= renames(value);
      if (!renamed) continue;
      schedule_.storage_of_value[static_cast<size_t>(input)] =
          static_cast<int>(schedule_.storages.size());
      const int last = std::max(0, last_read_[static_cast<size_t>(input)]);
      schedule_.storages.push_back(
          {{static_cast<int64_t>(graph_.type(input).bytes()), 0, last}, input});
    }
  }

  void place_call(int step) {
    const target::KernelCall& call = calls_[static_cast<size_t>(step)];
    for (const target::Argument& argument : call.arguments) {
      const auto* scratch = std::get_if<target::Scratch>(&argument);
      if (scratch != nullptr) place_scratch(scratch->bytes, step);
    }
    if (call.delegate >= 0) {
      const target::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      place_scratch(delegate.scratch_bytes, step);
      for (const ValueId more : call.more_out) place_result(call, more, step);
    }
    place_result(call, call.out, step);
  }

  void place_scratch(int64_t bytes, int step) {
    schedule_.scratch_of_call[static_cast<size_t>(step)] =
        static_cast<int>(schedule_.storages.size());
    schedule_.storages.push_back({{bytes, step, step}, ir::kNoValue});
  }

  void place_result(const target::KernelCall& call, ValueId value, int step) {
    const auto out = static_cast<size_t>(value);
    if (schedule_.storage_of_value[out] >= 0) return;  // a state's
    const int last = std::max(step, last_read_[out]);
    const int reused = storage_to_reuse(call, step);
    if (reused >= 0) {
      schedule_.storage_of_value[out] = reused;
      schedule_.storages[static_cast<size_t>(reused)].buffer.last = last;
      return;
    }
    schedule_.storage_of_value[out] = static_cast<int>(schedule_.storages.size());
    schedule_.storages.push_back(
        {{static_cast<int64_t>(graph_.type(value).bytes()), step, last}, value});
  }

  /// The operand's storage, if the call may overwrite it and nobody reads it afterwards.
  int storage_to_reuse(const target::KernelCall& call, int step) const {
    if (call.in_place < 0) return -1;
    const auto* operand =
        std::get_if<target::ValueRef>(&call.arguments[static_cast<size_t>(call.in_place)]);
    if (operand == nullptr) return -1;
    const int storage = schedule_.storage_of_value[static_cast<size_t>(source(operand->id))];
    if (storage < 0) return -1;
    const plan::Buffer& buffer = schedule_.storages[static_cast<size_t>(storage)].buffer;
    const bool same_size = buffer.bytes == static_cast<int64_t>(graph_.type(call.out).bytes());
    // An input keeps its bytes, so that a second run without a new set_input gives the same result.
    const bool is_input = graph_.is_input(source(operand->id));
    return buffer.last == step && same_size && !is_input ? storage : -1;
  }

  void share_with_delegates() {
    for (size_t step = 0; step < calls_.size(); ++step) {
      const target::KernelCall& call = calls_[step];
      if (call.delegate < 0) continue;
      const target::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      const int scratch = schedule_.scratch_of_call[step];
      for (size_t i = 0; i < delegate.inputs.size(); ++i) {
        const ValueId value = std::get<target::ValueRef>(call.arguments[i]).id;
        share(value, delegate.inputs[i], scratch, static_cast<int>(step), /*is_input=*/true);
      }
      for (size_t i = 0; i < delegate.outputs.size(); ++i) {
        const ValueId value = i == 0 ? call.out : call.more_out[i - 1];
        share(value, delegate.outputs[i], scratch, static_cast<int>(step), /*is_input=*/false);
      }
    }
  }

  /// An input must die in the call, which may overwrite it, and an output begin there.
  void share(ValueId value, const target::DelegateIo& io, int scratch, int step, bool is_input) {
    const int index = schedule_.storage_of_value[static_cast<size_t>(value)];
    if (index < 0 || graph_.is_input(source(value)) || graph_.is_state(source(value))) return;
    Storage& storage = schedule_.storages[static_cast<size_t>(index)];
    const bool fits = storage.inside < 0 && storage.buffer.bytes == io.bytes &&
                      io.offset % abi::kArenaAlignment == 0 &&
                      (is_input ? storage.buffer.last == step : storage.buffer.first == step);
    if (!fits || is_state_storage(index)) return;
    const int64_t before = live_peak();
    Storage& host = schedule_.storages[static_cast<size_t>(scratch)];
    const Storage old_storage = storage, old_host = host;
    host.buffer.first = std::min(host.buffer.first, storage.buffer.first);
    host.buffer.last = std::max(host.buffer.last, storage.buffer.last);
    storage.buffer.bytes = 0;
    storage.inside = scratch;
    storage.inside_offset = io.offset;
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
  const std::vector<target::KernelCall>& calls_;
  const std::vector<target::Delegate>& delegates_;
  std::vector<int> last_read_;  // by source value
  Schedule schedule_;
};

}  // namespace

Schedule make_schedule(const target::Lowered& lowered) {
  return Scheduler(lowered).run();
}

}  // namespace thimble::emit
