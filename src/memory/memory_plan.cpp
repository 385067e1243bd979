// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_plan.h"

#include <algorithm>

#include "abi/limits.h"
#include "base/rounding.h"
#include "memory/buffer_aliasing.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

class MemoryPlanner {
 public:
  MemoryPlanner(const engine::Lowered& lowered, std::optional<int64_t> states_offset_min)
      : graph_(lowered.graph),
        calls_(lowered.calls),
        delegates_(lowered.delegates),
        aliasing_(lowered),
        states_offset_min_(states_offset_min) {}

  MemoryPlan run() {
    add_ranges();
    share_with_delegates();
    place_ranges();
    place_inner_ranges();
    return std::move(plan_);
  }

 private:
  void add_ranges() {
    aliasing_.reuse_operand_buffers();
    plan_.range_of_value.assign(graph_.value_count(), -1);
    plan_.scratch_of_call.assign(calls_.size(), -1);
    range_of_buffer_.assign(aliasing_.aliased_buffers().size(), -1);
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      plan_.source_of.push_back(aliasing_.source_of(static_cast<ValueId>(i)));
    }
    for (const ir::State& state : graph_.states()) {
      add_range(state.value);
      plan_.state_bytes += static_cast<int64_t>(graph_.type(state.value).bytes());
    }
    add_delegate_ranges();
    for (const ValueId input : graph_.inputs()) add_range(input);
    for (size_t step = 0; step < calls_.size(); ++step) add_call_ranges(static_cast<int>(step));
    for (const Overlap& o : aliasing_.overlaps()) {
      plan_.overlaps.push_back({range_of_buffer_[static_cast<size_t>(o.operand)],
                                range_of_buffer_[static_cast<size_t>(o.result)], o.lead});
    }
    add_inner_ranges();
  }

  /// Assigns an offset to each range that is inside no other range.
  void place_ranges() {
    std::vector<Buffer> buffers = range_buffers();
    if (states_offset_min_) {
      // The planner does not place the states (0 bytes); place_states_after() does.
      for (size_t i = 0; i < graph_.states().size(); ++i) buffers[state_range(i)].bytes = 0;
    }
    plan_.placement = place(buffers, alignment(), plan_.overlaps, kProgramSteps);
    assert(is_valid(buffers, plan_.placement, plan_.overlaps));
    if (states_offset_min_) place_states_after();
  }

  /// While a delegate works, no range shares a cache line with its memory.
  [[nodiscard]] int64_t alignment() const {
    const bool overlaps =
        std::ranges::any_of(calls_, [](const auto& call) { return call.overlap != 0; });
    return overlaps ? abi::kCacheLine : abi::kArenaAlignment;
  }

  void place_inner_ranges() {
    for (size_t i = 0; i < plan_.ranges.size(); ++i) {
      const ArenaRange& range = plan_.ranges[i];
      if (range.outer < 0) continue;
      // The outer range has its offset: it has a lower index, or it is the scratch of a delegate,
      // which is inside no other range.
      plan_.placement.offsets[i] =
          plan_.placement.offsets[static_cast<size_t>(range.outer)] + range.outer_offset;
    }
  }

  [[nodiscard]] std::vector<Buffer> range_buffers() const {
    std::vector<Buffer> buffers;
    for (const ArenaRange& range : plan_.ranges) buffers.push_back(range.buffer);
    return buffers;
  }

  /// Adds the range of the value's buffer, if it has one.
  void add_range(ValueId value) {
    const int buffer = aliasing_.buffer_of(value);
    if (buffer < 0) return;
    int& range = range_of_buffer_[static_cast<size_t>(buffer)];
    if (range >= 0) return;
    range = static_cast<int>(plan_.ranges.size());
    const BufferAliasing::AliasedBuffer& all =
        aliasing_.aliased_buffers()[static_cast<size_t>(buffer)];
    plan_.ranges.push_back({all, all.value});
  }

  size_t state_range(size_t state) const {
    const int buffer = aliasing_.buffer_of(graph_.states()[state].value);
    return static_cast<size_t>(range_of_buffer_[static_cast<size_t>(buffer)]);
  }

  void place_states_after() {
    Placement& placement = plan_.placement;
    const bool proven = placement.proven_minimal();
    placement.peak_bytes =
        std::max(placement.peak_bytes, round_up(*states_offset_min_, abi::kArenaAlignment));
    // In the order of their names, so that methods with the same states have them at the same
    // addresses.
    std::vector<size_t> order;
    for (size_t i = 0; i < graph_.states().size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](size_t i) -> const std::string& {
      return graph_.value(graph_.states()[i].value).name;
    });
    for (const size_t i : order) {
      const size_t range = state_range(i);
      placement.offsets[range] = placement.peak_bytes;
      placement.peak_bytes += round_up(plan_.ranges[range].buffer.bytes, abi::kArenaAlignment);
    }
    if (proven) placement.lower_bound_bytes = placement.peak_bytes;
  }

  /// Adds the delegates' memory that is filled when the model is loaded.
  void add_delegate_ranges() {
    for (const engine::Delegate& delegate : delegates_) {
      const bool kept = delegate.kept_bytes > 0;
      const int range = static_cast<int>(plan_.ranges.size());
      plan_.persistent_of_delegate.push_back(kept ? range : -1);
      const int end = static_cast<int>(calls_.size());
      if (kept) plan_.ranges.push_back({{delegate.kept_bytes, {0, end}}, ir::kNoValue});
    }
  }

  void add_call_ranges(int step) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(step)];
    for (const engine::Argument& argument : call.arguments) {
      const auto* scratch = std::get_if<engine::Scratch>(&argument);
      if (scratch != nullptr) add_scratch_range(scratch->bytes, step, step);
    }
    if (call.delegate >= 0) {
      const engine::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      add_scratch_range(delegate.scratch_bytes, step, step + call.overlap);
      for (const ValueId more : call.extra_outputs) add_range(more);
    }
    add_range(call.out);
  }

  void add_scratch_range(int64_t bytes, int step, int last) {
    plan_.scratch_of_call[static_cast<size_t>(step)] = static_cast<int>(plan_.ranges.size());
    plan_.ranges.push_back({{bytes, {step, last}}, ir::kNoValue});
  }

  /// Sets range_of_value of all values. Adds a range for each value that does not begin at byte 0
  /// of its buffer.
  void add_inner_ranges() {
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const auto value = static_cast<ValueId>(i);
      if (aliasing_.buffer_of(value) < 0) continue;
      const int outer = range_of_buffer_[static_cast<size_t>(aliasing_.buffer_of(value))];
      const int64_t offset = aliasing_.offset_of(value);
      plan_.range_of_value[i] = outer;
      if (offset == 0) continue;
      plan_.range_of_value[i] = static_cast<int>(plan_.ranges.size());
      const Buffer& buffer = plan_.ranges[static_cast<size_t>(outer)].buffer;
      plan_.ranges.push_back({{0, buffer.life}, value, outer, offset});
    }
  }

  void share_with_delegates() {
    for (size_t step = 0; step < calls_.size(); ++step) {
      const engine::KernelCall& call = calls_[step];
      if (call.delegate < 0) continue;
      const engine::Delegate& delegate = delegates_[static_cast<size_t>(call.delegate)];
      const int scratch = plan_.scratch_of_call[step];
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

  /// Returns true if another call that runs at the same time as the delegate of call `step` has the
  /// range as operand or result: a call of its overlap, or a delegate in whose overlap it is.
  bool is_used_at_same_time(int range, int step) const {
    const auto is_range = [&](ValueId value) {
      const int own = plan_.range_of_value[static_cast<size_t>(value)];
      return own >= 0 && (own == range || plan_.ranges[static_cast<size_t>(own)].outer == range);
    };
    const int last = step + calls_[static_cast<size_t>(step)].overlap;
    for (int at = 0; at <= last; ++at) {
      const engine::KernelCall& call = calls_[static_cast<size_t>(at)];
      if (at == step || at + call.overlap < step) continue;
      bool uses = is_range(call.out) || std::ranges::any_of(call.extra_outputs, is_range);
      engine::for_each_operand(call, [&](ValueId value) { uses = uses || is_range(value); });
      if (uses) return true;
    }
    return false;
  }

  /// Moves the value into the scratch of the delegate, if the arena does not grow. Allowed for an
  /// input whose last read is this call (which may overwrite it), and for an output that this call
  /// writes first.
  void share(ValueId value, const engine::DelegateIo& io, int scratch, int step, bool is_input) {
    const int index = plan_.range_of_value[static_cast<size_t>(value)];
    if (index < 0 || graph_.is_input(aliasing_.source_of(value)) ||
        graph_.is_state(aliasing_.source_of(value)))
      return;
    ArenaRange& range = plan_.ranges[static_cast<size_t>(index)];
    const int last = step + calls_[static_cast<size_t>(step)].overlap;
    const bool fits = range.outer < 0 && range.buffer.bytes == io.bytes &&
                      io.offset % abi::kArenaAlignment == 0 &&
                      (is_input ? range.buffer.life.last == last : range.buffer.life.first == step);
    if (!fits || is_state_range(index) || is_used_at_same_time(index, step)) return;
    const int64_t before = lower_bound_bytes();
    ArenaRange& outer = plan_.ranges[static_cast<size_t>(scratch)];
    const ArenaRange old_range = range, old_outer = outer;
    outer.buffer.life.add(range.buffer.life.first);
    outer.buffer.life.add(range.buffer.life.last);
    range.buffer.bytes = 0;
    range.outer = scratch;
    range.outer_offset = io.offset;
    if (lower_bound_bytes() <= before) return;
    range = old_range;
    outer = old_outer;
  }

  bool is_state_range(int index) const {
    return std::ranges::any_of(graph_.states(), [&](const ir::State& state) {
      return plan_.range_of_value[static_cast<size_t>(state.value)] == index;
    });
  }

  int64_t lower_bound_bytes() const {
    return memory::lower_bound_bytes(range_buffers(), abi::kArenaAlignment, {});
  }

  const ir::Graph& graph_;
  const std::vector<engine::KernelCall>& calls_;
  const std::vector<engine::Delegate>& delegates_;
  BufferAliasing aliasing_;
  const std::optional<int64_t> states_offset_min_;
  std::vector<int> range_of_buffer_;
  MemoryPlan plan_;
};

}  // namespace

int64_t live_bytes(const MemoryPlan& memory_plan, size_t step) {
  int64_t bytes = 0;
  for (const ArenaRange& range : memory_plan.ranges) {
    if (range.buffer.life.contains(static_cast<int>(step))) bytes += range.buffer.bytes;
  }
  return bytes;
}

MemoryPlan plan_memory(const engine::Lowered& lowered, std::optional<int64_t> states_offset_min) {
  return MemoryPlanner(lowered, states_offset_min).run();
}

}  // namespace thimble::memory
