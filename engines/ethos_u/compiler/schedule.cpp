// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/size_text.h"
#include "engines/ethos_u/compiler/point_finder.h"
#include "engines/ethos_u/compiler/stream_cycles.h"

namespace thimble::engine::ethos_u {
namespace {

constexpr double kSlowerMax = 1.02;          // cycles of the default schedule, to the fewest
constexpr double kSlowerMaxOfSize = 1.5;     // the same for Optimise::kSize
constexpr double kSlowerMaxOfScratch = 1.1;  // the same in Dedicated_Sram, which may have any size
constexpr double kSlowerToSaveScratch = 1.005;  // in Dedicated_Sram, to use less of it
constexpr double kSlowerForTraffic = 1.05;  // in Dedicated_Sram, if the traffic of the DRAM is less
constexpr double kTrafficGain = 0.9;        // cost with that traffic, at most, to the other
constexpr int64_t kSavingDivisor = 20;      // a smaller saving of memory is not worth the cycles
constexpr int kMoreBudgets = 3;             // budgets tried below the selected one
constexpr double kExactSlower = 1.002;      // of an exact schedule, relative to its estimate
constexpr double kEstimate = 1.06;  // estimates of compared schedules are at most this much higher
constexpr size_t kComparedMost = 32;
constexpr int kAttempts = 3;  // memory added for exact sizes of weights, in steps of 1 %
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double cost(const Scheduled& schedule) {
  return schedule.timeline_cycles + schedule.traffic;
}
bool is_smaller(const Scheduled& a, const Scheduled& b) {
  return a.bytes != b.bytes ? a.bytes < b.bytes : a.timeline_cycles < b.timeline_cycles;
}
ParetoPoint point_of(const Scheduled& schedule) {
  return {schedule.bytes, static_cast<int64_t>(std::llround(schedule.timeline_cycles))};
}

/// Makes exact schedules of points, and selects one.
class Selector {
 public:
  Selector(const NpuProgram& program, const ScheduleOptions& options, Encoders* encoders)
      : program_(program),
        options_(options),
        encoders_(*encoders),
        finder_(program, options, encoders) {}

  Result<Scheduled> run() {
    THIMBLE_CHECK(finder_.check());
    const bool size = options_.optimise == Optimise::kSize;
    const int64_t limit = std::min(options_.memory_bytes.value_or(kUnlimited),
                                   options_.sram_bytes.value_or(kUnlimited));
    std::optional<Scheduled> result;
    if (options_.sram_bytes && !size) {
      THIMBLE_TRY(std::vector<Scheduled> exact, growing());
      result = of_budget(std::move(exact), limit);
    } else {
      const bool compares_all = options_.sram_bytes || !options_.in_feature_maps;
      const int64_t memory = compares_all ? limit : std::min(limit, finder_.feature_map_memory());
      const double slower = !size         ? kSlowerMax
                            : dedicated() ? kSlowerMaxOfScratch
                                          : kSlowerMaxOfSize;
      THIMBLE_TRY(result, of_least_memory(memory, limit, slower));
    }
    if (!result) return refusal(limit);
    THIMBLE_CHECK(set_ends(&*result));
    return std::move(*result);
  }

  std::vector<ParetoPoint> pareto_points() {
    std::vector<ParetoPoint> result;
    for (const Point& point : finder_.coarse()) {
      const auto cycles = static_cast<int64_t>(std::ceil(point.found.cycles));
      if (!result.empty() && cycles >= result.back().cycles) continue;
      if (!result.empty() && point.bytes == result.back().sram_bytes) result.pop_back();
      result.push_back({point.bytes, cycles});
    }
    return result;
  }

  Status check() { return finder_.check(); }

 private:
  /// Returns the schedule of a point with exact sizes of the weights, in at most `allowed` bytes.
  /// Copies of weights that do not fit are omitted.
  Result<std::optional<Scheduled>> assembled(Point point, int64_t allowed) {
    // Each attempt that fails knows the exact size of more weights, or copies fewer.
    for (size_t attempt = 0; attempt < program_.ops.size() + 4; ++attempt) {
      THIMBLE_TRY(std::optional<Schedule> schedule,
                  assemble(program_, &point.found.draft, &encoders_));
      if (!schedule || point.found.draft.budgeted(options_.mode) > allowed) {
        point.search->replan_memory(&point.found, allowed);
        continue;
      }
      Scheduled scheduled;
      scheduled.schedule = std::move(*schedule);
      scheduled.bytes = point.found.draft.budgeted(options_.mode);
      scheduled.cycles = static_cast<int64_t>(std::ceil(point.found.cycles));
      scheduled.traffic = point.found.score - point.found.cycles;
      for (const double cycles : point.found.op_cycles) {
        scheduled.op_cycles.push_back(static_cast<int64_t>(std::ceil(cycles)));
      }
      THIMBLE_TRY(scheduled.timeline_cycles, stream_cycles(program_, scheduled.schedule, options_));
      return std::optional<Scheduled>(std::move(scheduled));
    }
    return std::optional<Scheduled>();
  }

