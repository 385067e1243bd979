// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/cortex_m.h"

#include <algorithm>
#include <iterator>

#include "engine/state.h"
#include "engines/cortex_m/compiler/code_traffic.h"
#include "engines/cortex_m/compiler/conv_groups.h"
#include "engines/cortex_m/compiler/cost.h"
#include "engines/cortex_m/compiler/layout.h"
#include "engines/cortex_m/compiler/legalize.h"
#include "engines/cortex_m/compiler/linked_size.h"
#include "engines/cortex_m/compiler/lower_float.h"
#include "engines/cortex_m/compiler/packed_rows.h"
#include "engines/cortex_m/compiler/product_operands.h"
#include "engines/cortex_m/compiler/select.h"

namespace thimble::engine::cortex_m {
namespace {

Result<Lowered> lower(const ir::Graph& graph, const Core& core, const Options& options) {
  THIMBLE_TRY(const ir::Graph decomposed, lower_float(graph));
  THIMBLE_TRY(ir::Graph legal, legalize(decomposed, options.dialect));
  if (options.dialect == Dialect::kNative && core.isa == abi::Isa::kMve) {
    THIMBLE_TRY(legal, read_packed_rows(legal));
  }
  const bool has_dot_products = core.isa == abi::Isa::kMve || core.isa == abi::Isa::kDsp;
  if (options.dialect == Dialect::kNative && has_dot_products &&
      options.optimize != Optimize::kSize) {
    THIMBLE_TRY(legal, transpose_products(legal));
  }
  if (options.dialect == Dialect::kNative && options.optimize == Optimize::kSpeed &&
      options.regularize_groups) {
    THIMBLE_TRY(legal, regularize_groups(legal, core.isa));
  }
  THIMBLE_TRY(Lowered lowered, assign_layouts(legal, options.dialect));
  if (!lowered.graph.states().empty()) {
    THIMBLE_TRY(lowered.graph, assign_state_memory(lowered.graph));
  }
  THIMBLE_CHECK(select_calls(&lowered, core, options));
  return lowered;
}

using abi::Isa;

// Measured with firmware/qemu_plugin/access_count.c.
constexpr KernelReuse kMveReuse = {{3, 2}, {1, 1}, {1, 8}};
constexpr KernelReuse kDspReuse = {{2, 2}, {1, 1}, {1, 4}};
constexpr KernelReuse kDspPixelsReuse = {{3, 1}, {1, 1}, {1, 4}};  // three pixels by two channels
constexpr KernelReuse kThumb2Reuse = {{2, 0.5}, {1, 1}, {1, 4}};
// Four pixels at once, and the rest of a row of a depthwise result one by one.
constexpr KernelReuse kThumb1Reuse = {{4, 0.5}, {3, 1}, {1, 4}};

constexpr Core kCores[] = {
#define THIMBLE_CORE(name, architecture, isa, image, costs, reuse, timing, has_time_band) \
  {name,        name,           architecture, Isa::isa, lower,  cost_of,                  \
   linked_code, runtime_cycles, code_traffic, reuse,    timing, has_time_band},
#include "engines/cortex_m/compiler/cores.def"
#undef THIMBLE_CORE
};

struct Substitutes {
  std::string_view core, image, costs;
};
constexpr Substitutes kSubstitutes[] = {
#define THIMBLE_CORE(name, architecture, isa, image, costs, reuse, timing, has_time_band) \
  {name, image, costs},
#include "engines/cortex_m/compiler/cores.def"
#undef THIMBLE_CORE
};

/// Returns the row of a core; null for a core of another folder.
const Substitutes* substitutes_of(std::string_view core) {
  const auto* const row = std::ranges::find(kSubstitutes, core, &Substitutes::core);
  return row == std::end(kSubstitutes) ? nullptr : row;
}

}  // namespace

std::string_view image_core(std::string_view core) {
  const Substitutes* const row = substitutes_of(core);
  return row == nullptr ? core : row->image;
}

std::string_view measured_core(std::string_view core) {
  const Substitutes* const row = substitutes_of(core);
  return row == nullptr ? core : row->costs;
}

std::span<const Core> cores() {
  return kCores;
}

}  // namespace thimble::engine::cortex_m
