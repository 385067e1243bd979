// SPDX-License-Identifier: Apache-2.0
#include "memory/budget.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "ir/op_cost.h"
#include "memory/buffer_aliasing.h"
#include "memory/reorder.h"
#include "memory/row_tiling.h"
#include "memory/shared_arena.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

constexpr int kRangeOpsMax = 24;            // operators in one tiled range
constexpr int kRangesMax = 16;              // number of tiled ranges
constexpr int kAttempts = 6;                // attempts that approach the budget
constexpr int64_t kCallInstructions = 300;  // overhead of a call, in instructions
constexpr int64_t kBytesAtOnce = 4;         // bytes copied per instruction
constexpr int kScratchAttemptsMax = 8;      // consecutive unsuccessful attempts to reduce scratch
constexpr int64_t kCoarse = 4;              // coarse step between budgets: 1/4 of the budget
constexpr int64_t kFine = 16;               // fine step: 1/16 of the budget
constexpr int64_t kBudgetDivisorMax =
    8;                            // the smallest budget is 1/8 of what the untiled graph needs
constexpr int64_t kAimStep = 32;  // an aim is 1/32 smaller than the previous one
constexpr int64_t kAimDivisorMax = 16;  // the smallest aim is 1/16 of the untiled graph's need
constexpr int64_t kPlacementEffortMax = 4'000'000;  // limits the time for large networks
constexpr int64_t kTileRows[] = {1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 24, 28, 32};

/// Estimates the live bytes while each operator runs, without addresses.
class Estimate {
 public:
  Estimate(const ir::Graph& graph, bool owns_inputs) : graph_(graph) {
    const std::vector<int> producers = graph.producers();
    const std::vector<std::vector<int>> consumers = graph.consumers();
    const auto end = static_cast<int>(graph.ops().size());
    for (size_t i = 0; i < graph.value_count(); ++i) {
      const auto value = static_cast<ValueId>(i);
      Buffer buffer = {static_cast<int64_t>(graph.type(value).bytes()), {producers[i], -1}};
      for (const int reader : consumers[i]) buffer.life.last = std::max(buffer.life.last, reader);
      if (std::ranges::count(graph.results(), value) != 0) buffer.life.last = end;
      if (graph.is_state(value)) buffer.life = {-1, end};
      const bool there =
          producers[i] >= 0 || graph.is_state(value) || (owns_inputs && graph.is_input(value));
      if (!there || graph.value(value).constant) continue;
      buffers_.push_back(buffer);
      readers_.push_back(consumers[i]);
    }
  }

  /// Returns the bytes of values that are live across these operators but not used by them.
  int64_t across(int first, int last) const {
    const Lifetime range = {first, last};
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Lifetime& life = buffers_[i].life;
      const bool is_read =
          std::ranges::any_of(readers_[i], [&](int reader) { return range.contains(reader); });
      if (life.first < first && last < life.last && !is_read) bytes += buffers_[i].bytes;
    }
    return bytes;
  }
  int64_t at(int op) const {
    int64_t bytes = 0, operand = 0;
    for (const Buffer& b : buffers_) {
      if (b.life.contains(op)) bytes += b.bytes;
      if (b.life.last == op) operand = std::max(operand, b.bytes);
    }
    // Approximation: the result overwrites the operand.
    const auto result =
        static_cast<int64_t>(graph_.type(graph_.ops()[static_cast<size_t>(op)].output).bytes());
    return bytes - std::min(operand, result);
  }

 private:
  const ir::Graph& graph_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int>> readers_;  // by buffer: operators
};

struct TiledRange {
  RowTiling tiling;
  RowTilingCost cost;
  int64_t bytes = 0;  // of all buffers that are live at the same time
  [[nodiscard]] int64_t work() const {
    return cost.copied_bytes / kBytesAtOnce + cost.calls * kCallInstructions;
  }
};

class TilingChooser {
 public:
  TilingChooser(const ir::Graph& graph, bool owns_inputs)
      : graph_(graph), owns_inputs_(owns_inputs), estimate_(graph, owns_inputs) {}

