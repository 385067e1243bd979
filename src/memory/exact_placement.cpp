// SPDX-License-Identifier: Apache-2.0
#include "memory/exact_placement.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace thimble::memory {
namespace {

constexpr size_t kBuffersMax = 400;  // limits the recursion depth, one level per buffer

/// Buffers that are live at the same step, none of which may overlap another.
using Section = std::vector<int>;

std::vector<Section> sections_of(const Problem& problem) {
  std::set<Section> all;
  for (const Buffer& start : problem.buffers) {
    const int step = start.life.first;
    // An operand and its result may share bytes, so a section contains only one of them.
    std::set<int> operands, results;
    for (const Overlap& o : problem.overlaps) {
      if (problem.buffers[static_cast<size_t>(o.result)].life.first != step) continue;
      operands.insert(o.operand);
      results.insert(o.result);
    }
    for (const std::set<int>& left_out : {operands, results}) {
      Section section;
      for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const Buffer& b = problem.buffers[i];
        const bool live = b.bytes > 0 && b.life.contains(step);
        if (live && !left_out.contains(static_cast<int>(i))) section.push_back(static_cast<int>(i));
      }
      all.insert(std::move(section));
    }
  }
  // A section that is contained in another one adds no constraint.
  std::vector<Section> widest;
  for (const Section& section : all) {
    const auto contains = [&](const Section& other) {
      return other.size() > section.size() && std::ranges::includes(other, section);
    };
    if (std::ranges::none_of(all, contains)) widest.push_back(section);
  }
  // The largest sections first: most branches fail there.
  const auto bytes = [&](const Section& section) {
    int64_t sum = 0;
    for (const int i : section) sum += problem.buffers[static_cast<size_t>(i)].bytes;
    return sum;
  };
  std::ranges::stable_sort(widest, std::ranges::greater(), bytes);
  return widest;
}

/// Depth-first search for one problem and one preference order of buffers. Buffers are numbered by
/// their place in that order. What a branch changes is kept on two stacks, and restored after it.
class Search {
 public:
  /// Searches for placements with a peak below `peak`; stops when it reaches `bound`.
  Search(const Problem& problem, const std::vector<Section>& sections, std::vector<int> order,
         int64_t peak, int64_t bound, int64_t* steps)
      : alignment_(problem.alignment),
        order_(std::move(order)),
        limit_(peak - problem.alignment),
        bound_(bound),
        steps_(steps),
        low_(order_.size(), 0),
        offset_(order_.size(), -1),
        neighbors_(order_.size()),
        sections_of_(order_.size()),
        next_(order_.size() + 1),
        previous_(order_.size() + 1) {
    std::vector<int> rank(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) rank[index(order_[i])] = static_cast<int>(i);
    for (const int i : order_) size_.push_back(problem.buffers[index(i)].bytes);
    for (size_t i = 0; i < order_.size(); ++i) {
      for (const Neighbor& n : problem.neighbors[index(order_[i])]) {
        neighbors_[i].push_back({rank[index(n.other)], n.below});
      }
    }
    const auto count = static_cast<int>(order_.size());
    for (int i = 0; i <= count; ++i) {
      next_[index(i)] = i == count ? 0 : i + 1;
      previous_[index(i)] = i == 0 ? count : i - 1;
    }
    for (size_t s = 0; s < sections.size(); ++s) {
      OpenSection& open = sections_.emplace_back();
      for (const int i : sections[s]) {
        open.members.push_back(rank[index(i)]);
        open.to_come += problem.buffers[index(i)].bytes;
        sections_of_[index(rank[index(i)])].push_back(static_cast<int>(s));
      }
    }
  }

  /// Returns true if the search was complete: best() is then optimal, or empty if no placement has
  /// a lower peak.
  bool run() {
    if (fits(0)) descend(0, -1, order_.size());
    return !done();
  }
  /// Returns the offsets of the buffers of the problem.
  [[nodiscard]] std::vector<int64_t> best() const {
    std::vector<int64_t> offsets(best_.size());
    for (size_t i = 0; i < best_.size(); ++i) offsets[index(order_[i])] = best_[i];
    return offsets;
  }
  [[nodiscard]] int64_t best_peak() const { return limit_ + alignment_; }

