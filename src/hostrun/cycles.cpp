#include "hostrun/cycles.h"

#include <cmath>

namespace thimble::hostrun {
namespace {

struct Row {
  std::string_view core, insn_class;
  double cycles;
};
constexpr Row kRows[] = {
#define THIMBLE_CYCLES(core, insn_class, cycles) {core, #insn_class, cycles},
#include "hostrun/cycles.def"
#undef THIMBLE_CYCLES
};

std::string_view table_core(std::string_view target) {
  if (target == "cortex-m0" || target == "cortex-m23") return "cortex-m0plus";
  if (target == "cortex-m33" || target == "cortex-m35p") return "cortex-m4";
  return target == "cortex-m85" ? "cortex-m55" : target;
}

}  // namespace

std::optional<int64_t> estimated_cycles(std::string_view target,
                                        const InstructionClasses& classes) {
  const std::string_view core = table_core(target);
  bool known = false;
  double cycles = 0;
  for (const auto& [name, count] : classes) {
    // A class without a row costs as much as a simple instruction.
    double weight = 1;
    for (const Row& row : kRows) {
      known |= row.core == core;
      if (row.core == core && row.insn_class == name) weight = row.cycles;
    }
    cycles += weight * static_cast<double>(count);
  }
  if (!known || classes.empty()) return {};
  return std::llround(cycles);
}

}  // namespace thimble::hostrun
