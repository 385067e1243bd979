// SPDX-License-Identifier: Apache-2.0
// Palettes and cuts depend on each other, so they are improved alternately. The cheapest path
// through the current palettes gives segments. The best palettes of these segments are the
// candidates for the next path. Two iterations find nearly all savings.

#include "engines/ethos_u/compiler/weights/mlw_plan.h"

#include <algorithm>

namespace thimble::engine::ethos_u::mlw {
namespace {

constexpr int kTurns = 2;
constexpr size_t kMostPalettes = 6;     // palettes per path
constexpr size_t kMostKept = 4;         // of these, from the previous iteration
constexpr size_t kMostExamined = 24;    // segments per iteration for which a palette is computed
constexpr int64_t kWorthwhile = 24;     // minimum saving of a candidate in bits
constexpr size_t kTooShort = 64;        // weights; below this a cut costs more than it saves
constexpr int64_t kWorthLooking = 300;  // minimum bits of a segment for which a palette is computed

/// Consecutive segments that share a palette.
struct Group {
  size_t first = 0, last = 0;  // indices of segments
  Histogram histogram;
  int64_t bits = 0;  // including headers
};

struct Candidate {
  Palette palette;
  int64_t saving = 0;
};

/// Zero runs cost one bit per weight and save at most nine bits per zero.
bool runs_may_pay(const Histogram& histogram) {
  return uint64_t{histogram.folded[0]} * 9 > histogram.used();
}

Palette plain(const Histogram& histogram) {
  Palette palette;
  for (size_t folded = 0; folded < kFolded; ++folded) {
    if (histogram.folded[folded] == 0) continue;
    while (folded >> palette.bits != 0) ++palette.bits;
  }
  return palette;
}

/// A plan with its size in bits.
struct Draft {
  Plan plan;
  std::vector<Histogram> histograms;  // one per segment
  std::vector<Group> groups;
  int64_t bits = 0;
};

class Planner {
 public:
  Planner(const Symbol* symbols, size_t count) : symbols_(symbols), count_(count) {
    count_symbols(symbols, count, &all_);
  }

  Plan run() {
    const bool zeros = runs_may_pay(all_);
    Draft best = whole(false);
    if (zeros) best = shorter(std::move(best), whole(true));
    if (count_ <= kTooShort) return std::move(best.plan);
    std::vector<Palette> palettes = {plain(all_)};
    add_new(best_choice(all_, false).palette, &palettes);
    if (zeros) add_new(best_choice(all_, true).palette, &palettes);
    for (int turn = 0; turn <= kTurns; ++turn) {
      Draft draft = counted(path(palettes));
      improve_palettes(&draft);
      if (turn < kTurns) palettes = more_palettes(draft);
      const int64_t before = best.bits;
      best = shorter(std::move(best), with_moved_cuts(std::move(draft)));
      if (turn > 0 && best.bits == before) break;
    }
    return std::move(best.plan);
  }

 private:
  static Draft shorter(Draft a, Draft b) { return b.bits < a.bits ? std::move(b) : std::move(a); }

  static void add_new(const Palette& palette, std::vector<Palette>* palettes) {
    if (std::find(palettes->begin(), palettes->end(), palette) == palettes->end()) {
      palettes->push_back(palette);
    }
  }

  Plan path(std::vector<Palette> palettes) const {
    Plan plan;
    plan.segments = cheapest_path(symbols_, count_, all_, palettes);
    plan.palettes = std::move(palettes);
    return plan;
  }

  /// Returns a plan with a single segment.
  Draft whole(bool zero_runs) const {
    const Choice choice = best_choice(all_, zero_runs);
    return counted({{choice.palette}, {{0, count_, 0, choice.mode}}});
  }

  Draft with_moved_cuts(Draft draft) const {
    move_cuts(&draft.plan);
    move_cuts_out_of_runs(&draft.plan);
    return counted(std::move(draft.plan));
  }

  /// Computes the size of a plan and gives every segment its best mode.
  Draft counted(Plan plan) const {
    Draft draft;
    for (size_t i = 0; i < plan.segments.size(); ++i) {
      Segment& segment = plan.segments[i];
      const bool joins = i > 0 && plan.segments[i - 1].palette == segment.palette;
      if (!joins) draft.groups.emplace_back().first = i;
      Group& group = draft.groups.back();
      group.last = i;
      Histogram& histogram = draft.histograms.emplace_back();
      count_symbols(symbols_ + segment.begin, segment.end - segment.begin, &histogram);
      group.histogram.add(histogram);
      group.bits += best_mode(histogram, plan.palettes[static_cast<size_t>(segment.palette)],
                              !joins, &segment.mode);
    }
    for (const Group& group : draft.groups) draft.bits += group.bits;
    draft.plan = std::move(plan);
    return draft;
  }

  /// Returns the bits of a group's segments with another palette.
  static int64_t bits_with(const Draft& draft, const Group& group, const Palette& palette) {
    int64_t bits = 0;
    Mode mode;
    for (size_t i = group.first; i <= group.last; ++i) {
      bits += best_mode(draft.histograms[i], palette, i == group.first, &mode);
    }
    return bits;
  }