 private:
  static constexpr int64_t kPlaced = INT64_MAX / 4;  // higher than any offset

  struct Below {
    int other;
    int64_t bytes;  // `other` must start at least this much higher, if it is placed later
  };
  struct OpenSection {
    std::vector<int> members;
    int64_t top = 0;      // of the placed buffers
    int64_t to_come = 0;  // bytes of the unplaced buffers
    size_t low = 0;       // index of a member that was low enough when fits() looked last
  };
  struct OldLow {
    int buffer;
    int64_t low;
  };
  struct OldTop {
    int section;
    int64_t top;
  };

  static size_t index(int i) { return static_cast<size_t>(i); }
  bool done() const { return gave_up_ || limit_ < bound_; }

  /// Returns false if the unplaced buffers of a section cannot fit above `current` and above the
  /// placed buffers.
  bool fits(int64_t current) {
    for (OpenSection& section : sections_) {
      if (section.to_come == 0) continue;
      const int64_t highest = limit_ - section.to_come;
      if (std::max(current, section.top) > highest) return false;
      // The lowest buffer of the section must be low enough. It is rarely another one than before.
      const auto is_low = [&](int i) { return low_[index(i)] <= highest; };
      if (is_low(section.members[section.low])) continue;
      const auto found = std::ranges::find_if(section.members, is_low);
      if (found == section.members.end()) return false;
      section.low = static_cast<size_t>(found - section.members.begin());
    }
    return true;
  }

  void descend(int64_t current, int last_rank, size_t left) {
    if (left == 0) {
      best_ = offset_;
      int64_t peak = 0;
      for (size_t i = 0; i < size_.size(); ++i) peak = std::max(peak, offset_[i] + size_[i]);
      limit_ = peak - alignment_;
      return;
    }
    const int end = static_cast<int>(size_.size());
    int64_t first_end = INT64_MAX;
    for (int i = next_[index(end)]; i != end; i = next_[index(i)]) {
      first_end = std::min(first_end, low_[index(i)] + size_[index(i)]);
    }
    for (int i = next_[index(end)]; i != end && !done(); i = next_[index(i)]) {
      const int64_t at = low_[index(i)];
      if (at < current || at >= first_end) continue;
      if (at == current && i < last_rank) continue;
      if (at + size_[index(i)] > limit_) continue;
      if (--*steps_ < 0) {
        gave_up_ = true;
        return;
      }
      const size_t lows = old_lows_.size(), tops = old_tops_.size();
      next_[index(previous_[index(i)])] = next_[index(i)];
      previous_[index(next_[index(i)])] = previous_[index(i)];
      if (raise_neighbors(i, at)) {
        place(i, at);
        if (fits(at)) descend(at, i, left - 1);
        unplace(i, tops);
      }
      next_[index(previous_[index(i)])] = previous_[index(next_[index(i)])] = i;
      for (; old_lows_.size() > lows; old_lows_.pop_back()) {
        low_[index(old_lows_.back().buffer)] = old_lows_.back().low;
      }
    }
  }

  /// Raises the lowest offsets of the neighbors. Returns false if one does not fit then.
  bool raise_neighbors(int i, int64_t at) {
    old_lows_.push_back({i, at});
    low_[index(i)] = kPlaced;
    for (const Below& n : neighbors_[index(i)]) {
      int64_t& low = low_[index(n.other)];
      if (low >= at + n.bytes) continue;
      if (at + n.bytes + size_[index(n.other)] > limit_) return false;
      old_lows_.push_back({n.other, low});
      low = at + n.bytes;
    }
    return true;
  }

