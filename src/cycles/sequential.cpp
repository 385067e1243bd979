// SPDX-License-Identifier: Apache-2.0
// Cores that finish one instruction before the next one starts. Besides the table, the cost of an
// instruction depends on the one before it (Cortex-M4 TRM, DDI 0439D 3.3.3, "Load/store timings";
// Cortex-M3 TRM, DDI 0337I 3.3.2):
// - a load or store after a single load takes one cycle less, unless its address needs the loaded
//   register;
// - a load or store whose address needs the result of the instruction before it, a data processing
//   instruction, takes one cycle more;
// - IT takes no cycle after a 16-bit instruction.
// The M0+ has none of these rules.

#include <array>

#include "cycles/core_timing.h"

namespace thimble::cycles {
namespace {

struct SequentialRow {
  std::string_view table;
  InsnKind kind;
  int cycles, per_register;
};
constexpr SequentialRow kSequentialRows[] = {
#define THIMBLE_SEQUENTIAL(table, kind, cycles, per_register) \
  {#table, InsnKind::kind, cycles, per_register},
#include "cycles/sequential.def"
#undef THIMBLE_SEQUENTIAL
};

bool is_single_load(InsnKind kind) {
  return kind == InsnKind::load || kind == InsnKind::load_narrow || kind == InsnKind::load_literal;
}
bool is_single_access(InsnKind kind) {
  return is_single_load(kind) || kind == InsnKind::store || kind == InsnKind::store_indexed;
}
bool is_access(const Insn& insn) {
  return insn.addresses != 0;
}

class SequentialTiming : public CoreTiming {
 public:
  SequentialTiming(std::string_view table, const ControlFlow& control_flow)
      : CoreTiming(control_flow), has_pipelined_loads_(table != "m0plus") {
    rows_.fill({1, 0});
    for (const SequentialRow& row : kSequentialRows) {
      if (row.table == table) rows_[static_cast<size_t>(row.kind)] = {row.cycles, row.per_register};
    }
  }

  [[nodiscard]] int64_t cycles(std::span<const Insn> before,
                               std::span<const Insn> block) const override {
    const Insn* last = before.empty() ? nullptr : &before.back();
    bool last_is_pipelined = last != nullptr && is_single_load(last->kind);
    int64_t sum = 0;
    for (const Insn& insn : block) {
      const Cost& row = rows_[static_cast<size_t>(insn.kind)];
      int cost = row.cycles + row.per_register * insn.items;
      if (insn.is_double && is_access(insn) && insn.items == 0) ++cost;  // VLDR, VSTR of 64 bits
      const bool is_folded =
          control_flow().folds_it && insn.kind == InsnKind::it && last != nullptr && !last->wide;
      if (is_folded) cost = 0;
      if (has_pipelined_loads_ && last != nullptr) {
        const bool needs_last = ((insn.addresses | insn.updates) & last->writes) != 0;
        if (last_is_pipelined && is_single_access(insn.kind) && !needs_last) {
          cost = cost > 1 ? cost - 1 : 1;
        }
        if (needs_last && !is_access(*last)) ++cost;
      }
      sum += cost;
      last_is_pipelined = is_single_load(insn.kind);
      last = &insn;
    }
    return sum;
  }

 private:
  struct Cost {
    int cycles, per_register;
  };
  std::array<Cost, static_cast<size_t>(InsnKind::unknown) + 1> rows_{};
  bool has_pipelined_loads_;
};

}  // namespace

std::unique_ptr<CoreTiming> sequential_timing(std::string_view table,
                                              const ControlFlow& control_flow) {
  return std::make_unique<SequentialTiming>(table, control_flow);
}

}  // namespace thimble::cycles
