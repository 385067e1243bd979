#include "engines/ethos_u/compiler/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/size_text.h"
#include "engines/ethos_u/compiler/place.h"
#include "engines/ethos_u/compiler/search.h"
#include "engines/ethos_u/compiler/stream_cycles.h"

namespace thimble::engine::ethos_u {
namespace {

constexpr int64_t kUnlimited = int64_t{1} << 40;
constexpr double kSlowerMax = 1.02;     // cycles of the default schedule, relative to the fastest
constexpr int64_t kSavingDivisor = 20;  // a smaller saving of memory is not worth the cycles
constexpr int kMoreBudgets = 3;         // budgets tried between two budgets of the curve
constexpr double kExactSlower = 1.002;  // of an exact schedule, relative to its estimate
constexpr double kCompared = 1.05;      // estimated cycles of compared schedules, to the fewest
constexpr double kFineStep = 1.02;      // between neighboring budgets of the fine curve
constexpr double kFineStepOfScratch = 1.1;  // the same in fast scratch: more searches
constexpr double kFineGain = 1.002;  // a smaller gain between two budgets is not divided further

/// A schedule with addresses, based on estimated weight sizes.
struct Point {
  Search::Found found;
  const Search* search = nullptr;
  int64_t bytes = 0;
};
bool is_faster(const Point& a, const Point& b) {
  return a.found.score < b.found.score;
}

/// Finds schedules of one program for given budgets, in the memory mode of the options.
class Scheduler {
 public:
  Scheduler(const NpuProgram& program, const ScheduleOptions& options, Encoders* encoders)
      : program_(program),
        options_(options),
        encoders_(*encoders),
        network_(analyse(program)),
        chooser_(network_, options_, encoders),
        pieces_(network_, options_, &chooser_) {}

  Status check() {
    for (int i = 0; i < network_.op_count(); ++i) {
      const NpuOp& op = network_.op(i);
      if (op.kind == NpuOpKind::kDma) continue;
      if (chooser_.draft(i, op.ofm.shape.h, OpMemories{}) == nullptr) {
        return unsupported("no block of operation {} fits {}", i, program_.config->name);
      }
    }
    return ok();
  }

  /// Returns the fastest schedule of at most `budget` bytes; nullopt if none exists.
  std::optional<Point> best(int64_t budget) {
    std::optional<Point> result;
    for (const Point& point : curve()) {
      if (point.bytes <= budget) result = point;
    }
    for (const Search* search : searches(budget)) {
      auto point = plan(*search, budget);
      if (point && (!result || is_faster(*point, *result))) result = std::move(*point);
    }
    return result;
  }

  /// Returns the fastest schedule of front() within `budget`. If none fits, returns best(budget).
  std::optional<Point> within(int64_t budget) {
    std::optional<Point> result;
    for (const Point& point : front()) {
      if (point.bytes <= budget) result = point;
    }
    return result ? result : best(budget);
  }

  /// Returns schedules for budgets that increase by a few percent. Each one needs more memory than
  /// the one before it, and a lower score.
  const std::vector<Point>& curve() {
    if (!curve_.empty()) return curve_;
    for (const int64_t budget : budgets()) add_points(budget, &curve_);
    return curve_;
  }

  /// Returns the schedules of curve() and of budgets between its budgets, as far as each one also
  /// needs fewer cycles than the one before it.
  const std::vector<Point>& front() {
    if (!front_.empty()) return front_;
    for (const Point& point : fine_curve()) {
      const bool faster = front_.empty() || point.found.cycles < front_.back().found.cycles;
      if (faster) front_.push_back(point);
    }
    return front_;
  }

  /// Returns the schedules of curve() and of budgets between its budgets.
  const std::vector<Point>& fine_curve() {
    if (!fine_.empty()) return fine_;
    fine_ = curve();
    const std::vector<int64_t> coarse = budgets();
    for (size_t i = 1; i < coarse.size(); ++i) divide(coarse[i - 1], coarse[i], &fine_);
    return fine_;
  }

