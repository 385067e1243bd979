#include "plan/planner.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace thimble::plan {
namespace {

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool live_together(const Buffer& a, const Buffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t lower_bound(std::span<const Buffer> buffers) {
  // Sizes change only where a buffer begins, so these steps are enough.
  int64_t bound = 0;
  for (const Buffer& at : buffers) {
    int64_t sum = 0;
    for (const Buffer& b : buffers) {
      if (b.first <= at.first && at.first <= b.last) sum += b.bytes;
    }
    bound = std::max(bound, sum);
  }
  return bound;
}

/// The problem with rounded sizes and, per buffer, whom it conflicts with.
struct Problem {
  std::vector<Buffer> buffers;
  std::vector<std::vector<int>> conflicts;
};

Problem make_problem(std::span<const Buffer> buffers, int64_t alignment) {
  Problem problem;
  for (const Buffer& b : buffers) {
    problem.buffers.push_back({round_up(b.bytes, alignment), b.first, b.last});
  }
  problem.conflicts.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t k = 0; k < buffers.size(); ++k) {
      const bool both = problem.buffers[i].bytes > 0 && problem.buffers[k].bytes > 0;
      if (i != k && both && live_together(problem.buffers[i], problem.buffers[k])) {
        problem.conflicts[i].push_back(static_cast<int>(k));
      }
    }
  }
  return problem;
}

/// Lowest offset at which buffer i fits between the neighbours that are placed (offset >= 0).
int64_t first_fit(const Problem& problem, const std::vector<int64_t>& offsets, int i) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const int k : problem.conflicts[static_cast<size_t>(i)]) {
    const int64_t offset = offsets[static_cast<size_t>(k)];
    if (offset >= 0)
      taken.emplace_back(offset, offset + problem.buffers[static_cast<size_t>(k)].bytes);
  }
  std::sort(taken.begin(), taken.end());
  int64_t at = 0;
  for (const auto& [begin, end] : taken) {
    if (at + problem.buffers[static_cast<size_t>(i)].bytes <= begin) break;
    at = std::max(at, end);
  }
  return at;
}

int64_t place_in_order(const Problem& problem, const std::vector<int>& order,
                       std::vector<int64_t>* offsets) {
  offsets->assign(problem.buffers.size(), -1);
  int64_t peak = 0;
  for (const int i : order) {
    const int64_t at = first_fit(problem, *offsets, i);
    (*offsets)[static_cast<size_t>(i)] = at;
    peak = std::max(peak, at + problem.buffers[static_cast<size_t>(i)].bytes);
  }
  return peak;
}

/// Improves an order by moving the buffers that stick out at the top to the front, a bounded
/// number of times: what cannot be placed low late is placed first.
class Search {
 public:
  Search(const Problem& problem, int64_t bound) : problem_(problem), bound_(bound) {}

  void try_order(std::vector<int> order) {
    constexpr int kRounds = 64;
    std::vector<int64_t> offsets;
    for (int round = 0; round < kRounds && best_peak_ != bound_; ++round) {
      const int64_t peak = place_in_order(problem_, order, &offsets);
      if (best_.empty() || peak < best_peak_) {
        best_peak_ = peak;
        best_ = offsets;
      }
      // The buffer that reaches the peak goes to the front.
      const auto top = std::find_if(order.begin(), order.end(), [&](int i) {
        return offsets[static_cast<size_t>(i)] + problem_.buffers[static_cast<size_t>(i)].bytes ==
               peak;
      });
      if (top == order.end() || top == order.begin()) return;
      std::rotate(order.begin(), top, top + 1);
    }
  }

  [[nodiscard]] const std::vector<int64_t>& best() const { return best_; }
  [[nodiscard]] int64_t best_peak() const { return best_peak_; }

 private:
  const Problem& problem_;
  int64_t bound_;
  std::vector<int64_t> best_;
  int64_t best_peak_ = 0;
};

}  // namespace

Placement place(std::span<const Buffer> buffers, int64_t alignment) {
  const Problem problem = make_problem(buffers, alignment);
  Placement result;
  result.lower_bound_bytes = lower_bound(problem.buffers);
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  const auto buffer = [&](int i) -> const Buffer& {
    return problem.buffers[static_cast<size_t>(i)];
  };
  const auto sorted = [&](const std::function<bool(const Buffer&, const Buffer&)>& before) {
    std::vector<int> copy = order;
    std::stable_sort(copy.begin(), copy.end(),
                     [&](int a, int b) { return before(buffer(a), buffer(b)); });
    return copy;
  };
  const auto span = [](const Buffer& b) { return static_cast<int64_t>(b.last - b.first + 1); };
  Search search(problem, result.lower_bound_bytes);
  search.try_order(sorted([](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; }));
  search.try_order(sorted(
      [&](const Buffer& a, const Buffer& b) { return a.bytes * span(a) > b.bytes * span(b); }));
  search.try_order(sorted([&](const Buffer& a, const Buffer& b) { return span(a) > span(b); }));
  search.try_order(sorted([](const Buffer& a, const Buffer& b) { return a.first < b.first; }));
  search.try_order(sorted([](const Buffer& a, const Buffer& b) { return a.last > b.last; }));
  result.offsets = search.best();
  result.offsets.resize(buffers.size(), 0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (problem.buffers[i].bytes == 0) result.offsets[i] = 0;
  }
  result.peak_bytes = search.best_peak();
  return result;
}

bool is_valid(std::span<const Buffer> buffers, const Placement& placement) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t begin = placement.offsets[i];
    if (begin < 0 || begin + buffers[i].bytes > placement.peak_bytes) return false;
    for (size_t k = 0; k < i; ++k) {
      const bool both = buffers[i].bytes > 0 && buffers[k].bytes > 0;
      const bool apart = begin + buffers[i].bytes <= placement.offsets[k] ||
                         placement.offsets[k] + buffers[k].bytes <= begin;
      if (both && live_together(buffers[i], buffers[k]) && !apart) return false;
    }
  }
  return true;
}

}  // namespace thimble::plan