  /// Chooses tiled ranges that reduce the estimate to `bytes`, or as close to it as possible.
  std::vector<TiledRange> choose(int64_t bytes) const {
    std::vector<TiledRange> chosen;
    for (int round = 0; round < kRangesMax; ++round) {
      const int worst = op_at_peak(chosen, bytes);
      if (worst < 0) break;
      const std::optional<TiledRange> best = best_around(worst, chosen, bytes);
      if (!best) break;
      std::erase_if(chosen, [&](const TiledRange& old) { return meet(old.tiling, best->tiling); });
      chosen.push_back(*best);
    }
    std::ranges::sort(chosen, {}, [](const TiledRange& c) { return c.tiling.first; });
    return chosen;
  }

 private:
  static bool meet(const RowTiling& a, const RowTiling& b) {
    return a.first <= b.last && b.first <= a.last;
  }
  /// Returns the operator with the most live bytes, if they exceed `bytes`; else -1.
  int op_at_peak(const std::vector<TiledRange>& chosen, int64_t bytes) const {
    int worst = -1;
    for (int op = 0; op < static_cast<int>(graph_.ops().size()); ++op) {
      const int64_t here = live_bytes_at(op, chosen);
      if (here <= bytes) continue;
      bytes = here;
      worst = op;
    }
    return worst;
  }

  std::optional<TiledRange> best_around(int worst, const std::vector<TiledRange>& chosen,
                                        int64_t bytes) const {
    std::optional<TiledRange> best;
    const int count = static_cast<int>(graph_.ops().size());
    for (int first = std::max(0, worst - kRangeOpsMax + 1); first <= worst; ++first) {
      for (int last = worst; last < std::min(count, first + kRangeOpsMax); ++last) {
        if (cuts(first, last, chosen)) continue;
        for (const int64_t rows : kTileRows) {
          const auto& cost = cost_of({first, last, rows});
          if (!cost) break;
          const TiledRange choice = {
              {first, last, rows}, *cost, cost->live_bytes + estimate_.across(first, last)};
          if (!best || better(choice, *best, bytes)) best = choice;
        }
      }
    }
    // The best candidate must need less memory than the current choice.
    const bool gains = best && best->bytes < live_bytes_at(worst, chosen);
    return gains ? best : std::nullopt;
  }
  int64_t live_bytes_at(int op, const std::vector<TiledRange>& chosen) const {
    for (const TiledRange& c : chosen) {
      if (c.tiling.first <= op && op <= c.tiling.last) return c.bytes;
    }
    return estimate_.at(op);
  }
  /// Returns true if the range contains a part of a chosen range. It may contain a whole one.
  static bool cuts(int first, int last, const std::vector<TiledRange>& chosen) {
    return std::ranges::any_of(chosen, [&](const TiledRange& c) {
      const bool inside = first <= c.tiling.first && c.tiling.last <= last;
      return !inside && first <= c.tiling.last && c.tiling.first <= last;
    });
  }
  static bool better(const TiledRange& a, const TiledRange& b, int64_t bytes) {
    const bool a_fits = a.bytes <= bytes, b_fits = b.bytes <= bytes;
    if (a_fits != b_fits) return a_fits;
    if (a_fits) return a.work() < b.work();
    return a.bytes < b.bytes;
  }

  const std::optional<RowTilingCost>& cost_of(const RowTiling& tiling) const {
    const std::tuple key(tiling.first, tiling.last, tiling.rows);
    const auto known = costs_.find(key);
    if (known != costs_.end()) return known->second;
    return costs_.emplace(key, row_tiling_cost(graph_, tiling, owns_inputs_)).first->second;
  }

  const ir::Graph& graph_;
  const bool owns_inputs_;
  const Estimate estimate_;
  /// Each budget asks for the same.
  mutable std::map<std::tuple<int, int, int64_t>, std::optional<RowTilingCost>> costs_;
};

bool has_delegates(const ir::Graph& graph) {
  return std::ranges::any_of(graph.ops(),
                             [](const ir::Op& op) { return op.kind == ir::OpKind::delegate; });
}

struct InstructionCount {
  int64_t instructions = 0;  // an estimate; calls without one count like a copy of the result
  int64_t unknown = 0;       // number of calls without an estimate
};
InstructionCount count_instructions(const engine::Lowered& lowered, const engine::Core& cpu) {
  InstructionCount work;
  for (const engine::KernelCall& call : lowered.calls) {
    if (call.delegate >= 0) continue;
    const auto estimate = cpu.cost(lowered, call, cpu).instructions;
    const auto copied = static_cast<int64_t>(lowered.graph.type(call.out).bytes());
    work.instructions += estimate.value_or(kCallInstructions + copied);
    work.unknown += estimate ? 0 : 1;
  }
  return work;
}

