#include "driver/budget.h"

#include <algorithm>

#include "emit/homes.h"
#include "emit/reorder.h"
#include "emit/share.h"
#include "ir/work.h"
#include "target/strips.h"

namespace thimble::driver {
namespace {

using ir::ValueId;
using target::Strips;

constexpr int kLongest = 24;         // operators of one run
constexpr int kRounds = 16;          // runs of operators
constexpr int kAttempts = 6;         // to meet the budget with the real plan
constexpr int64_t kCallWork = 300;   // instructions of a call beside its work
constexpr int64_t kBytesAtOnce = 4;  // of a copy
constexpr int64_t kHeights[] = {1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 24, 28, 32};

/// What is about in memory while each operator runs, before there are addresses.
class Estimate {
 public:
  Estimate(const ir::Graph& graph, bool owns_inputs)
      : graph_(graph), consumers_(graph.consumers()) {
    const std::vector<int> producers = graph.producers();
    const auto end = static_cast<int>(graph.ops().size());
    for (size_t i = 0; i < graph.value_count(); ++i) {
      const auto value = static_cast<ValueId>(i);
      Life life = {producers[i], -1, static_cast<int64_t>(graph.type(value).bytes())};
      for (const int reader : consumers_[i]) life.last = std::max(life.last, reader);
      if (std::ranges::count(graph.results(), value) != 0) life.last = end;
      if (graph.is_state(value)) life = {-1, end, life.bytes};
      const bool there =
          producers[i] >= 0 || graph.is_state(value) || (owns_inputs && graph.is_input(value));
      if (there && !graph.value(value).constant) lives_.push_back(life);
    }
  }

  /// Of values that live throughout these operators and are none of theirs.
  int64_t across(int first, int last) const {
    int64_t bytes = 0;
    for (const Life& life : lives_) {
      if (life.first < first && last < life.last) bytes += life.bytes;
    }
    return bytes;
  }
  int64_t at(int op) const {
    int64_t bytes = 0, operand = 0;
    for (const Life& life : lives_) {
      if (life.first <= op && op <= life.last) bytes += life.bytes;
      if (life.last == op) operand = std::max(operand, life.bytes);
    }
    // A result lies over its operand, nearly.
    const auto result =
        static_cast<int64_t>(graph_.type(graph_.ops()[static_cast<size_t>(op)].output).bytes());
    return bytes - std::min(operand, result);
  }

 private:
  struct Life {
    int first, last;
    int64_t bytes;
  };
  const ir::Graph& graph_;
  std::vector<std::vector<int>> consumers_;
  std::vector<Life> lives_;
};

struct Choice {
  Strips strips;
  target::StripsCost cost;
  int64_t bytes = 0;  // with what lives beside them
  [[nodiscard]] int64_t work() const {
    return cost.copied_bytes / kBytesAtOnce + cost.calls * kCallWork;
  }
};

class Chooser {
 public:
  Chooser(const ir::Graph& graph, bool owns_inputs)
      : graph_(graph), owns_inputs_(owns_inputs), estimate_(graph, owns_inputs) {}

  /// Runs of operators that bring the estimate down to `bytes`, or as far as they can.
  std::vector<Choice> choose(int64_t bytes) const {
    std::vector<Choice> chosen;
    for (int round = 0; round < kRounds; ++round) {
      const int worst = fullest(chosen, bytes);
      if (worst < 0) break;
      const std::optional<Choice> best = best_around(worst, chosen, bytes);
      if (!best) break;
      std::erase_if(chosen, [&](const Choice& old) { return meet(old.strips, best->strips); });
      chosen.push_back(*best);
    }
    std::ranges::sort(chosen, {}, [](const Choice& c) { return c.strips.first; });
    return chosen;
  }

 private:
  static bool meet(const Strips& a, const Strips& b) {
    return a.first <= b.last && b.first <= a.last;
  }
  /// The operator with most in memory, if that is too much; -1: none.
  int fullest(const std::vector<Choice>& chosen, int64_t bytes) const {
    int worst = -1;
    for (int op = 0; op < static_cast<int>(graph_.ops().size()); ++op) {
      const auto in = std::ranges::find_if(
          chosen, [&](const Choice& c) { return c.strips.first <= op && op <= c.strips.last; });
      const int64_t here = in == chosen.end() ? estimate_.at(op) : in->bytes;
      if (here <= bytes) continue;
      bytes = here;
      worst = op;
    }
    return worst;
  }

  std::optional<Choice> best_around(int worst, const std::vector<Choice>& chosen,
                                    int64_t bytes) const {
    std::optional<Choice> best;
    const int count = static_cast<int>(graph_.ops().size());
    for (int first = std::max(0, worst - kLongest); first <= worst; ++first) {
      for (int last = worst; last < std::min(count, first + kLongest); ++last) {
        if (cuts(first, last, chosen)) continue;
        for (const int64_t rows : kHeights) {
          const auto cost = target::cost_of_strips(graph_, {first, last, rows}, owns_inputs_);
          if (!cost) break;
          const Choice choice = {
              {first, last, rows}, *cost, cost->live_bytes + estimate_.across(first, last)};
          if (!best || better(choice, *best, bytes)) best = choice;
        }
      }
    }
    // No use if what is there now is no larger.
    const bool gains = best && best->bytes < now(worst, chosen);
    return gains ? best : std::nullopt;
  }
  int64_t now(int op, const std::vector<Choice>& chosen) const {
    for (const Choice& c : chosen) {
      if (c.strips.first <= op && op <= c.strips.last) return c.bytes;
    }
    return estimate_.at(op);
  }
  /// A run may hold another one, not a part of it.
  static bool cuts(int first, int last, const std::vector<Choice>& chosen) {
    return std::ranges::any_of(chosen, [&](const Choice& c) {
      const bool inside = first <= c.strips.first && c.strips.last <= last;
      return !inside && first <= c.strips.last && c.strips.first <= last;
    });
  }
  static bool better(const Choice& a, const Choice& b, int64_t bytes) {
    const bool a_fits = a.bytes <= bytes, b_fits = b.bytes <= bytes;
    if (a_fits != b_fits) return a_fits;
    if (a_fits) return a.work() < b.work();
    return a.bytes < b.bytes;
  }

