// SPDX-License-Identifier: Apache-2.0
#include "memory/execution_order.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace thimble::memory {
namespace {

class Orders {
 public:
  Orders(std::span<const Step> steps, std::span<const ValueLifetime> values)
      : steps_(steps), values_(values), readers_(values.size()), maker_(values.size(), -1) {
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const int value : steps[i].writes) maker_[index(value)] = static_cast<int>(i);
      for (const int value : steps[i].reads) readers_[index(value)].push_back(static_cast<int>(i));
    }
  }

  using Done = std::vector<bool>;
  struct State {
    int64_t peak = 0, live = 0;
    int parent = -1;  // index of the previous state in the list of all states
    int last = -1;    // the step executed last
  };

  /// Values without a producer are available from the start; their memory is not counted.
  [[nodiscard]] bool ready(const Done& done, int i) const {
    return std::ranges::all_of(steps_[index(i)].reads, [&](int value) {
      return maker_[index(value)] < 0 || done[index(maker_[index(value)])];
    });
  }

  [[nodiscard]] State after(const State& state, const Done& done, int i) const {
    const Step& one = steps_[index(i)];
    State next = state;
    for (const int value : one.writes) next.live += values_[index(value)].bytes;
    int64_t here = next.live + one.scratch_bytes;
    if (!one.reads.empty() && dies(done, one.reads[0], i)) here -= one.shared_bytes;
    next.peak = std::max(next.peak, here);
    for (size_t k = 0; k < one.reads.size(); ++k) {
      const int value = one.reads[k];
      const bool again = std::find(one.reads.begin(), one.reads.begin() + static_cast<long>(k),
                                   value) != one.reads.begin() + static_cast<long>(k);
      if (!again && dies(done, value, i)) next.live -= values_[index(value)].bytes;
    }
    for (const int value : one.writes) {
      const bool unread = readers_[index(value)].empty() && !values_[index(value)].live_to_end;
      if (unread) next.live -= values_[index(value)].bytes;
    }
    next.last = i;
    return next;
  }

 private:
  static size_t index(int i) { return static_cast<size_t>(i); }

  bool dies(const Done& done, int value, int now) const {
    if (maker_[index(value)] < 0 || values_[index(value)].live_to_end) return false;
    return std::ranges::all_of(readers_[index(value)],
                               [&](int reader) { return reader == now || done[index(reader)]; });
  }

  std::span<const Step> steps_;
  std::span<const ValueLifetime> values_;
  std::vector<std::vector<int>> readers_;  // reading steps, by value
  std::vector<int> maker_;                 // producing step, by value; -1: none
};

}  // namespace

int64_t peak_of(std::span<const Step> steps, std::span<const ValueLifetime> values,
                std::span<const int> order) {
  const Orders orders(steps, values);
  Orders::Done done(steps.size(), false);
  Orders::State state;
  for (const int i : order) {
    state = orders.after(state, done, i);
    done[static_cast<size_t>(i)] = true;
  }
  return state.peak;
}

std::optional<std::vector<int>> better_order(std::span<const Step> steps,
                                             std::span<const ValueLifetime> values) {
  std::vector<int> given(steps.size());
  std::iota(given.begin(), given.end(), 0);
  const int64_t limit = peak_of(steps, values, given);
  const Orders orders(steps, values);
  std::vector<Orders::State> all = {{}};
  std::map<Orders::Done, int> open = {{Orders::Done(steps.size(), false), 0}};
  for (size_t count = 0; count < steps.size(); ++count) {
    std::map<Orders::Done, Orders::State> next;
    for (const auto& [done, at] : open) {
      for (const int i : given) {
        if (done[static_cast<size_t>(i)] || !orders.ready(done, i)) continue;
        Orders::State state = orders.after(all[static_cast<size_t>(at)], done, i);
        if (state.peak >= limit) continue;
        state.parent = at;
        Orders::Done then = done;
        then[static_cast<size_t>(i)] = true;
        const auto [found, is_new] = next.try_emplace(std::move(then), state);
        if (!is_new && state.peak < found->second.peak) found->second = state;
      }
    }
    std::vector<std::pair<Orders::Done, Orders::State>> kept(next.begin(), next.end());
    std::ranges::stable_sort(kept, [](const auto& a, const auto& b) {
      return std::pair(a.second.peak, a.second.live) < std::pair(b.second.peak, b.second.live);
    });
    if (kept.size() > kBeam) kept.resize(kBeam);
    open.clear();
    for (const auto& [done, state] : kept) {
      open[done] = static_cast<int>(all.size());
      all.push_back(state);
    }
  }
  if (open.empty()) return {};
  std::vector<int> order;
  for (int at = open.begin()->second; at > 0; at = all[static_cast<size_t>(at)].parent) {
    order.push_back(all[static_cast<size_t>(at)].last);
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace thimble::memory
