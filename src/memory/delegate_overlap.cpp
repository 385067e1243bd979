// SPDX-License-Identifier: Apache-2.0
#include "memory/delegate_overlap.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "memory/buffer_aliasing.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

/// Upper bound of abi::DelegateRecord::overlap.
constexpr int kOverlapMax = 255;
/// An overlap must save this share of the run.
constexpr double kSavedMin = 0.001;

/// The calls that each call needs. Calls that read a state, or compute its next value, keep their
/// order, because the next value overwrites the state.
class Dependences {
 public:
  explicit Dependences(const engine::Lowered& lowered)
      : calls_of_value_(lowered.graph.value_count()), needs_(lowered.calls.size()) {
    const ir::Graph& graph = lowered.graph;
    std::vector<bool> of_state(graph.value_count(), false);
    for (const ir::State& state : graph.states()) of_state[index(state.value)] = true;
    for (size_t i = 0; i < lowered.calls.size(); ++i) {
      calls_of_value_[index(lowered.calls[i].out)] = {i};
      for (const ValueId more : lowered.calls[i].extra_outputs) calls_of_value_[index(more)] = {i};
    }
    // Results without a call are views of their operands.
    for (const ir::Op& op : graph.ops()) {
      std::vector<size_t>& sources = calls_of_value_[index(op.output)];
      if (!sources.empty()) continue;
      for (const ValueId operand : op.inputs) {
        if (operand == ir::kNoValue) continue;
        const std::vector<size_t>& more = calls_of_value_[index(operand)];
        sources.insert(sources.end(), more.begin(), more.end());
        if (of_state[index(operand)]) of_state[index(op.output)] = true;
      }
    }
    std::vector<bool> uses_state(lowered.calls.size(), false);
    for (const ir::State& state : graph.states()) {
      for (const size_t call : calls_of_value_[index(state.next)]) uses_state[call] = true;
    }
    std::optional<size_t> last;
    for (size_t i = 0; i < lowered.calls.size(); ++i) {
      engine::for_each_operand(lowered.calls[i], [&](ValueId value) {
        const std::vector<size_t>& sources = calls_of_value_[index(value)];
        needs_[i].insert(needs_[i].end(), sources.begin(), sources.end());
        if (of_state[index(value)]) uses_state[i] = true;
      });
      if (!uses_state[i]) continue;
      if (last) needs_[i].push_back(*last);
      last = i;
    }
  }

  [[nodiscard]] const std::vector<size_t>& of(size_t call) const { return needs_[call]; }

 private:
  static size_t index(ValueId value) { return static_cast<size_t>(value); }

  std::vector<std::vector<size_t>> calls_of_value_;
  std::vector<std::vector<size_t>> needs_;
};

/// An order of the calls, and the number of calls that run while the delegate works.
struct Order {
  std::vector<size_t> calls;
  int overlap = 0;
  double time = 0;  // of these calls
};

/// kAny moves calls to the delegate; kNone takes those that follow it.
enum class Moves : uint8_t { kAny, kNone };

/// Chooses the calls for one delegate: those that follow it anyway, then those before it from the
/// last one on, then later ones, until the core has work for as long as the device.
class OverlapSearch {
 public:
  OverlapSearch(const engine::Lowered& lowered, const std::vector<double>& times, size_t at)
      : lowered_(lowered),
        times_(times),
        needs_(lowered),
        at_(at),
        is_fixed_(lowered.calls.size(), false),
        is_before_(lowered.calls.size(), false) {
    for (size_t i = 0; i < lowered.calls.size(); ++i) {
      const auto overlap = static_cast<size_t>(lowered.calls[i].overlap);
      if (overlap == 0) continue;
      for (size_t k = i; k <= i + overlap; ++k) is_fixed_[k] = true;
    }
    for (size_t i = 0; i <= at; ++i) is_before_[i] = true;
  }

  [[nodiscard]] bool is_fixed() const { return is_fixed_[at_]; }

  Order run(Moves moves) {
    add_following(/*skips=*/false);
    if (moves == Moves::kAny) {
      add_preceding();
      add_following(/*skips=*/true);
    }
    std::ranges::sort(chosen_);
    Order order;
    order.overlap = static_cast<int>(chosen_.size());
    order.time = time_;
    const auto add_others = [&](size_t from, size_t end) {
      for (size_t i = from; i < end; ++i) {
        if (!std::ranges::binary_search(chosen_, i)) order.calls.push_back(i);
      }
    };
    add_others(0, at_ + 1);
    order.calls.insert(order.calls.end(), chosen_.begin(), chosen_.end());
    add_others(at_ + 1, lowered_.calls.size());
    return order;
  }

 private:
  [[nodiscard]] bool has_enough() const {
    return time_ >= times_[at_] || chosen_.size() == kOverlapMax;
  }

