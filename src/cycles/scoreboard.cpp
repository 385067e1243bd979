// SPDX-License-Identifier: Apache-2.0
// In-order cores that issue two instructions per cycle or overlap the beats of vector instructions.
// An instruction is issued in the first cycle in which its operands are ready, its units are free,
// its group has room, and its first result is not written before the last result of an instruction
// before it: results are written in program order, as llvm-mca assumes for these cores.

#include <algorithm>
#include <array>
#include <cassert>

#include "cycles/core_timing.h"

namespace thimble::cycles {
namespace {

enum class Group : uint8_t { any, first, last, alone, free, small, narrow };

struct UnitRow {
  std::string_view table, unit;
  int count;
};
constexpr UnitRow kUnitRows[] = {
#define THIMBLE_UNIT(table, unit, count) {#table, #unit, count},
#define THIMBLE_ISSUE(table, kind, units, latency, group, reads, address, stored, accumulator, \
                      shifted)
#include "cycles/scoreboard.def"
#undef THIMBLE_UNIT
#undef THIMBLE_ISSUE
};

struct IssueRow {
  std::string_view table;
  InsnKind kind;
  std::string_view units;
  int latency;
  Group group;
  int reads, address, stored, accumulator, shifted;
};
constexpr IssueRow kIssueRows[] = {
#define THIMBLE_UNIT(table, unit, count)
#define THIMBLE_ISSUE(table, kind, units, latency, group, reads, address, stored, accumulator, \
                      shifted)                                                                 \
  {#table, InsnKind::kind, units,  latency,     Group::group,                                  \
   reads,  address,        stored, accumulator, shifted},
#include "cycles/scoreboard.def"
#undef THIMBLE_UNIT
#undef THIMBLE_ISSUE
};

/// How an instruction uses units of one kind.
struct UnitUse {
  size_t unit = 0, other = 0;  // `other` is used if `unit` is not free
  int count = 1;
  int cycles = 1;
  bool per_element = false;        // one cycle for each element of a vector
  bool per_two_registers = false;  // one cycle for each two registers of a list
};

struct Issue {
  std::vector<UnitUse> uses;
  int latency = 1;
  Group group = Group::any;
  int reads = 0, address = 0, stored = 0, accumulator = 0, shifted = 0;
};

/// Elements of the vector of a gather load or scatter store, by its size field.
int elements_of(const Insn& insn) {
  const bool has_vector_base = insn.code >> 24 == 0xfd;
  if (has_vector_base) return (insn.code >> 8 & 1) != 0 ? 2 : 4;
  return 16 >> (insn.code >> 7 & 3);
}

class ScoreboardTiming : public CoreTiming {
 public:
  ScoreboardTiming(std::string_view table, const ControlFlow& control_flow)
      : CoreTiming(control_flow) {
    std::vector<std::string_view> names;
    for (const UnitRow& row : kUnitRows) {
      if (row.table != table) continue;
      names.push_back(row.unit);
      counts_.push_back(row.count);
    }
    for (const IssueRow& row : kIssueRows) {
      if (row.table == table) issues_[static_cast<size_t>(row.kind)] = parse(row, names);
    }
  }

  [[nodiscard]] int64_t cycles(std::span<const Insn> before,
                               std::span<const Insn> block) const override {
    State state(counts_);
    for (const Insn& insn : before) issue(insn, &state);
    const int64_t start = state.end();
    for (const Insn& insn : block) issue(insn, &state);
    return state.end() - start;
  }

 private:
  struct State {
    explicit State(const std::vector<int>& counts) {
      for (const int count : counts) free_at.emplace_back(static_cast<size_t>(count), 0);
    }
    /// The cycle after the last one in which an instruction was issued.
    [[nodiscard]] int64_t end() const { return slots == 0 ? cycle : cycle + 1; }

    int64_t cycle = 0;
    int slots = 0;                              // instructions issued in this cycle
    bool closed = false;                        // no more instructions in this cycle
    bool has_small = false;                     // one of them is of Group::small
    int64_t last_write = 0;                     // cycle in which the last result is written
    std::array<int64_t, 64> ready{};            // by register
    std::vector<std::vector<int64_t>> free_at;  // by unit
  };

  static Issue parse(const IssueRow& row, const std::vector<std::string_view>& names) {
    Issue issue{{},          row.latency, row.group,       row.reads,
                row.address, row.stored,  row.accumulator, row.shifted};
    for (std::string_view words = row.units; !words.empty();) {
      const size_t end = std::min(words.find(' '), words.size());
      std::string_view word = words.substr(0, end);
      words.remove_prefix(std::min(end + 1, words.size()));
      UnitUse use;
      if (const size_t colon = word.find(':'); colon != std::string_view::npos) {
        const char hold = word[colon + 1];
        use.per_element = hold == 'e';
        use.per_two_registers = hold == 'h';
        for (size_t i = colon + 1, value = 0; i < word.size() && hold < 'a'; ++i) {
          value = value * 10 + static_cast<size_t>(word[i] - '0');
          use.cycles = static_cast<int>(value);
        }
        word = word.substr(0, colon);
      }
      if (word.ends_with("*2")) {
        use.count = 2;
        word.remove_suffix(2);
      }
      const auto unit = [&](std::string_view text) {
        const auto name = std::ranges::find(names, text);
        assert(name != names.end() && "a unit of scoreboard.def without THIMBLE_UNIT");
        return static_cast<size_t>(name - names.begin());
      };
      const size_t slash = word.find('/');
      use.unit = unit(word.substr(0, slash));
      use.other = slash == std::string_view::npos ? use.unit : unit(word.substr(slash + 1));
      issue.uses.push_back(use);
    }
    return issue;
  }