  /// Adds the exact schedules of a point in at most `limit` bytes. They may need slightly more
  /// memory than estimated: it increases until a schedule is as fast as the estimate.
  Status add_exact(const Point& point, int64_t limit, std::vector<Scheduled>* exact) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const int64_t allowed = point.bytes + point.bytes * attempt / 100;
      if (allowed > limit) break;
      THIMBLE_TRY(std::optional<Scheduled> found, assembled(point, allowed));
      if (!found) continue;
      const bool as_estimated =
          static_cast<double>(found->cycles) <= std::ceil(point.found.cycles) * kExactSlower;
      exact->push_back(std::move(*found));
      if (as_estimated) break;
    }
    return ok();
  }

  /// Returns at most about kComparedMost points: the one of least memory and, of neighbors in
  /// memory, those with the fewest cycles and with the lowest score.
  static std::vector<const Point*> thinned(const std::vector<const Point*>& points) {
    const size_t together = 2 * points.size() / kComparedMost;
    if (together < 2) return points;
    std::vector<const Point*> kept = {points.front()};
    for (size_t first = 1; first < points.size(); first += together) {
      const auto group =
          std::span(points).subspan(first, std::min(together, points.size() - first));
      const Point* const fast = *std::ranges::min_element(
          group, {}, [](const Point* point) { return point->found.cycles; });
      const Point* const cheap = *std::ranges::min_element(
          group, {}, [](const Point* point) { return point->found.score; });
      kept.push_back(fast);
      if (cheap != fast) kept.push_back(cheap);
    }
    return kept;
  }

  Result<std::vector<Scheduled>> exact_of(const std::vector<const Point*>& points, int64_t limit) {
    std::vector<Scheduled> exact;
    for (const Point* point : points) THIMBLE_CHECK(add_exact(*point, limit, &exact));
    std::ranges::sort(exact, is_smaller);
    return exact;
  }

  /// Returns the exact schedules whose estimates are close to those of the points with fewer bytes,
  /// in order of their bytes. They do not depend on the budget. All are needed: the schedule of a
  /// small budget limits the cycles of those of all larger ones.
  Result<std::vector<Scheduled>> growing() {
    std::vector<const Point*> points;
    double cycles = kInfinite;
    for (const Point& point : finder_.fine()) {
      cycles = std::min(cycles, point.found.cycles);
      if (point.found.cycles <= compared(kSlowerMax) * cycles) points.push_back(&point);
    }
    return exact_of(points, kUnlimited);
  }

  /// Returns the exact schedules within `memory` whose estimates are at most `slower` times the
  /// fewest cycles, apart from the error of the estimates. One that exceeds `memory` by the exact
  /// size of its weights is included if nothing fits. They are in order of their bytes.
  Result<std::vector<Scheduled>> close(int64_t memory, int64_t limit, double slower) {
    std::vector<Point> all = finder_.at_budget(memory);
    std::ranges::copy_if(finder_.fine(), std::back_inserter(all),
                         [&](const Point& point) { return point.bytes <= memory; });
    std::ranges::stable_sort(all, {}, &Point::bytes);
    double cycles = kInfinite;
    for (const Point& point : all) cycles = std::min(cycles, point.found.cycles);
    std::vector<const Point*> points;
    for (const Point& point : all) {
      if (point.found.cycles <= compared(slower) * cycles) points.push_back(&point);
    }
    THIMBLE_TRY(std::vector<Scheduled> exact, exact_of(thinned(points), limit));
    while (exact.size() > 1 && exact.back().bytes > memory) exact.pop_back();
    return exact;
  }