  void place(int i, int64_t at) {
    offset_[index(i)] = at;
    for (const int s : sections_of_[index(i)]) {
      OpenSection& section = sections_[index(s)];
      old_tops_.push_back({s, section.top});
      section.top = std::max(section.top, at + size_[index(i)]);
      section.to_come -= size_[index(i)];
    }
  }

  /// Undoes place(), before which old_tops_ had `tops` elements.
  void unplace(int i, size_t tops) {
    for (; old_tops_.size() > tops; old_tops_.pop_back()) {
      OpenSection& section = sections_[index(old_tops_.back().section)];
      section.top = old_tops_.back().top;
      section.to_come += size_[index(i)];
    }
  }

  const int64_t alignment_;
  const std::vector<int> order_;
  int64_t limit_;  // upper bound of the peak
  const int64_t bound_;
  int64_t* const steps_;
  bool gave_up_ = false;
  std::vector<int64_t> size_;
  std::vector<int64_t> low_;     // lowest offset that the placed neighbors allow, or kPlaced
  std::vector<int64_t> offset_;  // -1: not placed
  std::vector<std::vector<Below>> neighbors_;
  std::vector<OpenSection> sections_;
  std::vector<std::vector<int>> sections_of_;
  std::vector<int> next_, previous_;  // list of the unplaced buffers; it starts at the last element
  std::vector<OldLow> old_lows_;
  std::vector<OldTop> old_tops_;
  std::vector<int64_t> best_;
};

struct Outcome {
  bool complete = false;  // proven: no placement has a peak below `peak`
  int64_t peak = 0;
  std::vector<int64_t> offsets;  // empty: no better placement was found
};

/// Tries several preference orders: a problem that is hard with one order is often easy with
/// another.
void solve(const Problem& problem, int64_t bound, int64_t steps, Outcome* outcome) {
  if (problem.buffers.size() > kBuffersMax) return;
  using Weight = std::function<int64_t(const Buffer&)>;
  const Weight weights[] = {
      [&](const Buffer& b) { return b.bytes * b.life.steps(); },
      [](const Buffer& b) { return b.bytes; },
      [](const Buffer& b) { return -int64_t{b.life.first}; },
      [](const Buffer& b) { return int64_t{b.life.last}; },
      [](const Buffer& b) { return int64_t{b.life.first}; },
      [](const Buffer& b) { return -int64_t{b.life.last}; },
  };
  const std::vector<Section> sections = sections_of(problem);
  for (const Weight& weight : weights) {
    std::vector<int> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) {
      return weight(problem.buffers[static_cast<size_t>(a)]) >
             weight(problem.buffers[static_cast<size_t>(b)]);
    });
    int64_t share = steps / static_cast<int64_t>(std::size(weights));
    Search search(problem, sections, std::move(order), outcome->peak, bound, &share);
    outcome->complete = search.run();
    outcome->peak = search.best_peak();
    std::vector<int64_t> best = search.best();
    if (!best.empty()) outcome->offsets = std::move(best);
    if (outcome->complete || outcome->peak <= bound) return;
  }
}

/// Returns buffers that fit below `peak` regardless of the other offsets, in order of removal. They
/// are placed last, in reverse order.
std::vector<int> always_placeable(const Problem& problem, int64_t peak) {
  std::vector<int> easy;
  std::vector<bool> gone(problem.buffers.size(), false);
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (gone[i]) continue;
      // Number of aligned offsets below the peak, minus those that each neighbor may forbid.
      int64_t free = (peak - problem.buffers[i].bytes) / problem.alignment + 1;
      for (const Neighbor& n : problem.neighbors[i]) {
        if (!gone[static_cast<size_t>(n.other)]) {
          free -= (n.above + n.below) / problem.alignment - 1;
        }
      }
      if (free <= 0) continue;
      gone[i] = found = true;
      easy.push_back(static_cast<int>(i));
    }
  }
  return easy;
}