  static void consider(const Histogram& histogram, int64_t bits,
                       std::vector<Candidate>* candidates) {
    if (bits < kWorthLooking) return;
    for (const bool zero_runs : {false, true}) {
      if (zero_runs && !runs_may_pay(histogram)) continue;
      const Choice choice = best_choice(histogram, zero_runs);
      Mode mode;
      const int64_t own = best_mode(histogram, choice.palette, true, &mode);
      if (bits - own > kWorthwhile) candidates->push_back({choice.palette, bits - own});
    }
  }

  /// Returns the most used palettes of a plan and the best palettes of its segments with the
  /// largest savings.
  std::vector<Palette> more_palettes(const Draft& draft) const {
    std::vector<Candidate> candidates;
    std::vector<Palette> palettes = {plain(all_)};
    const auto used = [&draft](size_t segment) -> const Palette& {
      return draft.plan.palettes[static_cast<size_t>(draft.plan.segments[segment].palette)];
    };
    std::vector<Group> groups = draft.groups;
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.bits > b.bits; });
    for (const Group& group : groups) {
      if (palettes.size() < kMostKept) add_new(used(group.first), &palettes);
    }
    size_t examined = 0;
    for (const Group& group : groups) {
      if (examined++ >= kMostExamined) break;
      consider(group.histogram, group.bits, &candidates);
      if (group.first == group.last) continue;
      for (size_t i = group.first; i <= group.last && examined < kMostExamined; ++i, ++examined) {
        Mode mode;
        const Histogram& histogram = draft.histograms[i];
        consider(histogram, best_mode(histogram, used(i), false, &mode), &candidates);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.saving > b.saving; });
    for (const Candidate& candidate : candidates) {
      if (palettes.size() >= kMostPalettes) break;
      add_new(candidate.palette, &palettes);
    }
    return palettes;
  }

  /// Replaces the palette of each group by the best palette of the whole group, if that is cheaper.
  static void improve_palettes(Draft* draft) {
    for (Group& group : draft->groups) {
      Palette best;
      const int64_t before = group.bits;
      for (const bool zero_runs : {false, true}) {
        if (zero_runs && !runs_may_pay(group.histogram)) continue;
        const Choice choice = best_choice(group.histogram, zero_runs);
        const int64_t own = bits_with(*draft, group, choice.palette);
        if (own < group.bits) {
          group.bits = own;
          best = choice.palette;
        }
      }
      if (group.bits == before) continue;
      draft->bits += group.bits - before;
      draft->plan.palettes.push_back(best);
      for (size_t i = group.first; i <= group.last; ++i) {
        Segment& segment = draft->plan.segments[i];
        segment.palette = static_cast<int>(draft->plan.palettes.size() - 1);
        (void)best_mode(draft->histograms[i], best, i == group.first, &segment.mode);
      }
    }
  }

  /// Moves each cut to the cheapest symbol position near it.
  void move_cuts(Plan* plan) const {
    for (size_t i = 0; i + 1 < plan->segments.size(); ++i) {
      Segment& a = plan->segments[i];
      Segment& b = plan->segments[i + 1];
      const Palette& palette_a = plan->palettes[static_cast<size_t>(a.palette)];
      const Palette& palette_b = plan->palettes[static_cast<size_t>(b.palette)];
      const size_t low = std::max(a.begin + 1, b.begin - std::min(b.begin, kCell));
      const size_t high = std::min(b.end - 1, b.begin + kCell);
      int difference = 0;  // of a cut at `at` compared with a cut at `low`
      int best = 0;
      size_t cut = low;
      for (size_t at = low; at < high; ++at) {
        difference += SymbolCost(palette_a, symbols_[at]).bits(a.mode) -
                      SymbolCost(palette_b, symbols_[at]).bits(b.mode);
        if (difference < best) {
          best = difference;
          cut = at + 1;
        }
      }
      a.end = b.begin = cut;
    }
  }

  [[nodiscard]] bool zero(size_t at) const { return symbols_[at] >= kFolded; }

  /// Moves cuts out of zero runs. A zero run belongs to the preceding weight. If both segments
  /// share a palette, a cut inside a run moves to its end or before that weight.
  void move_cuts_out_of_runs(Plan* plan) const {
    for (size_t i = 0; i + 1 < plan->segments.size(); ++i) {
      Segment& a = plan->segments[i];
      Segment& b = plan->segments[i + 1];
      const Palette& palette = plan->palettes[static_cast<size_t>(a.palette)];
      if (a.palette != b.palette || !palette.zero_runs) continue;
      size_t low = b.begin, high = b.begin;
      while (high < b.end && zero(high)) ++high;
      while (low > a.begin && zero(low - 1)) --low;
      if (low == high || low == a.begin) {
        a.end = b.begin = high;
        continue;
      }
      const SymbolCost weight(palette, symbols_[low - 1]);
      const auto run = static_cast<int>(high - low);
      const int forward = weight.bits(a.mode) + (run >> a.mode.zero_divisor);
      const int backward = weight.bits(b.mode) + (run >> b.mode.zero_divisor);
      a.end = b.begin = forward <= backward ? high : low - 1;
    }
    std::erase_if(plan->segments, [](const Segment& one) { return one.begin == one.end; });
  }

  const Symbol* symbols_;
  size_t count_;
  Histogram all_;
};

}  // namespace

Plan make_plan(const Symbol* symbols, size_t count) {
  return Planner(symbols, count).run();
}

}  // namespace thimble::engine::ethos_u::mlw
