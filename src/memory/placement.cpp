// SPDX-License-Identifier: Apache-2.0
#include "memory/placement.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "memory/exact_placement.h"
#include "memory/placement_problem.h"

namespace thimble::memory {
namespace {

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
class BufferOrders {
 public:
  BufferOrders(const Problem& problem, int64_t bound) : problem_(problem), bound_(bound) {}

  void try_order(std::vector<int> order) {
    constexpr int kRounds = 64;
    std::vector<int64_t> offsets;
    for (int round = 0; round < kRounds && best_peak_ != bound_; ++round) {
      const int64_t peak = place_in_order(problem_, order, &offsets);
      if (best_.empty() || peak < best_peak_) {
        best_peak_ = peak;
        best_ = offsets;
      }
      // Move the buffer that reaches the peak to the front.
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

Placement place(std::span<const Buffer> buffers, int64_t alignment,
                std::span<const Overlap> overlaps, int64_t search_steps) {
  const Problem problem = make_problem(buffers, alignment, overlaps);
  Placement result;
  result.lower_bound_bytes = lower_bound_bytes(problem);
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
  BufferOrders search(problem, result.lower_bound_bytes);
  search.try_order(sorted([](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; }));
  search.try_order(sorted([](const Buffer& a, const Buffer& b) {
    return a.bytes * a.life.steps() > b.bytes * b.life.steps();
  }));
  search.try_order(
      sorted([](const Buffer& a, const Buffer& b) { return a.life.steps() > b.life.steps(); }));
  search.try_order(
      sorted([](const Buffer& a, const Buffer& b) { return a.life.first < b.life.first; }));
  search.try_order(
      sorted([](const Buffer& a, const Buffer& b) { return a.life.last > b.life.last; }));
  result.offsets = search.best();
  result.offsets.resize(buffers.size(), 0);
  result.peak_bytes = search.best_peak();
  if (!result.proven_minimal() && search_steps > 0) improve(problem, search_steps, &result);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (problem.buffers[i].bytes == 0) result.offsets[i] = 0;
  }
  return result;
}

bool is_valid(std::span<const Buffer> buffers, const Placement& placement,
              std::span<const Overlap> overlaps) {
  const auto may_share = [&](size_t operand, size_t result) {
    return std::ranges::any_of(overlaps, [&](const Overlap& o) {
      return static_cast<size_t>(o.operand) == operand && static_cast<size_t>(o.result) == result &&
             o.lead > 0 && buffers[operand].life.last == buffers[result].life.first &&
             placement.offsets[result] + o.lead <= placement.offsets[operand];
    });
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t begin = placement.offsets[i];
    if (begin < 0 || begin + buffers[i].bytes > placement.peak_bytes) return false;
    for (size_t k = 0; k < i; ++k) {
      const bool both = buffers[i].bytes > 0 && buffers[k].bytes > 0;
      const bool meet = buffers[i].life.overlaps(buffers[k].life);
      const bool apart = begin + buffers[i].bytes <= placement.offsets[k] ||
                         placement.offsets[k] + buffers[k].bytes <= begin;
      if (both && meet && !apart && !may_share(i, k) && !may_share(k, i)) return false;
    }
  }
  return true;
}

}  // namespace thimble::memory
