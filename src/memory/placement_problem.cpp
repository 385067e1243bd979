// SPDX-License-Identifier: Apache-2.0
#include "memory/placement_problem.h"

#include <algorithm>
#include <map>

#include "base/rounding.h"
#include "memory/lowest_offset.h"

namespace thimble::memory {
namespace {

const Buffer& at(std::span<const Buffer> buffers, int i) {
  return buffers[static_cast<size_t>(i)];
}

/// Returns the minimum distance of an operand above its result, for each overlap.
std::map<std::pair<int, int>, int64_t> leads_of(const Problem& problem) {
  std::map<std::pair<int, int>, int64_t> leads;
  for (const Overlap& o : problem.overlaps) leads[{o.operand, o.result}] = o.lead;
  return leads;
}

void add_neighbor(Problem& problem, const std::map<std::pair<int, int>, int64_t>& leads, int a,
                  int b) {
  const auto apart = [&](int high, int low) {
    // Only a result that begins where its operand ends has a lead.
    const Buffer& result = at(problem.buffers, low);
    if (at(problem.buffers, high).life.last != result.life.first) return result.bytes;
    const auto found = leads.find({high, low});
    return found != leads.end() ? found->second : result.bytes;
  };
  problem.neighbors[static_cast<size_t>(a)].push_back({b, apart(a, b), apart(b, a)});
}

/// Returns the problem without neighbors: rounded buffers, and the overlaps that can occur.
Problem rounded(std::span<const Buffer> buffers, int64_t alignment,
                std::span<const Overlap> overlaps) {
  Problem problem;
  problem.alignment = alignment;
  for (const Buffer& b : buffers) {
    problem.buffers.push_back({round_up(b.bytes, alignment), b.life});
  }
  for (const Overlap& o : overlaps) {
    const Buffer& operand = at(problem.buffers, o.operand);
    const Buffer& result = at(problem.buffers, o.result);
    const int64_t lead = std::min(round_up(o.lead, alignment), result.bytes);
    if (operand.life.last != result.life.first || lead <= 0 || operand.bytes == 0) continue;
    problem.overlaps.push_back({o.operand, o.result, lead});
  }
  return problem;
}

/// Returns the largest sum of sizes live at one step, minus the bytes that may be shared in it.
int64_t largest_live_sum(const Problem& problem) {
  struct Change {
    int step;
    int64_t bytes;   // that begin, less those that ended before
    int64_t shared;  // operand and result share at most the bytes of the result after the lead
    bool is_start;   // the sum increases only at the first step of a buffer
  };
  std::vector<Change> changes;
  changes.reserve(2 * problem.buffers.size() + problem.overlaps.size());
  for (const Buffer& b : problem.buffers) {
    if (b.life.is_empty()) continue;
    changes.push_back({b.life.first, b.bytes, 0, true});
    changes.push_back({b.life.last + 1, -b.bytes, 0, false});
  }
  for (const Overlap& o : problem.overlaps) {
    const Buffer& result = at(problem.buffers, o.result);
    const int64_t shared = std::min(at(problem.buffers, o.operand).bytes, result.bytes - o.lead);
    changes.push_back({result.life.first, 0, shared, false});
  }
  std::ranges::sort(changes, {}, &Change::step);
  int64_t bound = 0, sum = 0;
  for (size_t i = 0; i < changes.size();) {
    int64_t shared = 0;
    bool is_start = false;
    for (const int step = changes[i].step; i < changes.size() && changes[i].step == step; ++i) {
      sum += changes[i].bytes;
      shared += changes[i].shared;
      is_start = is_start || changes[i].is_start;
    }
    if (is_start) bound = std::max(bound, sum - shared);
  }
  return bound;
}

}  // namespace

Problem make_problem(std::span<const Buffer> buffers, int64_t alignment,
                     std::span<const Overlap> overlaps) {
  Problem problem = rounded(buffers, alignment, overlaps);
  const auto leads = leads_of(problem);
  problem.neighbors.resize(buffers.size());
  std::vector<int> by_start, live;
  for (int i = 0; i < static_cast<int>(buffers.size()); ++i) {
    if (at(problem.buffers, i).bytes > 0) by_start.push_back(i);
  }
  std::ranges::stable_sort(by_start, {}, [&](int i) { return at(problem.buffers, i).life.first; });
  for (const int i : by_start) {
    const int start = at(problem.buffers, i).life.first;
    std::erase_if(live, [&](int k) { return at(problem.buffers, k).life.last < start; });
    for (const int k : live) {
      add_neighbor(problem, leads, i, k);
      add_neighbor(problem, leads, k, i);
    }
    live.push_back(i);
  }
  for (std::vector<Neighbor>& list : problem.neighbors) {
    std::ranges::sort(list, {}, &Neighbor::other);
  }
  return problem;
}

Problem restrict_to(const Problem& problem, std::span<const int> members) {
  Problem part;
  part.alignment = problem.alignment;
  std::vector<int> index(problem.buffers.size(), -1);
  for (const int member : members) {
    index[static_cast<size_t>(member)] = static_cast<int>(part.buffers.size());
    part.buffers.push_back(at(problem.buffers, member));
  }
  for (const int member : members) {
    std::vector<Neighbor>& list = part.neighbors.emplace_back();
    for (const Neighbor& n : problem.neighbors[static_cast<size_t>(member)]) {
      const int other = index[static_cast<size_t>(n.other)];
      if (other >= 0) list.push_back({other, n.above, n.below});
    }
  }
  for (const Overlap& o : problem.overlaps) {
    const int operand = index[static_cast<size_t>(o.operand)];
    const int result = index[static_cast<size_t>(o.result)];
    if (operand >= 0 && result >= 0) part.overlaps.push_back({operand, result, o.lead});
  }
  return part;
}

int64_t lower_bound_bytes(const Problem& problem) {
  return largest_live_sum(problem);
}

int64_t lower_bound_bytes(std::span<const Buffer> buffers, int64_t alignment,
                          std::span<const Overlap> overlaps) {
  return largest_live_sum(rounded(buffers, alignment, overlaps));
}

int64_t first_fit(const Problem& problem, const std::vector<int64_t>& offsets, int i) {
  // The lowest offset only rises, so that a pass in which no neighbor raises it ends the search.
  int64_t lowest = 0;
  for (bool raised = true; raised;) {
    raised = false;
    for (const Neighbor& n : problem.neighbors[static_cast<size_t>(i)]) {
      const int64_t offset = offsets[static_cast<size_t>(n.other)];
      const bool meets = offset >= 0 && offset - n.below < lowest && lowest < offset + n.above;
      if (!meets) continue;
      lowest = offset + n.above;
      raised = true;
    }
  }
  return lowest;
}

}  // namespace thimble::memory