/// Returns the operator whose call has the most live bytes, if this call has scratch and is not in
/// `min_scratch_ops`; else -1.
int op_at_peak_with_scratch(const engine::Lowered& lowered, const MemoryPlan& memory_plan,
                            std::span<const int> min_scratch_ops) {
  int64_t most = 0;
  int op = -1;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    const int64_t live = live_bytes(memory_plan, step);
    const int own = lowered.calls[step].ir_op;
    const bool has_scratch = memory_plan.scratch_of_call[step] >= 0;
    const bool may = has_scratch && std::ranges::count(min_scratch_ops, own) == 0;
    if (live < most || (live == most && !may)) continue;
    most = live;
    op = may ? own : -1;
  }
  return op;
}

std::string note_of(const ir::Graph& graph, const TiledRange& choice) {
  const auto name = [&](int op) {
    return graph.value(graph.ops()[static_cast<size_t>(op)].output).name;
  };
  return fmt::format(
      "row tiling: {} to {} in {} tiles of {} rows: {} calls instead of {}, {} B copied",
      name(choice.tiling.first), name(choice.tiling.last), choice.cost.tiles, choice.tiling.rows,
      choice.cost.calls, choice.tiling.last - choice.tiling.first + 1, choice.cost.copied_bytes);
}

/// One implementation of the graph: its memory, its cost and its tiled ranges.
struct LoweringVariant {
  BudgetedLowering budgeted;
  int64_t macs = 0;
  InstructionCount work;
  std::vector<RowTiling> tilings;
  int op_at_peak = -1;  // result of op_at_peak_with_scratch
};

class LoweringVariants {
 public:
  LoweringVariants(const ir::Graph& graph, const engine::Core& cpu, const engine::Options& options)
      : graph_(graph), cpu_(cpu), options_(options), chooser_(graph, options.owns_inputs) {}

  Result<LoweringVariant> whole() { return at({}, {}); }

  /// Sum of the squared operator counts of all variants until now: the time of a memory plan.
  [[nodiscard]] int64_t effort() const { return effort_; }