  const ir::Graph& graph_;
  const bool owns_inputs_;
  const Estimate estimate_;
};

bool has_regions(const ir::Graph& graph) {
  return std::ranges::any_of(graph.ops(),
                             [](const ir::Op& op) { return op.kind == ir::OpKind::delegate; });
}

Result<Budgeted> lowered(const ir::Graph& graph, const target::Target& cpu,
                         const target::Options& options, bool in_strips) {
  Budgeted result;
  THIMBLE_TRY(result.lowered, cpu.lower(graph, cpu, options));
  result.lowered.owns_inputs = options.owns_inputs;
  if (options.dialect == target::Dialect::kNative && !has_regions(graph)) {
    // Strips have an order of their own, in which buffers stay in place.
    if (!in_strips) result.lowered = emit::in_better_order(std::move(result.lowered));
    result.lowered = emit::drop_moves(std::move(result.lowered));
  }
  // The memory of an engine's regions is not known yet.
  if (has_regions(graph)) return result;
  const emit::Schedule schedule = emit::make_schedule(result.lowered);
  result.bytes = schedule.placement.peak_bytes + emit::state_bytes(result.lowered, schedule);
  return result;
}

int64_t macs_of(const ir::Graph& graph) {
  int64_t macs = 0;
  for (const ir::Op& op : graph.ops()) macs += ir::macs_of(graph, op);
  return macs;
}

std::string note_of(const ir::Graph& graph, const Choice& choice) {
  const auto name = [&](int op) {
    return graph.value(graph.ops()[static_cast<size_t>(op)].output).name;
  };
  return fmt::format(
      "strips: {} to {} in {} strips of {} rows: {} calls for {}, {} B copied, +0 MACs",
      name(choice.strips.first), name(choice.strips.last), choice.cost.strips, choice.strips.rows,
      choice.cost.calls, choice.strips.last - choice.strips.first + 1, choice.cost.copied_bytes);
}

}  // namespace

Result<Budgeted> lower_within(const ir::Graph& graph, const target::Target& cpu,
                              const target::Options& options, std::optional<int64_t> sram_bytes) {
  THIMBLE_TRY(Budgeted best, lowered(graph, cpu, options, /*in_strips=*/false));
  const bool native = options.dialect == target::Dialect::kNative;
  if (!sram_bytes || best.bytes <= *sram_bytes || has_regions(graph) || !native) return best;
  const Chooser chooser(graph, options.owns_inputs);
  int64_t aim = *sram_bytes - best.bytes / 256;
  for (int attempt = 0; attempt < kAttempts && aim > 0; ++attempt) {
    const std::vector<Choice> choices = chooser.choose(aim);
    if (choices.empty()) break;
    std::vector<Strips> strips;
    for (const Choice& choice : choices) strips.push_back(choice.strips);
    THIMBLE_TRY(const ir::Graph cut, target::in_strips(graph, strips));
    THIMBLE_TRY(Budgeted next, lowered(cut, cpu, options, /*in_strips=*/true));
    assert(macs_of(cut) == macs_of(graph));
    const int64_t over = next.bytes - *sram_bytes;
    for (const Choice& choice : choices) next.notes.push_back(note_of(graph, choice));
    if (next.bytes < best.bytes) best = std::move(next);
    if (over <= 0) break;
    aim -= over;
  }
  return best;
}

Result<std::vector<std::string>> pareto_lines(const ir::Graph& graph, const target::Target& cpu,
                                              const target::Options& options) {
  THIMBLE_TRY(const Budgeted whole, lowered(graph, cpu, options, /*in_strips=*/false));
  std::vector<std::string> lines;
  int64_t smallest = whole.bytes + 1;
  constexpr int64_t kParts[] = {64, 48, 40, 32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 4};
  for (const int64_t part : kParts) {
    THIMBLE_TRY(const Budgeted point,
                lower_within(graph, cpu, options, whole.bytes * part / kParts[0]));
    if (point.bytes >= smallest) continue;
    smallest = point.bytes;
    int64_t instructions = 0, unknown = 0;
    for (const target::KernelCall& call : point.lowered.calls) {
      const auto estimate = cpu.cost(point.lowered, call, cpu).instructions;
      instructions += estimate.value_or(0);
      unknown += estimate ? 0 : 1;
    }
    const std::string rest = unknown == 0 ? "" : fmt::format(" and {} calls not known", unknown);
    lines.push_back(fmt::format("{} B of SRAM: {} instructions (an estimate){}, {} MACs",
                                point.bytes, instructions, rest, macs_of(point.lowered.graph)));
  }
  return lines;
}

}  // namespace thimble::driver