  /// Returns the Pareto-optimal schedules of curve() in bytes and cycles.
  std::vector<ParetoPoint> pareto_points() {
    std::vector<ParetoPoint> result;
    for (const Point& point : curve()) {
      const auto cycles = static_cast<int64_t>(std::ceil(point.found.cycles));
      if (result.empty() || cycles < result.back().cycles) result.push_back({point.bytes, cycles});
    }
    return result;
  }

  /// Returns the schedule with the least memory; nullopt if none exists.
  std::optional<Point> smallest() { return curve().empty() ? best(kUnlimited) : curve().front(); }

  /// Returns the fastest schedule in the memory that the tensors need without cascades. Memory for
  /// weights is added only if it reduces the cost substantially. In fast scratch a small amount is
  /// always added, because it hides the latency of the DRAM. If the tensors do not fit, it returns
  /// the fastest schedule that fits.
  std::optional<Point> fastest_of_tensors(int64_t memory) {
    const int64_t tensors = tensor_bytes();
    if (tensors > memory) return best(memory);
    const int64_t weights = searches(kUnlimited).front()->with_weights(dedicated() ? 2560 : 0);
    int64_t more = std::max({tensors, (weights + 15) / 16 * 16, int64_t{64}});
    if (dedicated()) more = std::max(more, tensors + std::min<int64_t>(all_weights(), 608));
    std::optional<Point> with = best(std::min(more, memory));
    if (dedicated() && with) {
      // A slightly smaller budget often costs no cycles: some tensors then move to DRAM or are
      // cascaded.
      std::optional<Point> less = best(std::min(more, memory) * 15 / 16);
      const bool free = less && less->found.cycles <= with->found.cycles;
      return free ? less : with;
    }
    std::optional<Point> without = best(std::max<int64_t>(tensors, 64));
    if (!without || !with) return without ? without : with;
    const bool gains = with->found.score * 1.15 < without->found.score;
    return gains ? with : without;
  }

  /// Returns the schedule of least memory that loses at most kSlowerMax against `fastest`, or
  /// `fastest` if no such schedule saves 1 / kSavingDivisor of its memory. Between two budgets of
  /// the curve it tries more of them.
  Point default_schedule(const Point& fastest) {
    const auto is_close = [&](const Point& point) {
      return point.found.score <= fastest.found.score * kSlowerMax &&
             point.found.cycles <= fastest.found.cycles * kSlowerMax;
    };
    Point result = fastest;
    const int64_t most = fastest.bytes - fastest.bytes / kSavingDivisor;
    int64_t above = most + 16, below = 0;  // bytes of a fast enough schedule, and of a slower one
    for (const Point& point : choices()) {
      if (point.bytes > most) break;
      if (is_close(point)) {
        result = point;
        above = point.bytes;
        break;
      }
      below = point.bytes;
    }
    for (int i = 0; i < kMoreBudgets && below > 0; ++i) {
      const int64_t budget = (below + above) / 32 * 16;
      if (budget <= below || budget >= above) break;
      std::optional<Point> found;
      for (const Search* search : searches(budget)) {
        auto point = plan(*search, budget);
        if (point && is_close(*point) && (!found || point->bytes < found->bytes)) found = point;
      }
      if (found) {
        result = *found;
        above = found->bytes;
      } else {
        below = budget;
      }
    }
    return result;
  }

  /// Returns the schedule of least memory whose score is at most `slower` times that of `point`.
  Point least_memory(Point point, double slower) {
    const double most = point.found.score * slower;
    for (const Point& other : curve()) {
      if (other.bytes < point.bytes && other.found.score <= most) point = other;
    }
    return point;
  }

  /// Returns the schedule with which the others are compared: the fastest within the budget or the
  /// SRAM of the part, or else in the SRAM of the tensors.
  std::optional<Point> reference(int64_t budget) {
    if (options_.sram_bytes) return best(budget);
    return options_.compares_in_memory() ? within(budget) : fastest_of_tensors(budget);
  }

  /// Returns the schedule within `budget` that the options select.
  std::optional<Point> select(int64_t budget) {
    const std::optional<Point> fastest = reference(budget);
    if (!fastest) return fastest;
    const Point usual = options_.sram_bytes ? *fastest : default_schedule(*fastest);
    if (options_.optimise != Optimise::kSize) return usual;
    const Point small = least_memory(*fastest, dedicated() ? 1.1 : 1.5);
    return usual.bytes < small.bytes ? usual : small;
  }