  [[nodiscard]] bool can_run_beside(size_t call) const {
    const engine::KernelCall& other = lowered_.calls[call];
    if (is_fixed_[call]) return false;
    if (other.delegate < 0) return true;
    const auto engine_of = [&](const engine::KernelCall& of) -> const std::string& {
      return lowered_.delegates[static_cast<size_t>(of.delegate)].engine;
    };
    return engine_of(other) != engine_of(lowered_.calls[at_]);
  }

  void choose(size_t call) {
    chosen_.push_back(call);
    time_ += times_[call];
  }

  /// Adds calls after the delegate whose operands exist when the device starts. Unless it `skips`,
  /// it stops at the first call that needs the delegate.
  void add_following(bool skips) {
    std::vector<bool> is_known = is_before_;
    is_known[at_] = false;  // its results are not
    for (const size_t call : chosen_) is_known[call] = true;
    for (size_t i = at_ + 1; i < lowered_.calls.size() && !has_enough(); ++i) {
      if (is_known[i]) continue;
      const bool ready =
          std::ranges::all_of(needs_.of(i), [&](size_t need) { return is_known[need]; });
      if (ready && can_run_beside(i)) {
        choose(i);
        is_known[i] = true;
      } else if (!skips) {
        return;
      }
    }
  }

  /// Adds calls before the delegate that neither it nor a call that stays before it needs.
  void add_preceding() {
    std::vector<bool> is_needed(lowered_.calls.size(), false);
    const auto keep = [&](size_t call) {
      for (const size_t need : needs_.of(call)) is_needed[need] = true;
    };
    keep(at_);
    for (size_t i = at_; i-- > 0;) {
      if (!is_needed[i] && !has_enough() && can_run_beside(i)) {
        choose(i);
      } else {
        keep(i);
      }
    }
  }

  const engine::Lowered& lowered_;
  const std::vector<double>& times_;
  Dependences needs_;
  size_t at_;
  std::vector<bool> is_fixed_;   // a delegate works during the call, or it is that delegate
  std::vector<bool> is_before_;  // the delegate, and calls before it
  std::vector<size_t> chosen_;
  double time_ = 0;
};

/// The calls of a program with one more overlap, and their times.
struct OrderedCalls {
  std::vector<engine::KernelCall> calls;
  std::vector<double> times;
};

OrderedCalls ordered(const std::vector<engine::KernelCall>& calls, const std::vector<double>& times,
                     size_t at, const Order& order) {
  OrderedCalls result;
  for (const size_t call : order.calls) {
    result.calls.push_back(calls[call]);
    result.times.push_back(times[call]);
    if (call == at) result.calls.back().overlap = order.overlap;
  }
  return result;
}

}  // namespace

double overlap_delegates(OverlapOptions options, engine::Lowered* lowered,
                         MemoryPlan* memory_plan) {
  const double total = std::accumulate(options.call_times.begin(), options.call_times.end(), 0.0);
  const double arena_bytes = static_cast<double>(memory_plan->placement.peak_bytes);
  double saved = 0;
  /// Replaces *memory_plan if the new order of the calls is valid and worth its memory.
  const auto plan_order = [&](double more) {
    if (!BufferAliasing::views_fit(*lowered)) return false;
    MemoryPlan plan = plan_memory(*lowered);
    // Two parts of one value, such as the operands of a concatenation, may share a cache line.
    if (find_overlap_conflict(*lowered, plan)) return false;
    const int64_t bytes = plan.placement.peak_bytes;
    if (bytes > memory_plan->placement.peak_bytes) {
      const double growth = (static_cast<double>(bytes) - arena_bytes) / arena_bytes;
      if (options.smallest || growth > (saved + more) / total) return false;
      if (options.fits && !options.fits(plan)) return false;
    }
    *memory_plan = std::move(plan);
    return true;
  };
  const auto try_order = [&](size_t at, const Order& order) {
    const double more = std::min(order.time, options.call_times[at]);
    if (order.overlap == 0 || more < kSavedMin * total) return false;
    OrderedCalls tried = ordered(lowered->calls, options.call_times, at, order);
    std::swap(lowered->calls, tried.calls);
    if (!plan_order(more)) {
      std::swap(lowered->calls, tried.calls);
      return false;
    }
    options.call_times = std::move(tried.times);
    saved += more;
    return true;
  };
  // An accepted order moves calls, so that each delegate is found again by its row.
  for (size_t row = 0; row < lowered->delegates.size(); ++row) {
    if (!lowered->delegates[row].runs_in_background) continue;
    const auto call =
        std::ranges::find(lowered->calls, static_cast<int>(row), &engine::KernelCall::delegate);
    const auto at = static_cast<size_t>(call - lowered->calls.begin());
    for (const Moves moves : {Moves::kAny, Moves::kNone}) {
      OverlapSearch search(*lowered, options.call_times, at);
      if (search.is_fixed() || try_order(at, search.run(moves))) break;
    }
  }
  assert(!find_overlap_conflict(*lowered, *memory_plan));
  return saved;
}

}  // namespace thimble::memory