  /// Tiles more operators until the budget is met, or returns the smallest variant found. `best`
  /// is above the budget. The aims for the chooser's estimate are steps below the bytes of `best`,
  /// equal for all budgets: a larger budget tries all aims that a smaller one tries, so that it is
  /// met if the smaller one is. An estimate may meet its aim although the memory plan needs more.
  Result<LoweringVariant> within(int64_t sram_bytes, LoweringVariant best) {
    const int64_t all = best.budgeted.bytes;
    std::vector<int64_t> aims;  // descending
    for (int64_t aim = all; aim > all / kAimDivisorMax; aim -= aim / kAimStep + 1) {
      if (aim <= sram_bytes) aims.push_back(aim);
    }
    WithinSearch search = {std::move(best), sram_bytes, {}};
    // Approaches the budget by the excess of the last attempt.
    int64_t next = sram_bytes - all / 256;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto aim = std::ranges::find_if(aims, [&](int64_t each) { return each <= next; });
      if (aim == aims.end()) break;
      THIMBLE_TRY(const int64_t excess, try_aim(*aim, &search));
      if (search.is_met()) return std::move(search.best);
      next = *aim - std::max<int64_t>(excess, 1);
    }
    for (const int64_t aim : aims) {
      THIMBLE_TRY([[maybe_unused]] const int64_t excess, try_aim(aim, &search));
      if (search.is_met()) break;
    }
    return std::move(search.best);
  }

  /// Returns the smallest variant with at most kInstructionRatioMax times the instructions of
  /// `whole`. Searches all budgets with the coarse step, then with the fine step around the best
  /// one. If the coarse search found nothing, the fine search covers all budgets.
  Result<LoweringVariant> smallest(const LoweringVariant& whole) {
    const int64_t all = whole.budgeted.bytes;
    Search search = {whole,
                     kInstructionRatioMax * static_cast<double>(whole.work.instructions),
                     all,
                     {},
                     effort_ + kPlacementEffortMax};
    THIMBLE_CHECK(search_budgets(all, all / kBudgetDivisorMax, kCoarse, &search));
    const int64_t aim = search.aim;
    if (aim == all) {
      THIMBLE_CHECK(search_budgets(all, all / kBudgetDivisorMax, kFine, &search));
    } else {
      THIMBLE_CHECK(search_budgets(aim + aim / kCoarse, aim - aim / kCoarse, kFine, &search));
    }
    return reduce_scratch(std::move(search.best), search.instructions);
  }

 private:
  struct Search {
    LoweringVariant best;
    double instructions;  // upper bound
    int64_t aim;          // budget with which `best` was found
    std::vector<std::vector<RowTiling>> seen{};
    int64_t effort_max;  // no further variant above this effort()
  };

  struct WithinSearch {
    LoweringVariant best;
    int64_t sram_bytes;
    std::vector<std::vector<RowTiling>> seen;
    [[nodiscard]] bool is_met() const { return best.budgeted.bytes <= sram_bytes; }
  };

  /// Returns the bytes above the budget of the variant with this aim; 0 if it was tried before or
  /// tiles nothing.
  Result<int64_t> try_aim(int64_t aim, WithinSearch* search) {
    const std::vector<TiledRange> choices = chooser_.choose(aim);
    const std::vector<RowTiling> tilings = tilings_of(choices);
    if (tilings.empty() || std::ranges::count(search->seen, tilings) != 0) return int64_t{0};
    search->seen.push_back(tilings);
    THIMBLE_TRY(LoweringVariant next, at(tilings, {}));
    add_notes(choices, &next);
    const int64_t excess = next.budgeted.bytes - search->sram_bytes;
    if (next.budgeted.bytes < search->best.budgeted.bytes) search->best = std::move(next);
    return excess;
  }

  /// A variant of a search without its memory plan.
  struct Candidate {
    int64_t aim;
    std::vector<TiledRange> choices;
    int64_t bytes_min;  // a lower bound
  };

  /// Searches budgets below `from`, down to `to`. Each is 1/`part` smaller than the previous one.
  /// Memory is planned for the candidate with the lowest bound first, because most others cannot
  /// need less then. The result is the first candidate in the order of budgets that needs least.
  Status search_budgets(int64_t from, int64_t to, int64_t part, Search* search) {
    std::vector<Candidate> candidates;
    std::optional<LoweringVariant> lowest;  // of the candidate with the lowest bound
    for (int64_t aim = from - from / part; aim > std::max(to, part); aim -= aim / part) {
      std::vector<TiledRange> choices = chooser_.choose(aim);
      std::vector<RowTiling> tilings = tilings_of(choices);
      if (tilings.empty() || std::ranges::count(search->seen, tilings) != 0) continue;
      if (effort_ > search->effort_max) break;
      search->seen.push_back(tilings);
      THIMBLE_TRY(LoweringVariant next, without_plan(tilings, {}));
      const int64_t bytes_min = next.budgeted.bytes;
      if (static_cast<double>(next.work.instructions) > search->instructions) continue;
      if (bytes_min >= search->best.budgeted.bytes) continue;
      candidates.push_back({aim, std::move(choices), bytes_min});
      if (!lowest || bytes_min < lowest->budgeted.bytes) lowest = std::move(next);
    }
    std::vector<size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return candidates[i].bytes_min; });
    size_t best_place = 0;  // in the order of budgets; 0 for the variant from before this search
    for (const size_t i : order) {
      const Candidate& candidate = candidates[i];
      const auto wins = [&](int64_t bytes) {
        const int64_t best = search->best.budgeted.bytes;
        return bytes < best || (bytes == best && i + 1 < best_place);
      };
      if (!wins(candidate.bytes_min)) continue;
      if (!lowest) {
        const int64_t effort = effort_;  // counts each variant once
        THIMBLE_TRY(lowest, without_plan(tilings_of(candidate.choices), {}));
        effort_ = effort;
      }
      LoweringVariant next = std::move(*lowest);
      lowest.reset();
      plan(&next, {});
      if (!wins(next.budgeted.bytes)) continue;
      add_notes(candidate.choices, &next);
      search->best = std::move(next);
      search->aim = candidate.aim;
      best_place = i + 1;
    }
    return ok();
  }

  static std::vector<RowTiling> tilings_of(const std::vector<TiledRange>& choices) {
    std::vector<RowTiling> tilings;
    for (const TiledRange& choice : choices) tilings.push_back(choice.tiling);
    return tilings;
  }
  void add_notes(const std::vector<TiledRange>& choices, LoweringVariant* variant) const {
    for (const TiledRange& choice : choices) {
      variant->budgeted.notes.push_back(note_of(graph_, choice));
    }
    if (choices.empty()) return;
    variant->budgeted.notes.push_back(
        fmt::format("row tiling: {:+} MACs in total", variant->macs - ir::total_macs(graph_)));
  }

  /// Returns the variant with these tilings, with a lower bound as its bytes.
  Result<LoweringVariant> without_plan(const std::vector<RowTiling>& tilings,
                                       const std::vector<int>& min_scratch_ops) {
    engine::Options options = options_;
    options.min_scratch_ops = min_scratch_ops;
    std::optional<ir::Graph> cut;
    if (!tilings.empty()) {
      THIMBLE_TRY(cut, apply_row_tiling(graph_, tilings));
      // Rows that no window meets are not made.
      assert(ir::total_macs(*cut) <= ir::total_macs(graph_));
    }
    LoweringVariant variant;
    variant.macs = ir::total_macs(cut ? *cut : graph_);
    THIMBLE_TRY(variant.budgeted.lowered, cpu_.lower(cut ? *cut : graph_, cpu_, options));
    engine::Lowered& lowered = variant.budgeted.lowered;
    const auto ops = static_cast<int64_t>(lowered.graph.ops().size());
    effort_ += ops * ops;
    lowered.owns_inputs = options.owns_inputs;
    // The memory of delegates is not known yet.
    if (has_delegates(graph_)) return variant;
    if (options.dialect == engine::Dialect::kNative) {
      // The order of a tiled graph keeps the line buffers in place.
      if (!cut) lowered = reorder_calls(std::move(lowered));
      lowered = remove_copies(std::move(lowered));
    }
    variant.budgeted.bytes = lower_bound_bytes(lowered);
    variant.work = count_instructions(lowered, cpu_);
    variant.tilings = tilings;
    return variant;
  }

  /// Plans the memory of a variant of without_plan().
  void plan(LoweringVariant* variant, const std::vector<int>& min_scratch_ops) const {
    const engine::Lowered& lowered = variant->budgeted.lowered;
    const MemoryPlan memory_plan = plan_memory(lowered);
    variant->budgeted.bytes =
        memory_plan.placement.peak_bytes + runtime_bytes(lowered, memory_plan);
    variant->op_at_peak = op_at_peak_with_scratch(lowered, memory_plan, min_scratch_ops);
  }

  Result<LoweringVariant> at(const std::vector<RowTiling>& tilings,
                             const std::vector<int>& min_scratch_ops) {
    THIMBLE_TRY(LoweringVariant variant, without_plan(tilings, min_scratch_ops));
    if (!has_delegates(graph_)) plan(&variant, min_scratch_ops);
    return variant;
  }

  /// Selects calls with less scratch where the most memory is live, as long as the arena shrinks.
  Result<LoweringVariant> reduce_scratch(LoweringVariant best, double instructions) {
    std::vector<int> min_scratch_ops;
    size_t taken = 0;
    int op_at_peak = best.op_at_peak;
    for (int failures = 0; op_at_peak >= 0 && failures < kScratchAttemptsMax;) {
      min_scratch_ops.push_back(op_at_peak);
      THIMBLE_TRY(LoweringVariant next, at(best.tilings, min_scratch_ops));
      if (static_cast<double>(next.work.instructions) > instructions) break;
      op_at_peak = next.op_at_peak;
      if (next.budgeted.bytes >= best.budgeted.bytes) {
        ++failures;
        continue;
      }
      next.budgeted.notes = best.budgeted.notes;
      best = std::move(next);
      taken = min_scratch_ops.size();
      failures = 0;
    }
    if (taken > 0) {
      best.budgeted.notes.push_back(
          fmt::format("scratch: {} calls use the kernel variant with the least scratch", taken));
    }
    return best;
  }

  const ir::Graph& graph_;
  const engine::Core& cpu_;
  const engine::Options& options_;
  const TilingChooser chooser_;
  int64_t effort_ = 0;
};