  /// Returns the most cycles on the timeline that a selected schedule may have: 2 % more than the
  /// fastest. If those that are this fast cost much more traffic of the DRAM than one that is
  /// slightly slower: 5 %.
  static double most_cycles(std::span<const Scheduled> exact, double slower) {
    double fastest = kInfinite;
    for (const Scheduled& one : exact) fastest = std::min(fastest, one.timeline_cycles);
    const auto least = [&](double ratio) {
      double result = kInfinite;
      for (const Scheduled& one : exact) {
        if (one.timeline_cycles <= ratio * fastest) result = std::min(result, cost(one));
      }
      return result;
    };
    const double more = std::max(slower, kSlowerForTraffic);
    return fastest * (least(more) < kTrafficGain * least(slower) ? more : slower);
  }

  /// Selects a schedule for a budget. `exact` has all schedules in order of their bytes; those that
  /// fit are at the front. For each number of schedules that fit, one is selected, such that none
  /// has more cycles than the one before it, each is close to the fastest one, and the sum of their
  /// costs, relative to the least possible ones, is minimal.
  static std::optional<Scheduled> of_budget(std::vector<Scheduled> exact, int64_t limit) {
    const auto fit = static_cast<size_t>(
        std::ranges::count_if(exact, [&](const Scheduled& one) { return one.bytes <= limit; }));
    if (fit == 0) return std::nullopt;
    const size_t count = exact.size();
    std::vector<size_t> slowest_first(count);
    std::iota(slowest_first.begin(), slowest_first.end(), size_t{0});
    std::ranges::stable_sort(slowest_first, [&](size_t a, size_t b) {
      return exact[a].timeline_cycles > exact[b].timeline_cycles;
    });
    // sums[i]: the least sum of the selections up to the current one, if that is schedule i.
    std::vector<double> sums(count, 0);
    std::vector<std::vector<size_t>> before;
    double fastest = kInfinite, least = kInfinite;
    for (size_t k = 0; k < count; ++k) {
      fastest = std::min(fastest, exact[k].timeline_cycles);
      least = std::min(least, cost(exact[k]));
      const std::vector<double> sums_before = std::move(sums);
      sums.assign(count, kInfinite);
      before.emplace_back(count, 0);
      double sum = kInfinite;
      size_t from = 0;
      for (size_t at = 0, end = 0; at < count; at = end) {
        // Schedules of equal cycles may follow each other.
        for (; end < count; ++end) {
          const size_t i = slowest_first[end];
          if (exact[i].timeline_cycles != exact[slowest_first[at]].timeline_cycles) break;
          if (sums_before[i] < sum) sum = sums_before[i], from = i;
        }
        for (size_t next = at; next < end; ++next) {
          const size_t i = slowest_first[next];
          if (i > k || exact[i].timeline_cycles > kSlowerForTraffic * fastest) continue;
          sums[i] = sum + cost(exact[i]) / least;
          before[k][i] = from;
        }
      }
    }
    auto selected = static_cast<size_t>(std::ranges::min_element(sums) - sums.begin());
    for (size_t k = count - 1; k >= fit; --k) selected = before[k][selected];
    return std::move(exact[selected]);
  }

  /// Limits of a schedule that may be selected.
  struct Limits {
    double cycles = kInfinite, cost = kInfinite;
    [[nodiscard]] bool allow(const Scheduled& schedule) const {
      return schedule.timeline_cycles <= cycles && ethos_u::cost(schedule) <= cost;
    }
  };

  /// Returns the schedule of least memory that is at most `slower` times as slow as the fastest one
  /// within `memory`. If that saves little memory, returns the fastest. In Dedicated_Sram, whose
  /// fast scratch serves only the NPU, memory is saved only where that is nearly as fast.
  Result<std::optional<Scheduled>> of_least_memory(int64_t memory, int64_t limit, double slower) {
    THIMBLE_TRY(std::vector<Scheduled> exact, close(memory, limit, slower));
    if (exact.empty()) return std::optional<Scheduled>();
    const double most = most_cycles(exact, slower);
    size_t fastest = 0;
    double least = kInfinite;
    for (size_t i = 0; i < exact.size(); ++i) {
      if (exact[i].timeline_cycles > most || cost(exact[i]) >= least) continue;
      least = cost(exact[i]);
      fastest = i;
    }
    const bool size = options_.optimise == Optimise::kSize;
    const double saving = dedicated() && !size ? kSlowerToSaveScratch : slower;
    const Limits limits{std::min(most, saving * exact[fastest].timeline_cycles), saving * least};
    size_t smallest = 0;
    while (!limits.allow(exact[smallest])) ++smallest;
    const int64_t bytes = exact[fastest].bytes;
    const bool saves = exact[smallest].bytes <= bytes - bytes / kSavingDivisor;
    const int64_t below = smallest == 0 ? 0 : exact[smallest - 1].bytes;
    Scheduled selected = std::move(exact[saves || size ? smallest : fastest]);
    if (saves) THIMBLE_CHECK(reduce_memory(below, limits, &selected));
    return std::optional<Scheduled>(std::move(selected));
  }

