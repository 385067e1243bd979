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

/// Depth-first search for one problem and one preference order of buffers.
class Search {
 public:
  /// Searches for placements with a peak below `peak`; stops when it distancees `bound`.
  Search(const Problem& problem, std::vector<int> order, int64_t peak, int64_t bound,
         int64_t* steps)
      : problem_(problem),
        order_(std::move(order)),
        rank_(order_.size()),
        sections_(sections_of(problem)),
        limit_(peak - problem.alignment),
        bound_(bound),
        steps_(steps),
        low_(problem.buffers.size(), 0),
        offset_(problem.buffers.size(), -1),
        top_(sections_.size(), 0),
        to_come_(sections_.size(), 0),
        sections_of_(problem.buffers.size()) {
    for (size_t i = 0; i < order_.size(); ++i) rank_[index(order_[i])] = static_cast<int>(i);
    for (size_t s = 0; s < sections_.size(); ++s) {
      for (const int i : sections_[s]) {
        to_come_[s] += size(i);
        sections_of_[index(i)].push_back(s);
      }
    }
  }

  /// Returns true if the search was complete: best() is then optimal, or empty if no placement has
  /// a lower peak.
  bool run() {
    if (fits(0)) descend(0, -1, order_.size());
    return !done();
  }
  [[nodiscard]] const std::vector<int64_t>& best() const { return best_; }
  [[nodiscard]] int64_t best_peak() const { return limit_ + problem_.alignment; }

 private:
  static constexpr int64_t kPlaced = INT64_MAX / 4;  // higher than any offset

  static size_t index(int i) { return static_cast<size_t>(i); }
  int64_t size(int i) const { return problem_.buffers[index(i)].bytes; }
  bool done() const { return gave_up_ || limit_ < bound_; }

  /// Returns false if the unplaced buffers of a section cannot fit above `current` and above the
  /// placed buffers.
  bool fits(int64_t current) const {
    for (size_t s = 0; s < sections_.size(); ++s) {
      if (to_come_[s] == 0) continue;
      if (std::max(current, top_[s]) + to_come_[s] > limit_) return false;
      int64_t lowest = limit_;
      for (const int i : sections_[s]) lowest = std::min(lowest, low_[index(i)]);
      if (lowest + to_come_[s] > limit_) return false;
    }
    return true;
  }

  void descend(int64_t current, int last_rank, size_t left) {
    if (left == 0) {
      best_ = offset_;
      int64_t peak = 0;
      for (const int i : order_) peak = std::max(peak, offset_[index(i)] + size(i));
      limit_ = peak - problem_.alignment;
      return;
    }
    int64_t first_end = INT64_MAX;
    for (const int i : order_) first_end = std::min(first_end, low_[index(i)] + size(i));
    for (size_t rank = 0; rank < order_.size() && !done(); ++rank) {
      const int i = order_[rank];
      const int64_t at = low_[index(i)];
      if (at < current || at >= first_end) continue;
      if (at == current && static_cast<int>(rank) < last_rank) continue;
      if (at + size(i) > limit_) continue;
      if (--*steps_ < 0) {
        gave_up_ = true;
        return;
      }
      place(i, at, static_cast<int>(rank), left);
    }
  }

  void place(int i, int64_t at, int rank, size_t left) {
    std::vector<std::pair<int, int64_t>> lows;
    std::vector<std::pair<size_t, int64_t>> tops;
    bool possible = true;
    offset_[index(i)] = at;
    low_[index(i)] = kPlaced;
    for (const Neighbor& n : problem_.neighbors[index(i)]) {
      int64_t& low = low_[index(n.other)];
      if (low >= at + n.below) continue;
      lows.emplace_back(n.other, low);
      low = at + n.below;
      possible = possible && low + size(n.other) <= limit_;
    }
    for (const size_t s : sections_of_[index(i)]) {
      tops.emplace_back(s, top_[s]);
      top_[s] = std::max(top_[s], at + size(i));
      to_come_[s] -= size(i);
    }
    if (possible && fits(at)) descend(at, rank, left - 1);
    for (const auto& [s, top] : tops) {
      top_[s] = top;
      to_come_[s] += size(i);
    }
    for (const auto& [other, low] : lows) low_[index(other)] = low;
    low_[index(i)] = at;
    offset_[index(i)] = -1;
  }

  const Problem& problem_;
  const std::vector<int> order_;
  std::vector<int> rank_;
  const std::vector<Section> sections_;
  int64_t limit_;  // upper bound of the peak
  const int64_t bound_;
  int64_t* const steps_;
  bool gave_up_ = false;
  std::vector<int64_t> low_;     // lowest offset that the placed neighbors allow, or kPlaced
  std::vector<int64_t> offset_;  // -1: not placed
  std::vector<int64_t> top_, to_come_;
  std::vector<std::vector<size_t>> sections_of_;
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
  for (const Weight& weight : weights) {
    std::vector<int> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) {
      return weight(problem.buffers[static_cast<size_t>(a)]) >
             weight(problem.buffers[static_cast<size_t>(b)]);
    });
    int64_t share = steps / static_cast<int64_t>(std::size(weights));
    Search search(problem, std::move(order), outcome->peak, bound, &share);
    outcome->complete = search.run();
    outcome->peak = search.best_peak();
    if (!search.best().empty()) outcome->offsets = search.best();
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
