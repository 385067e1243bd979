// Palettes and cuts depend on each other, so they improve each other in turns: the cheapest path
// through the palettes at hand gives segments, and the segments' own best palettes are the
// candidates of the next path. Two such turns find nearly all there is to find.

#include "target/ethos_u/weights/mlw_plan.h"

#include <algorithm>

namespace thimble::target::ethos_u::mlw {
namespace {

constexpr int kTurns = 2;
constexpr size_t kMostPalettes = 6;
constexpr size_t kMostExamined = 48;  // segments whose own palettes are looked for, per turn
constexpr int64_t kWorthwhile = 24;   // bits that a candidate must save
constexpr size_t kFew = 8192;         // weights: where the ends of chunks are worth counting

/// Neighbours that share a palette.
struct Group {
  size_t first = 0, last = 0;  // segments
  Histogram histogram;
  int64_t bits = 0;  // headers included
};

struct Candidate {
  Palette palette;
  int64_t saving = 0;
};

Palette plain(const Histogram& histogram) {
  Palette palette;
  for (size_t folded = 0; folded < kFolded; ++folded) {
    if (histogram.folded[folded] == 0) continue;
    while (folded >> palette.bits != 0) ++palette.bits;
  }
  return palette;
}

class Planner {
 public:
  Planner(const Symbol* symbols, size_t count) : symbols_(symbols), count_(count) {
    count_symbols(symbols, count, &all_);
  }

  Plan run() {
    std::vector<Palette> palettes = {plain(all_)};
    add_new(best_choice(all_, false).palette, &palettes);
    if (all_.folded[0] > 0) add_new(best_choice(all_, true).palette, &palettes);
    Plan plan = path(palettes);
    int64_t bits = cost(plan);
    for (int turn = 0; turn < kTurns; ++turn) {
      Plan next = path(more_palettes(plan));
      improve_palettes(&next);
      const int64_t next_bits = cost(next);
      if (next_bits >= bits) break;
      plan = std::move(next);
      bits = next_bits;
    }
    improve_palettes(&plan);
    move_cuts(&plan);
    settle_cuts(&plan);
    return plan;
  }

  /// One slice, or as many as its length needs.
  Plan whole(bool zero_runs) const {
    const Choice choice = best_choice(all_, zero_runs);
    return {{choice.palette}, {{0, count_, 0, choice.mode}}};
  }

 private:
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

  Histogram histogram_of(const Segment& segment) const {
    Histogram histogram;
    count_symbols(symbols_ + segment.begin, segment.end - segment.begin, &histogram);
    return histogram;
  }

  static int64_t bits_of(const Histogram& histogram, const Palette& palette) {
    Mode mode;
    const int64_t bits = best_mode(histogram, palette, &mode);
    return bits + end_bits(palette, mode);
  }

  std::vector<Group> groups_of(const Plan& plan) const {
    std::vector<Group> groups;
    for (size_t i = 0; i < plan.segments.size(); ++i) {
      const Segment& segment = plan.segments[i];
      const Palette& palette = plan.palettes[static_cast<size_t>(segment.palette)];
      const bool joins = i > 0 && plan.segments[i - 1].palette == segment.palette;
      if (!joins) groups.emplace_back();
      Group& group = groups.back();
      if (!joins) {
        group.first = i;
        group.bits = palette.header_bits();
      }
      const Histogram histogram = histogram_of(segment);
      group.last = i;
      group.histogram.add(histogram);
      group.bits += bits_of(histogram, palette) + (joins ? kHeaderBits : 0);
    }
    return groups;
  }

  int64_t cost(const Plan& plan) const {
    int64_t bits = 0;
    for (const Group& group : groups_of(plan)) bits += group.bits;
    return bits;
  }

  /// Bits of a group's segments with another palette.
  int64_t bits_with(const Plan& plan, const Group& group, const Palette& palette) const {
    int64_t bits =
        palette.header_bits() + kHeaderBits * static_cast<int64_t>(group.last - group.first);
    for (size_t i = group.first; i <= group.last; ++i) {
      bits += bits_of(histogram_of(plan.segments[i]), palette);
    }
    return bits;
  }

  void consider(const Histogram& histogram, int64_t bits,
                std::vector<Candidate>* candidates) const {
    for (const bool zero_runs : {false, true}) {
      if (zero_runs && histogram.folded[0] == 0) continue;
      const Choice choice = best_choice(histogram, zero_runs);
      const int64_t own =
          choice.bits + choice.palette.header_bits() + end_bits(choice.palette, choice.mode);
      if (bits - own > kWorthwhile) candidates->push_back({choice.palette, bits - own});
    }
  }