/// Returns the remaining buffers as connected components: no buffer is live together with a buffer
/// of another component.
std::vector<std::vector<int>> components(const Problem& problem, const std::vector<int>& left_out) {
  std::vector<bool> seen(problem.buffers.size(), false);
  for (const int i : left_out) seen[static_cast<size_t>(i)] = true;
  std::vector<std::vector<int>> result;
  for (size_t start = 0; start < seen.size(); ++start) {
    if (seen[start]) continue;
    std::vector<int> part = {static_cast<int>(start)};
    seen[start] = true;
    for (size_t next = 0; next < part.size(); ++next) {
      for (const Neighbor& n : problem.neighbors[static_cast<size_t>(part[next])]) {
        if (seen[static_cast<size_t>(n.other)]) continue;
        seen[static_cast<size_t>(n.other)] = true;
        part.push_back(n.other);
      }
    }
    std::ranges::sort(part);
    result.push_back(std::move(part));
  }
  return result;
}

/// Returns true if the buffers that are live in some range of steps need `peak` bytes by
/// themselves. This is a lower bound for the whole problem. Starts with small ranges around the
/// steps with the most live bytes.
bool proves_bound(const Problem& problem, int64_t peak, int64_t bound, int64_t steps) {
  std::vector<std::pair<int64_t, int>> fullest;
  for (const Buffer& start : problem.buffers) {
    int64_t sum = 0;
    for (const Buffer& b : problem.buffers) {
      if (b.life.contains(start.life.first)) sum += b.bytes;
    }
    fullest.emplace_back(-sum, start.life.first);
  }
  std::ranges::sort(fullest);
  fullest.erase(std::unique(fullest.begin(), fullest.end()), fullest.end());
  constexpr size_t kCenters = 4;
  constexpr int kDistanceMax = 8;
  if (fullest.size() > kCenters) fullest.resize(kCenters);
  for (int distance = 1; distance <= kDistanceMax; distance *= 2) {
    for (const auto& [sum, step] : fullest) {
      const Lifetime around = {step - distance, step + distance};
      std::vector<int> members;
      for (size_t i = 0; i < problem.buffers.size(); ++i) {
        if (problem.buffers[i].life.overlaps(around)) members.push_back(static_cast<int>(i));
      }
      if (members.size() == problem.buffers.size()) continue;
      Outcome outcome = {false, peak, {}};
      solve(restrict_to(problem, members), bound, steps, &outcome);
      if (outcome.complete && outcome.offsets.empty()) return true;
    }
  }
  return false;
}

}  // namespace

void improve(const Problem& problem, int64_t steps, Placement* placement) {
  const int64_t bound = placement->lower_bound_bytes;
  const std::vector<int> easy = always_placeable(problem, bound);
  std::vector<int64_t> offsets(problem.buffers.size(), -1);
  int64_t proven = bound, peak = bound;
  for (const std::vector<int>& members : components(problem, easy)) {
    const Problem part = restrict_to(problem, members);
    // A component gains nothing from a peak below that of another component.
    Outcome outcome = {false, placement->peak_bytes, {}};
    solve(part, peak, steps / 4 * 3, &outcome);
    const bool open = !outcome.complete && outcome.peak > peak;
    if (open) outcome.complete = proves_bound(part, outcome.peak, bound, steps / 64);
    for (size_t k = 0; k < members.size(); ++k) {
      const auto member = static_cast<size_t>(members[k]);
      offsets[member] = outcome.offsets.empty() ? placement->offsets[member] : outcome.offsets[k];
    }
    if (outcome.complete) proven = std::max(proven, outcome.peak);
    peak = std::max(peak, outcome.peak);
  }
  placement->lower_bound_bytes = proven;
  if (peak >= placement->peak_bytes) return;
  for (size_t k = easy.size(); k-- > 0;) {
    offsets[static_cast<size_t>(easy[k])] = first_fit(problem, offsets, easy[k]);
  }
  placement->offsets = std::move(offsets);
  placement->peak_bytes = peak;
}

}  // namespace thimble::memory