  Result<std::optional<Scheduled>> finish(Point point, int64_t budget) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      THIMBLE_TRY(std::optional<Schedule> schedule,
                  assemble(program_, &point.found.draft, &encoders_));
      if (schedule && point.found.draft.budgeted(options_.mode) <= budget) {
        Scheduled scheduled;
        scheduled.schedule = std::move(*schedule);
        scheduled.bytes = point.found.draft.budgeted(options_.mode);
        scheduled.cycles = static_cast<int64_t>(std::ceil(point.found.cycles));
        for (const double cycles : point.found.op_cycles) {
          scheduled.op_cycles.push_back(static_cast<int64_t>(std::ceil(cycles)));
        }
        return std::optional<Scheduled>(std::move(scheduled));
      }
      point.search->replan_memory(&point.found, budget);
    }
    return std::optional<Scheduled>();
  }

  /// Sets the cycles of the schedule's stream on the timeline.
  Status simulate(Scheduled* scheduled) {
    THIMBLE_TRY(scheduled->timeline_cycles, stream_cycles(program_, scheduled->schedule, options_));
    return ok();
  }

  /// Returns the schedules among which the default is selected.
  const std::vector<Point>& choices() { return dedicated() ? curve() : front(); }
  /// Returns the memory whose schedules the default is compared with.
  int64_t compared_memory(const Point& reference, int64_t memory) {
    if (dedicated()) return reference.bytes;
    if (options_.compares_in_memory()) return memory;
    return std::max(reference.bytes, std::min(memory, tensor_bytes()));
  }

  [[nodiscard]] bool dedicated() const { return options_.mode == MemoryMode::kDedicatedSram; }

 private:
  /// Returns the bytes that the tensors of the budgeted memory need without cascades.
  int64_t tensor_bytes() {
    const auto found = searches(kUnlimited).front()->solve(kUnlimited);
    if (!found) return kUnlimited;
    Draft draft = found->draft;
    std::erase_if(draft.steps,
                  [](const Step& step) { return step.kind == Step::Kind::kWeightDma; });
    (void)place_tensors(network_, options_.mode, kUnlimited, &draft);
    return draft.budgeted(options_.mode);
  }

  /// Returns the encoded weights of all operations in bytes.
  int64_t all_weights() {
    int64_t bytes = 0;
    for (int i = 0; i < network_.op_count(); ++i) {
      const NpuOp& op = network_.op(i);
      if (op.kind == NpuOpKind::kDma) continue;
      bytes += chooser_.weight_bytes(i, *chooser_.draft(i, op.ofm.shape.h, OpMemories{}));
    }
    return bytes;
  }

  std::optional<Point> plan(const Search& search, int64_t budget) {
    int64_t aim = budget;
    for (int attempt = 0; attempt < 4 && aim >= 0; ++attempt) {
      auto found = search.solve(aim);
      if (!found) break;
      const int64_t bytes = found->draft.budgeted(options_.mode);
      if (bytes <= budget) return Point{std::move(*found), &search, bytes};
      aim -= std::max<int64_t>(bytes - budget, budget / 100 + 16);
    }
    return std::nullopt;
  }