/// Replaces `best` by a variant whose convolutions with groups have the general kernels, which need
/// less memory, if it alone fits or takes fewer instructions. `ops`: number of operators of the
/// untiled graph with regular groups. Returns the effort.
Result<int64_t> try_general_groups(const ir::Graph& graph, const engine::Core& cpu,
                                   const engine::Options& options, int64_t sram_bytes, size_t ops,
                                   LoweringVariant* best) {
  if (options.optimize != engine::Optimize::kSpeed || !options.regularize_groups) return 0;
  engine::Options general = options;
  general.regularize_groups = false;
  LoweringVariants variants(graph, cpu, general);
  THIMBLE_TRY(LoweringVariant other, variants.whole());
  if (other.budgeted.lowered.graph.ops().size() == ops) return variants.effort();
  if (other.budgeted.bytes > sram_bytes) {
    THIMBLE_TRY(other, variants.within(sram_bytes, std::move(other)));
  }
  const auto fits = [&](const LoweringVariant& v) { return v.budgeted.bytes <= sram_bytes; };
  const bool is_better = fits(other) == fits(*best)
                             ? (fits(other) ? other.work.instructions < best->work.instructions
                                            : other.budgeted.bytes < best->budgeted.bytes)
                             : fits(other);
  if (is_better) {
    other.budgeted.notes.push_back(
        "memory: convolutions with groups or a channel multiplier use slower kernels that need "
        "less SRAM");
    *best = std::move(other);
  }
  return variants.effort();
}

}  // namespace