  /// The palettes that a plan uses, and the most promising of its segments' own.
  std::vector<Palette> more_palettes(const Plan& plan) const {
    std::vector<Candidate> candidates;
    std::vector<Palette> palettes = {plain(all_)};
    std::vector<Group> groups = groups_of(plan);
    for (const Segment& segment : plan.segments) {
      add_new(plan.palettes[static_cast<size_t>(segment.palette)], &palettes);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.bits > b.bits; });
    size_t examined = 0;
    for (const Group& group : groups) {
      if (examined++ >= kMostExamined) break;
      consider(group.histogram, group.bits, &candidates);
      if (group.first == group.last) continue;
      for (size_t i = group.first; i <= group.last && examined < kMostExamined; ++i, ++examined) {
        const Segment& segment = plan.segments[i];
        const Histogram histogram = histogram_of(segment);
        const Palette& palette = plan.palettes[static_cast<size_t>(segment.palette)];
        consider(histogram, bits_of(histogram, palette) + kHeaderBits, &candidates);
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

  /// Every group gets the palette that is best for all of it, if that is cheaper.
  void improve_palettes(Plan* plan) const {
    for (const Group& group : groups_of(*plan)) {
      Palette best;
      int64_t bits = group.bits;
      for (const bool zero_runs : {false, true}) {
        if (zero_runs && group.histogram.folded[0] == 0) continue;
        const Choice choice = best_choice(group.histogram, zero_runs);
        const int64_t own = bits_with(*plan, group, choice.palette);
        if (own < bits) {
          bits = own;
          best = choice.palette;
        }
      }
      if (bits == group.bits) continue;
      plan->palettes.push_back(best);
      for (size_t i = group.first; i <= group.last; ++i) {
        Segment& segment = plan->segments[i];
        segment.palette = static_cast<int>(plan->palettes.size() - 1);
        (void)best_mode(histogram_of(segment), best, &segment.mode);
      }
    }
  }

  /// Cuts to the symbol: between two neighbours the cheapest place near the cut.
  void move_cuts(Plan* plan) const {
    for (size_t i = 0; i + 1 < plan->segments.size(); ++i) {
      Segment& a = plan->segments[i];
      Segment& b = plan->segments[i + 1];
      const auto bits_a = symbol_bits(plan->palettes[static_cast<size_t>(a.palette)], a.mode);
      const auto bits_b = symbol_bits(plan->palettes[static_cast<size_t>(b.palette)], b.mode);
      const size_t low = std::max(a.begin + 1, b.begin - std::min(b.begin, kCell));
      const size_t high = std::min(b.end - 1, b.begin + kCell);
      int difference = 0;  // a cut at `at` instead of at `low`
      int best = 0;
      size_t cut = low;
      for (size_t at = low; at < high; ++at) {
        difference += bits_a[symbols_[at]] - bits_b[symbols_[at]];
        if (difference < best) {
          best = difference;
          cut = at + 1;
        }
      }
      a.end = b.begin = cut;
    }
  }

  [[nodiscard]] bool zero(size_t at) const { return symbols_[at] >= kFolded; }

  /// A run of zeros belongs to the weight before it: where the palette goes on, a cut inside a run
  /// moves to its end, or before that weight.
  void settle_cuts(Plan* plan) const {
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
      const auto bits_a = symbol_bits(palette, a.mode);
      const auto bits_b = symbol_bits(palette, b.mode);
      const auto run = static_cast<int>(high - low);
      const int forward = bits_a[symbols_[low - 1]] + (run >> a.mode.zero_divisor);
      const int backward = bits_b[symbols_[low - 1]] + (run >> b.mode.zero_divisor);
      a.end = b.begin = forward <= backward ? high : low - 1;
    }
    std::erase_if(plan->segments, [](const Segment& one) { return one.begin == one.end; });
  }

  const Symbol* symbols_;
  size_t count_;
  Histogram all_;
};

}  // namespace

std::vector<Plan> make_plans(const Symbol* symbols, size_t count) {
  Planner planner(symbols, count);
  std::vector<Plan> plans = {planner.run()};
  if (count <= kFew) {
    plans.push_back(planner.whole(false));
    plans.push_back(planner.whole(true));
  }
  return plans;
}

}  // namespace thimble::target::ethos_u::mlw