  /// Adds the schedules that the searches find for a budget. `points` have increasing bytes and
  /// decreasing scores.
  void add_points(int64_t budget, std::vector<Point>* points) {
    for (const Search* search : searches(budget)) {
      std::optional<Point> found = plan(*search, budget);
      if (!found) continue;
      const auto at =
          std::upper_bound(points->begin(), points->end(), *found,
                           [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
      if (at != points->begin() && !is_faster(*found, *std::prev(at))) continue;
      const auto same = at != points->begin() && std::prev(at)->bytes == found->bytes;
      const auto from = same ? std::prev(at) : at;
      auto to = from;
      while (to != points->end() && !is_faster(*to, *found)) ++to;
      points->insert(points->erase(from, to), std::move(*found));
    }
  }

  /// Adds schedules for budgets between `low` and `high`, until their distance is kFineStep or more
  /// memory gains nothing.
  void divide(int64_t low, int64_t high, std::vector<Point>* points) {
    const int64_t middle = (low + high) / 32 * 16;
    if (middle <= low || middle >= high) return;
    const double step = dedicated() ? kFineStepOfScratch : kFineStep;
    if (static_cast<double>(high) < step * static_cast<double>(low)) return;
    const Point* less = nullptr;
    const Point* more = nullptr;
    for (const Point& point : *points) {
      if (point.bytes <= low) less = &point;
      if (point.bytes <= high) more = &point;
    }
    if (more == nullptr) return;
    if (less != nullptr && less->found.score < kFineGain * more->found.score) return;
    add_points(middle, points);
    divide(low, middle, points);
    divide(middle, high, points);
  }

  /// Returns the searches to try for a budget.
  std::vector<const Search*> searches(int64_t budget) {
    std::vector<const Search*> result;
    if (!dedicated()) {
      if (plain_ == nullptr) plain_ = add_search(every_tensor(), false);
      result.push_back(plain_);
      if (budget >= plain_->whole()) return result;
      if (cascading_ == nullptr) cascading_ = add_search(every_tensor(), true);
      result.push_back(cascading_);
      return result;
    }
    const auto add_fast = [&](const std::vector<bool>& fast) {
      for (const bool cascades : {false, true}) {
        const Search*& known = dedicated_[{fast, cascades}];
        if (known == nullptr) known = add_search(fast, cascades);
        result.push_back(known);
      }
    };
    // Tries all copies of inputs and no copies. The cycles that a copy saves occur in other
    // operations, so a single search cannot decide this.
    const auto add = [&](int64_t limit) {
      const std::vector<bool> fast = fast_tensors(limit);
      add_fast(fast);
      const std::vector<bool> bare = without_copies(fast);
      if (bare != fast) add_fast(bare);
    };
    add(budget);
    add(budget / 2);
    add(0);
    return result;
  }
  [[nodiscard]] std::vector<bool> without_copies(std::vector<bool> fast) const {
    for (const NpuOp& op : program_.ops) {
      if (op.stages_input) fast[static_cast<size_t>(op.ofm.tensor)] = false;
    }
    return fast;
  }
  const Search* add_search(const std::vector<bool>& counted, bool cascades) {
    owned_.push_back(
        std::make_unique<Search>(network_, options_, &chooser_, &pieces_, counted, cascades));
    return owned_.back().get();
  }
  [[nodiscard]] std::vector<bool> every_tensor() const {
    std::vector<bool> counted;
    for (const NpuTensor& tensor : program_.tensors) {
      counted.push_back(tensor.role != TensorRole::kConstant);
    }
    return counted;
  }

  /// Returns the budgets to try, in ascending order.
  std::vector<int64_t> budgets() {
    // Fast scratch can have any size, and each budget needs several searches, so the steps are
    // larger.
    const double first = dedicated() ? 1.2 : 1.02, growth = 1.03;
    const auto least = dedicated() ? int64_t{16384} : searches(0).back()->smallest();
    // Budgets do not exceed the available memory.
    const int64_t most = std::min(options_.memory_bytes.value_or(kUnlimited),
                                  searches(kUnlimited).front()->whole() + all_weights() + 4096);
    std::vector<int64_t> all;
    double step = first;
    for (auto at = static_cast<double>(std::max<int64_t>(least, 64));
         at < static_cast<double>(most); at *= step, step = std::min(1.25, step * growth)) {
      all.push_back((static_cast<int64_t>(at) + 15) / 16 * 16);
    }
    if (dedicated()) all.push_back(most / 16 * 16 - most / 640 * 16);
    all.push_back(most);
    return all;
  }

  /// Dedicated_Sram: selects the tensors with the most accesses per operation of their lifetime, as
  /// many as `limit` bytes hold at any time.
  [[nodiscard]] std::vector<bool> fast_tensors(int64_t limit) const {
    std::vector<std::pair<double, size_t>> order;
    for (size_t t = 0; t < network_.tensors.size(); ++t) {
      const TensorUse& use = network_.tensors[t];
      if (program_.tensors[t].role != TensorRole::kIntermediate || use.life.is_empty()) continue;
      const auto uses = static_cast<double>(use.readers.size() + use.writers.size());
      order.emplace_back(-uses / use.life.steps(), t);
    }
    std::stable_sort(order.begin(), order.end());
    std::vector<int64_t> held(static_cast<size_t>(network_.op_count()) + 1, 0);
    std::vector<bool> fast(network_.tensors.size(), false);
    for (const auto& [score, t] : order) {
      const TensorUse& use = network_.tensors[t];
      bool fits = true;
      for (int i = use.life.first; i <= use.life.last; ++i) {
        fits = fits && held[static_cast<size_t>(i)] + use.bytes <= limit;
      }
      if (!fits) continue;
      fast[t] = true;
      for (int i = use.life.first; i <= use.life.last; ++i)
        held[static_cast<size_t>(i)] += use.bytes;
    }
    return fast;
  }

  const NpuProgram& program_;
  ScheduleOptions options_;
  Encoders& encoders_;
  ProgramAnalysis network_;
  BlockChooser chooser_;
  PieceCosts pieces_;
  std::vector<std::unique_ptr<Search>> owned_;
  const Search* plain_ = nullptr;
  const Search* cascading_ = nullptr;
  std::map<std::pair<std::vector<bool>, bool>, const Search*> dedicated_;
  std::vector<Point> curve_, fine_, front_;
};

/// Compares exact schedules of one program.
class Finisher {
 public:
  Finisher(Scheduler* scheduler, int64_t limit) : scheduler_(*scheduler), limit_(limit) {}

  /// Returns the schedule of a point with exact sizes of the weights, which may need slightly more
  /// memory than estimated. Tries budgets slightly above the point's until the exact schedule is as
  /// fast as the estimate, and returns the fastest. Nothing if no schedule fits.
  Result<std::optional<Scheduled>> finish_near(const Point& point, int64_t limit) {
    std::optional<Scheduled> result;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const int64_t allowed = point.bytes + point.bytes * attempt / 200;
      if (allowed > limit) break;
      THIMBLE_TRY(std::optional<Scheduled> found, scheduler_.finish(point, allowed));
      if (!found) continue;
      THIMBLE_CHECK(scheduler_.simulate(&*found));
      const bool exact =
          static_cast<double>(found->cycles) <= std::ceil(point.found.cycles) * kExactSlower;
      keep_faster(std::move(found), &result);
      if (exact) break;
    }
    return result;
  }

  /// Returns the exact schedule with the least cost within the limit. A point is compared unless
  /// the estimate of one with less memory is much lower. The compared points do not depend on the
  /// limit, so a larger limit compares at least the same ones.
  Result<std::optional<Scheduled>> fastest() {
    std::optional<Scheduled> result;
    THIMBLE_CHECK(compare(scheduler_.choices(), &result));
    if (!scheduler_.dedicated()) return result;
    const std::vector<Point>& points = scheduler_.fine_curve();
    THIMBLE_CHECK(compare(points, &result));
    if (result || points.empty() || points.front().bytes > limit_) return result;
    // The exact sizes exceed the limit: the smallest schedule, without the copies that do not fit.
    return scheduler_.finish(points.front(), limit_);
  }

  /// Returns the exact schedule of `point` if it is at most kSlowerMax slower than the best one
  /// in the memory of the comparison, and otherwise the one of least memory for which this is true.
  /// In Dedicated_Sram the estimated traffic of the DRAM is added to the cycles, as in the scores.
  Result<std::optional<Scheduled>> close_to(const Point& point, const Point& reference) {
    const int64_t memory = scheduler_.compared_memory(reference, limit_);
    std::vector<const Point*> points = {&point};
    if (reference.bytes != point.bytes) points.push_back(&reference);
    double least = std::min(point.found.score, reference.found.score);
    for (const Point& other : scheduler_.choices()) {
      if (other.bytes > memory) break;
      least = std::min(least, other.found.score);
      if (other.bytes != point.bytes && other.bytes != reference.bytes) points.push_back(&other);
    }
    struct Exact {
      Scheduled schedule;
      double cost = 0;
      bool is_selected = false;  // by the estimates
    };
    std::vector<Exact> exact;
    double best = std::numeric_limits<double>::infinity();
    for (const Point* at : points) {
      if (at != &point && at->found.score > kCompared * least) continue;
      THIMBLE_TRY(std::optional<Scheduled> found, finish_near(*at, limit_));
      if (!found) continue;
      const double cost = found->timeline_cycles + at->found.score - at->found.cycles;
      best = std::min(best, cost);
      exact.push_back({std::move(*found), cost, at == &point});
    }
    std::optional<Scheduled> result;
    for (Exact& one : exact) {
      if (one.cost > kSlowerMax * best) continue;
      if (result && one.schedule.bytes >= result->bytes) continue;
      result = std::move(one.schedule);
      if (one.is_selected) break;
    }
    return result;
  }

 private:
  static void keep_faster(std::optional<Scheduled> found, std::optional<Scheduled>* best) {
    const bool faster =
        found &&
        (!*best || found->timeline_cycles < (*best)->timeline_cycles ||
         (found->timeline_cycles == (*best)->timeline_cycles && found->bytes < (*best)->bytes));
    if (faster) *best = std::move(found);
  }

  /// Replaces `best` by the exact schedule of a point with a smaller cost: its cycles, in
  /// Dedicated_Sram with the estimated traffic of the DRAM, as in the scores.
  Status compare(const std::vector<Point>& points, std::optional<Scheduled>* best) {
    double least = std::numeric_limits<double>::infinity();
    for (const Point& point : points) {
      if (point.bytes > limit_) break;
      if (point.found.score > kCompared * least) continue;
      least = std::min(least, point.found.score);
      THIMBLE_TRY(std::optional<Scheduled> found, finish_near(point, limit_));
      if (!found) continue;
      const double cost = found->timeline_cycles + point.found.score - point.found.cycles;
      if (*best && (cost > cost_ || (cost == cost_ && found->bytes >= (*best)->bytes))) continue;
      cost_ = cost;
      *best = std::move(found);
    }
    return ok();
  }

  Scheduler& scheduler_;
  int64_t limit_;
  double cost_ = 0;  // of the best schedule of compare()
};

}  // namespace

