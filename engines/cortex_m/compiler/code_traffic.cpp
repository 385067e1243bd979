// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/code_traffic.h"

#include <algorithm>
#include <iterator>

#include "engines/cortex_m/compiler/cortex_m.h"

namespace thimble::engine::cortex_m {
namespace {

struct TrafficRow {
  std::string_view core;
  CodeTraffic traffic;
};
constexpr TrafficRow kTrafficRows[] = {
#define THIMBLE_SHARES(...) \
  { __VA_ARGS__ }
#define THIMBLE_CODE_TRAFFIC(core, bytes_per_cycle, jumps_per_cycle, misses, jump_misses) \
  {core, {bytes_per_cycle, jumps_per_cycle, misses, jump_misses}},
#include "engines/cortex_m/compiler/code_traffic.def"
#undef THIMBLE_CODE_TRAFFIC
#undef THIMBLE_SHARES
};

}  // namespace

const CodeTraffic* code_traffic(const Core& core) {
  const auto* const row =
      std::ranges::find(kTrafficRows, measured_core(core.name), &TrafficRow::core);
  return row == std::end(kTrafficRows) ? nullptr : &row->traffic;
}

}  // namespace thimble::engine::cortex_m
