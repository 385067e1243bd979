#include "engines/cortex_m/compiler/cortex_m.h"

#include "engine/state.h"
#include "engines/cortex_m/compiler/cost.h"
#include "engines/cortex_m/compiler/layout.h"
#include "engines/cortex_m/compiler/legalize.h"
#include "engines/cortex_m/compiler/linked_size.h"
#include "engines/cortex_m/compiler/select.h"

namespace thimble::engine::cortex_m {
namespace {

Result<Lowered> lower(const ir::Graph& graph, const Core& core, const Options& options) {
  THIMBLE_TRY(ir::Graph legal, legalize(graph, options.dialect));
  THIMBLE_TRY(Lowered lowered, assign_layouts(legal, options.dialect));
  if (!lowered.graph.states().empty()) {
    THIMBLE_TRY(lowered.graph, assign_state_memory(lowered.graph));
  }
  THIMBLE_CHECK(select_calls(&lowered, core, options));
  return lowered;
}

using abi::Isa;
// Sorted by name. The instruction set follows from the core (ExecuTorch's target_config.py groups
// them alike).
constexpr Core kCores[] = {
    {"cortex-m0", "cortex-m0", "Armv6-M", Isa::kThumb1, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m0plus", "cortex-m0plus", "Armv6-M", Isa::kThumb1, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m23", "cortex-m23", "Armv8-M Baseline", Isa::kThumb1, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m3", "cortex-m3", "Armv7-M", Isa::kThumb2, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m33", "cortex-m33", "Armv8-M Mainline with DSP", Isa::kDsp, lower, cost_of,
     linked_code,
     runtime_cycles},
    {"cortex-m35p", "cortex-m35p", "Armv8-M Mainline with DSP", Isa::kDsp, lower, cost_of,
     linked_code,
     runtime_cycles},
    {"cortex-m4", "cortex-m4", "Armv7E-M with DSP", Isa::kDsp, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m55", "cortex-m55", "Armv8.1-M with Helium", Isa::kMve, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m7", "cortex-m7", "Armv7E-M with DSP", Isa::kDsp, lower, cost_of, linked_code,
     runtime_cycles},
    {"cortex-m85", "cortex-m85", "Armv8.1-M with Helium", Isa::kMve, lower, cost_of, linked_code,
     runtime_cycles},
};

}  // namespace

std::span<const Core> cores() {
  return kCores;
}

}  // namespace thimble::engine::cortex_m