Result<Scheduled> make_schedule(const NpuProgram& program, const ScheduleOptions& options,
                                Encoders* encoders) {
  Scheduler scheduler(program, options, encoders);
  THIMBLE_CHECK(scheduler.check());
  const bool size = options.optimise == Optimise::kSize;
  const int64_t memory = options.memory_bytes.value_or(kUnlimited);
  const int64_t limit = std::min(memory, options.sram_bytes.value_or(kUnlimited));
  std::optional<Scheduled> result;
  int64_t budget = limit;
  Finisher finisher(&scheduler, limit);
  if (options.sram_bytes && !size) {
    THIMBLE_TRY(result, finisher.fastest());
  } else if (!size) {
    const std::optional<Point> point = scheduler.select(budget);
    if (point && point->bytes <= limit) {
      THIMBLE_TRY(result, finisher.close_to(*point, *scheduler.reference(budget)));
    }
  }
  for (int attempt = 0; attempt < 6 && budget >= 0 && !result; ++attempt) {
    const std::optional<Point> point = scheduler.select(budget);
    if (!point || point->bytes > limit) break;
    // The exact weight sizes may need slightly more memory than estimated, within the limit.
    const int64_t allowed = size || !options.sram_bytes
                                ? std::min(limit, point->bytes + point->bytes * attempt / 200)
                                : limit;
    THIMBLE_TRY(result, scheduler.finish(*point, allowed));
    if (options.sram_bytes && !size) budget = point->bytes - 16;
  }
  if (result) {
    const std::vector<ParetoPoint> front = scheduler.pareto_points();
    if (!front.empty()) {
      result->smallest = front.front();
      result->fastest = front.back();
    }
    return std::move(*result);
  }
  const auto least = scheduler.smallest();
  if (!least) return unsupported("no schedule of this program was found");
  return unsupported("no schedule fits in {} bytes of SRAM, the smallest needs {}",
                     with_commas(limit), with_commas(least->bytes));
}

Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                const ScheduleOptions& options,
                                                Encoders* encoders) {
  Scheduler scheduler(program, options, encoders);
  THIMBLE_CHECK(scheduler.check());
  return scheduler.pareto_points();
}

}  // namespace thimble::engine::ethos_u