Result<BudgetedLowering> lower_within_budget(const ir::Graph& graph, const engine::Core& cpu,
                                             const engine::Options& options,
                                             std::optional<int64_t> sram_bytes) {
  LoweringVariants variants(graph, cpu, options);
  THIMBLE_TRY(LoweringVariant best, variants.whole());
  const bool native = options.dialect == engine::Dialect::kNative;
  const bool searches = native && !has_delegates(graph);
  if (searches && options.optimize == engine::Optimize::kSize) {
    const auto before = static_cast<double>(best.work.instructions);
    THIMBLE_TRY(best, variants.smallest(best));
    const double more = 100 * (static_cast<double>(best.work.instructions) / before - 1);
    if (!best.budgeted.notes.empty()) {
      best.budgeted.notes.push_back(fmt::format("size: {:+.1f} % instructions, an estimate", more));
    }
  }
  int64_t effort = 0;
  if (searches && sram_bytes && best.budgeted.bytes > *sram_bytes) {
    const size_t ops = best.budgeted.lowered.graph.ops().size();
    THIMBLE_TRY(best, variants.within(*sram_bytes, std::move(best)));
    THIMBLE_TRY(effort, try_general_groups(graph, cpu, options, *sram_bytes, ops, &best));
  }
  best.budgeted.effort = variants.effort() + effort;
  return std::move(best.budgeted);
}

Result<std::vector<std::string>> pareto_lines(const ir::Graph& graph, const engine::Core& cpu,
                                              const engine::Options& options) {
  LoweringVariants variants(graph, cpu, options);
  THIMBLE_TRY(const LoweringVariant whole, variants.whole());
  std::vector<std::string> lines;
  int64_t smallest = whole.budgeted.bytes + 1;
  constexpr int64_t kParts[] = {64, 48, 40, 32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 4};
  for (const int64_t part : kParts) {
    LoweringVariant variant = whole;
    if (part != kParts[0]) {
      THIMBLE_TRY(variant, variants.within(whole.budgeted.bytes * part / kParts[0], whole));
    }
    if (variant.budgeted.bytes >= smallest) continue;
    smallest = variant.budgeted.bytes;
    const InstructionCount& work = variant.work;
    const std::string rest =
        work.unknown == 0 ? "" : fmt::format(" plus {} calls without an estimate", work.unknown);
    lines.push_back(fmt::format("{} B of SRAM: {} instructions (an estimate){}, {} MACs",
                                variant.budgeted.bytes, work.instructions, rest,
                                ir::total_macs(variant.budgeted.lowered.graph)));
  }
  return lines;
}

}  // namespace thimble::memory
