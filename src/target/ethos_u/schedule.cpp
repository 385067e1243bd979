#include "target/ethos_u/schedule.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "target/ethos_u/search.h"

namespace thimble::target::ethos_u {
namespace {

constexpr int64_t kUnlimited = int64_t{1} << 40;

/// Searches one program under budgets, in the memory mode of the options.
class Scheduler {
 public:
  Scheduler(const NpuProgram& program, const ScheduleOptions& options, Encoders* encoders)
      : program_(program),
        options_(options),
        encoders_(*encoders),
        network_(analyse(program)),
        chooser_(network_, options_, encoders) {}

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

  [[nodiscard]] bool dedicated() const { return options_.mode == MemoryMode::kDedicatedSram; }

  /// The fastest of what the searches find under a budget.
  std::optional<Search::Found> best(int64_t budget) {
    std::optional<Search::Found> result;
    const auto take = [&](std::optional<Search::Found> found) {
      if (found && (!result || found->cycles < result->cycles)) result = std::move(found);
    };
    if (!dedicated()) {
      take(search(budget < whole()).solve(budget));
      return result;
    }
    for (const double share : {1.0, 0.75, 0.5, 0.0}) {
      const auto limit = static_cast<int64_t>(static_cast<double>(budget) * share);
      for (const bool cascades : {false, true}) {
        take(Search(network_, options_, &chooser_, fast_tensors(limit), cascades).solve(budget));
        if (share == 1.0 && !cascades && fits_all(budget)) return result;
      }
    }
    return result;
  }

  int64_t smallest() { return dedicated() ? 0 : search(true).smallest(); }
  int64_t whole() { return search(false).whole(); }

  /// A schedule of at most `budget` bytes in fact, not only by estimate; nothing if none is found.
  Result<std::optional<Scheduled>> within(int64_t budget) {
    int64_t aim = budget;
    for (int attempt = 0; attempt < 10 && aim >= 0; ++attempt) {
      const auto found = best(aim);
      if (!found) return std::optional<Scheduled>();
      THIMBLE_TRY(Scheduled scheduled, finish(*found));
      const int64_t over = budgeted_bytes(scheduled.schedule, options_.mode) - budget;
      if (over <= 0) return std::optional<Scheduled>(std::move(scheduled));
      aim -= std::max<int64_t>(over, budget / 200 + 16);
    }
    return std::optional<Scheduled>();
  }

  Result<Scheduled> finish(const Search::Found& found) {
    Scheduled scheduled;
    THIMBLE_TRY(scheduled.schedule, assemble(program_, options_, found.draft, &encoders_));
    scheduled.cycles = static_cast<int64_t>(std::ceil(found.cycles));
    for (const double cycles : found.op_cycles) {
      scheduled.op_cycles.push_back(static_cast<int64_t>(std::ceil(cycles)));
    }
    return scheduled;
  }

  /// Budgets worth a look, rising.
  std::vector<int64_t> budgets(bool cascades) {
    std::vector<int64_t> all;
    const int64_t low = cascades ? smallest() : whole(), high = whole();
    int64_t weights = 0;
    for (int i = 0; i < network_.op_count(); ++i) {
      const NpuOp& op = network_.op(i);
      if (op.kind == NpuOpKind::kDma) continue;
      weights += chooser_.weight_bytes(i, *chooser_.draft(i, op.ofm.shape.h, OpMemories{}));
    }
    for (double at = static_cast<double>(std::max<int64_t>(low, 256));
         at < static_cast<double>(high + weights); at *= 1.08) {
      all.push_back(static_cast<int64_t>(at) / 16 * 16 + 16);
    }
    all.push_back(high + weights + 4096);
    return all;
  }

 private:
  Search& search(bool cascades) {
    std::unique_ptr<Search>& at = cascades ? cascading_ : plain_;
    if (!at) {
      at = std::make_unique<Search>(network_, options_, &chooser_, every_tensor(), cascades);
    }
    return *at;
  }
  [[nodiscard]] std::vector<bool> every_tensor() const {
    std::vector<bool> counted;
    for (const NpuTensor& tensor : program_.tensors) {
      counted.push_back(tensor.role != TensorRole::kConstant);
    }
    return counted;
  }

  /// Whether all tensors but inputs and outputs fit into the fast scratch together.
  bool fits_all(int64_t budget) {
    const std::vector<bool> fast = fast_tensors(budget);
    for (size_t t = 0; t < fast.size(); ++t) {
      const NpuTensor& tensor = program_.tensors[t];
      if (tensor.role == TensorRole::kIntermediate && network_.tensors[t].used() && !fast[t]) {
        return false;
      }
    }
    return true;
  }