  static int64_t hold_of(const UnitUse& use, const Insn& insn) {
    if (use.per_element) return elements_of(insn);
    if (use.per_two_registers) return std::max(1, (insn.items + 1) / 2);
    return use.cycles;
  }

  /// The first cycle in which all registers of the set are ready for a read `delay` cycles after
  /// the issue.
  static int64_t ready_at(const State& state, Registers set, int delay) {
    int64_t at = 0;
    for (size_t r = 0; set != 0; ++r, set >>= 1) {
      if ((set & 1) != 0) at = std::max(at, state.ready[r] - delay);
    }
    return at;
  }

  static bool has_room(const State& state, Group group, bool wide) {
    if (state.closed || state.slots >= 2) return false;
    switch (group) {
      case Group::first:
      case Group::alone:
        return state.slots == 0;
      case Group::small:
        return state.slots == 0 || !wide;
      case Group::narrow:
        return state.slots == 0 || (!wide && state.has_small);
      default:
        return true;
    }
  }

  static bool is_free(const State& state, size_t unit, int count) {
    return std::ranges::count_if(state.free_at[unit],
                                 [&](int64_t at) { return at <= state.cycle; }) >= count;
  }
  [[nodiscard]] bool units_are_free(const State& state, const Issue& issue) const {
    return std::ranges::all_of(issue.uses, [&](const UnitUse& use) {
      return is_free(state, use.unit, use.count) || is_free(state, use.other, use.count);
    });
  }

  void issue(const Insn& insn, State* state) const {
    const Issue& row = issues_[static_cast<size_t>(insn.kind)];
    if (row.group == Group::free) {
      mark_written(insn, row, state->cycle, state);
      return;
    }
    int64_t at = state->cycle;
    at = std::max(at, ready_at(*state, insn.reads, row.reads));
    at = std::max(at, ready_at(*state, insn.addresses, row.address));
    at = std::max(at, ready_at(*state, insn.stored, row.stored));
    at = std::max(at, ready_at(*state, insn.accumulator, row.accumulator));
    at = std::max(at, ready_at(*state, insn.shifted, row.shifted));
    // Results are written in program order.
    const bool has_result = (insn.writes | insn.updates) != 0;
    const int first_write = insn.updates != 0 ? update_latency(insn, row) : row.latency;
    if (has_result) at = std::max(at, state->last_write - first_write);
    advance(at, state);
    while (!has_room(*state, row.group, insn.wide) || !units_are_free(*state, row)) {
      advance(state->cycle + 1, state);
    }
    for (const UnitUse& use : row.uses) {
      int left = use.count;
      const size_t unit = is_free(*state, use.unit, use.count) ? use.unit : use.other;
      for (int64_t& free_at : state->free_at[unit]) {
        if (left == 0 || free_at > state->cycle) continue;
        free_at = state->cycle + hold_of(use, insn);
        --left;
      }
    }
    ++state->slots;
    const bool is_pair = row.group == Group::small || row.group == Group::narrow;
    state->has_small = state->has_small || row.group == Group::small;
    state->closed = row.group == Group::last || row.group == Group::alone || (is_pair && insn.wide);
    mark_written(insn, row, state->cycle, state);
    if (has_result) state->last_write = std::max(state->last_write, state->cycle + row.latency);
  }

  /// Cycles until an updated address can be read. The address of an access is computed in the cycle
  /// in which it is needed, that of a vector access one cycle later.
  static int update_latency(const Insn& insn, const Issue& row) {
    return InsnKind::v_load <= insn.kind || row.address == 0 ? 1 : 0;
  }

  static void advance(int64_t cycle, State* state) {
    if (cycle <= state->cycle) return;
    state->cycle = cycle;
    state->slots = 0;
    state->closed = state->has_small = false;
  }

  static void mark_written(const Insn& insn, const Issue& row, int64_t cycle, State* state) {
    const auto write = [&](Registers set, int64_t at) {
      for (size_t r = 0; set != 0; ++r, set >>= 1) {
        if ((set & 1) != 0) state->ready[r] = at;
      }
    };
    write(insn.writes, cycle + row.latency);
    write(insn.updates, cycle + update_latency(insn, row));
  }

  std::vector<int> counts_;  // by unit
  std::array<Issue, static_cast<size_t>(InsnKind::unknown) + 1> issues_;
};

}  // namespace

std::unique_ptr<CoreTiming> scoreboard_timing(std::string_view table,
                                              const ControlFlow& control_flow) {
  return std::make_unique<ScoreboardTiming>(table, control_flow);
}

}  // namespace thimble::cycles
