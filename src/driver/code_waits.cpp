// SPDX-License-Identifier: Apache-2.0
#include "driver/code_waits.h"

#include <algorithm>

namespace thimble::driver {
namespace {

using engine::CodeTraffic;
using engine::kCodeCacheBytes;
using engine::PartMemory;

const CodeTraffic* traffic_of(const engine::Core& core) {
  return core.code_traffic == nullptr ? nullptr : core.code_traffic(core);
}

/// Returns the measured share of reads that a cache of this size does not hold. Between two
/// measured sizes, the smaller one counts.
double share_for(const std::array<double, kCodeCacheBytes.size()>& shares, int64_t cache_bytes) {
  const auto* const larger = std::ranges::upper_bound(kCodeCacheBytes, cache_bytes);
  return shares[static_cast<size_t>(larger - kCodeCacheBytes.begin()) - 1];
}

bool holds_all_loops(const PartMemory& memory) {
  return memory.instruction_cache_bytes.value_or(0) >= kCodeCacheBytes.back();
}

}  // namespace

bool code_waits_known(const PartMemory* memory, const engine::Core& core) {
  if (memory == nullptr || memory->wait_states == 0 || holds_all_loops(*memory)) return true;
  return memory->wait_states && memory->instruction_cache_bytes && memory->line_bytes > 0 &&
         traffic_of(core) != nullptr;
}

int64_t code_access_bytes(const PartMemory& memory) {
  constexpr int64_t kWord = 4;
  return memory.line_bytes > 0 ? memory.line_bytes : kWord;
}

double code_waits_per_cycle(const PartMemory& memory, const CodeTraffic& traffic) {
  const double waits = memory.wait_states.value_or(0);
  const int64_t cache = memory.instruction_cache_bytes.value_or(0);
  const double lines_per_cycle =
      traffic.bytes_per_cycle / static_cast<double>(code_access_bytes(memory));
  // The read of the next line, less the time for which the core executes this one.
  const double after_prefetch = std::clamp(waits + 1 - 1 / lines_per_cycle, 0.0, waits);
  if (memory.prefetch && after_prefetch == 0) {
    return share_for(traffic.jump_misses, cache) * traffic.jumps_per_cycle * waits;
  }
  const double line_waits = memory.prefetch ? after_prefetch : waits;
  return share_for(traffic.misses, cache) *
         (traffic.jumps_per_cycle * waits + lines_per_cycle * line_waits);
}

double code_wait_cycles(const PartMemory* memory, const engine::Core& core, double cycles) {
  const bool stated = memory != nullptr && memory->wait_states && memory->instruction_cache_bytes;
  const CodeTraffic* const traffic = traffic_of(core);
  if (!stated || traffic == nullptr) return 0;
  return cycles * code_waits_per_cycle(*memory, *traffic);
}

}  // namespace thimble::driver