  /// Dedicated_Sram: the tensors most often used for their bytes and the time they live, as many
  /// as `limit` holds at a time.
  [[nodiscard]] std::vector<bool> fast_tensors(int64_t limit) const {
    std::vector<std::pair<double, size_t>> order;
    for (size_t t = 0; t < network_.tensors.size(); ++t) {
      const TensorUse& use = network_.tensors[t];
      if (program_.tensors[t].role != TensorRole::kIntermediate || !use.used()) continue;
      const auto uses = static_cast<double>(use.readers.size() + use.writers.size());
      order.emplace_back(-uses / static_cast<double>(use.last - use.first + 1), t);
    }
    std::stable_sort(order.begin(), order.end());
    std::vector<int64_t> held(static_cast<size_t>(network_.op_count()) + 1, 0);
    std::vector<bool> fast(network_.tensors.size(), false);
    for (const auto& [score, t] : order) {
      const TensorUse& use = network_.tensors[t];
      bool fits = true;
      for (int i = use.first; i <= use.last; ++i) {
        fits = fits && held[static_cast<size_t>(i)] + use.bytes <= limit;
      }
      if (!fits) continue;
      fast[t] = true;
      for (int i = use.first; i <= use.last; ++i) held[static_cast<size_t>(i)] += use.bytes;
    }
    return fast;
  }

  const NpuProgram& program_;
  ScheduleOptions options_;
  Encoders& encoders_;
  Network network_;
  Chooser chooser_;
  std::unique_ptr<Search> plain_, cascading_;
};

/// The least memory of which the cycles are within a hundredth of the best.
int64_t comfortable_budget(Scheduler* scheduler) {
  std::vector<std::pair<int64_t, double>> points;
  double least = 0;
  for (const int64_t budget : scheduler->budgets(false)) {
    const auto found = scheduler->best(budget);
    if (!found) continue;
    points.emplace_back(budget, found->cycles);
    if (points.size() == 1 || found->cycles < least) least = found->cycles;
  }
  for (const auto& [budget, cycles] : points) {
    if (cycles <= least * 1.01) return budget;
  }
  return kUnlimited;
}

/// The smallest memory that a schedule was found for.
Result<std::optional<Scheduled>> smallest_schedule(Scheduler* scheduler, MemoryMode mode) {
  std::optional<Scheduled> best;
  const int64_t low = scheduler->smallest();
  for (const double more : {1.0, 1.01, 1.02, 1.04, 1.08}) {
    const auto found = scheduler->best(static_cast<int64_t>(static_cast<double>(low) * more) + 16);
    if (!found) continue;
    THIMBLE_TRY(Scheduled scheduled, scheduler->finish(*found));
    const int64_t bytes = budgeted_bytes(scheduled.schedule, mode);
    if (!best || bytes < budgeted_bytes(best->schedule, mode)) best = std::move(scheduled);
    if (bytes <= static_cast<int64_t>(static_cast<double>(low) * more) + 16) break;
  }
  return best;
}

}  // namespace

Result<Scheduled> make_schedule(const NpuProgram& program, const ScheduleOptions& options,
                                Encoders* encoders) {
  Scheduler scheduler(program, options, encoders);
  THIMBLE_CHECK(scheduler.check());
  if (options.optimise == Optimise::kSize) {
    THIMBLE_TRY(std::optional<Scheduled> least, smallest_schedule(&scheduler, options.mode));
    const bool fits = least && (!options.sram_bytes || budgeted_bytes(least->schedule, options.mode) <=
                                                           *options.sram_bytes);
    if (fits) return std::move(*least);
  } else {
    const int64_t budget =
        options.sram_bytes ? *options.sram_bytes : comfortable_budget(&scheduler);
    THIMBLE_TRY(std::optional<Scheduled> found, scheduler.within(budget));
    if (found) return std::move(*found);
    if (!options.sram_bytes) {
      THIMBLE_TRY(found, scheduler.within(kUnlimited));
      if (found) return std::move(*found);
    }
  }
  THIMBLE_TRY(const std::optional<Scheduled> least, smallest_schedule(&scheduler, options.mode));
  if (!least) return unsupported("no schedule of this program was found");
  return unsupported("{} bytes of SRAM hold no schedule, the smallest needs {}",
                     options.sram_bytes.value_or(0), budgeted_bytes(least->schedule, options.mode));
}

Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                const ScheduleOptions& options,
                                                Encoders* encoders) {
  Scheduler scheduler(program, options, encoders);
  THIMBLE_CHECK(scheduler.check());
  std::vector<ParetoPoint> points;
  for (const int64_t budget : scheduler.budgets(true)) {
    THIMBLE_TRY(const std::optional<Scheduled> found, scheduler.within(budget));
    if (!found) continue;
    const ParetoPoint point{budgeted_bytes(found->schedule, options.mode), found->cycles};
    points.push_back(point);
  }
  std::sort(points.begin(), points.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
    return a.sram_bytes != b.sram_bytes ? a.sram_bytes < b.sram_bytes : a.cycles < b.cycles;
  });
  std::vector<ParetoPoint> front;
  for (const ParetoPoint& point : points) {
    if (front.empty() || point.cycles < front.back().cycles) front.push_back(point);
  }
  return front;
}

}  // namespace thimble::target::ethos_u