  /// Tries budgets between `below` and the memory of the selected schedule, and replaces it.
  Status reduce_memory(int64_t below, const Limits& limits, Scheduled* selected) {
    for (int i = 0; i < kMoreBudgets; ++i) {
      const int64_t budget = (below + selected->bytes) / 32 * 16;
      if (budget <= below || budget >= selected->bytes) break;
      std::vector<Scheduled> exact;
      for (const Point& point : finder_.at_budget(budget)) {
        if (point.found.cycles > kEstimate * limits.cycles) continue;
        THIMBLE_CHECK(add_exact(point, budget, &exact));
      }
      std::ranges::sort(exact, is_smaller);
      const auto found =
          std::ranges::find_if(exact, [&](const Scheduled& one) { return limits.allow(one); });
      if (found == exact.end()) {
        below = budget;
      } else {
        *selected = std::move(*found);
      }
    }
    return ok();
  }

  /// Returns the ratio of estimates up to which schedules are compared exactly.
  [[nodiscard]] double compared(double slower) const {
    return kEstimate * (dedicated() ? std::max(slower, kSlowerForTraffic) : slower);
  }

  /// Sets the smallest and the fastest schedule of the available memory.
  Status set_ends(Scheduled* selected) {
    selected->smallest = selected->fastest = point_of(*selected);
    const std::vector<Point>& points = finder_.coarse();
    if (options_.sram_bytes || points.empty()) return ok();
    const auto fewest =
        std::ranges::min_element(points, {}, [](const Point& point) { return point.found.cycles; });
    std::vector<Scheduled> exact;
    THIMBLE_CHECK(add_exact(*fewest, kUnlimited, &exact));
    for (const Scheduled& one : exact) {
      if (one.timeline_cycles < static_cast<double>(selected->fastest.cycles)) {
        selected->fastest = point_of(one);
      }
    }
    exact.clear();
    THIMBLE_CHECK(add_exact(points.front(), points.front().bytes, &exact));
    for (const Scheduled& one : exact) {
      if (one.bytes < selected->smallest.sram_bytes) selected->smallest = point_of(one);
    }
    return ok();
  }

  Error refusal(int64_t limit) {
    std::optional<int64_t> least;
    for (const Point& point : finder_.coarse()) {
      if (!least || point.bytes < *least) least = point.bytes;
    }
    for (const Point& point : least ? std::vector<Point>() : finder_.at_budget(kUnlimited)) {
      if (!least || point.bytes < *least) least = point.bytes;
    }
    if (!least) return unsupported("no schedule of this program was found");
    return unsupported("no schedule fits in {} bytes of SRAM, the smallest needs {}",
                       with_commas(limit), with_commas(*least));
  }

  [[nodiscard]] bool dedicated() const { return options_.mode == MemoryMode::kDedicatedSram; }

  const NpuProgram& program_;
  ScheduleOptions options_;
  Encoders& encoders_;
  PointFinder finder_;
};

}  // namespace

std::string default_rule(const ScheduleOptions& options) {
  std::string rule = "at most 2 % slower than the fastest schedule";
  if (options.in_feature_maps) {
    rule += " in the SRAM that whole feature maps need";
  } else if (options.memory_bytes) {
    rule += " in the SRAM of the part";
  }
  if (options.mode != MemoryMode::kDedicatedSram) return rule;
  return rule + ", or 5 % slower if that saves much traffic of the DRAM";
}

Result<Scheduled> make_schedule(const NpuProgram& program, const ScheduleOptions& options,
                                Encoders* encoders) {
  return Selector(program, options, encoders).run();
}

Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                const ScheduleOptions& options,
                                                Encoders* encoders) {
  Selector selector(program, options, encoders);
  THIMBLE_CHECK(selector.check());
  return selector.pareto_points();
}

}  // namespace thimble::engine::ethos_u
