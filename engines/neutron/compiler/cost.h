// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimated cycles of kernels on the NPU. Each parameter has a name and a source; none is measured
// on hardware (docs/neutron.md, "Cycles").

#include <cstdint>
#include <string_view>

#include "engine/settings.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

/// Number and width of the NPU's dot-product units (published, see docs/neutron.md, "Cycles").
struct DotUnits {
  int64_t pipelines = 8;          // parallel dot products
  int64_t macs_per_pipeline = 8;  // elements of each dot product per cycle
};

/// Parameters of the estimate that a part's file may set.
inline constexpr Setting kSettings[] = {
    {"bus_bytes", 1, 64, 8, "inferred: bytes that one dot product reads in a cycle"},
    {"clock_mhz", 1, 10000, 325, "inferred: that of the main Cortex-M33, which drives the NPU"},
    {"core_mhz", 1, 10000, 325, "NXP, i.MX RT700 fact sheet: main Cortex-M33"},
    {"dispatch_us", 0, 10000, 20, "inferred: driver, tables of addresses, one wait"},
    {"kernel_cycles", 0, 1e6, 400, "inferred: the core's firmware sets up each kernel"},
    {"prefetch", 0, 1, 0, "a choice: 1 copies weights to SRAM while the kernel before runs"},
    {"softmax_cycles", 1, 100, 3,
     "inferred: cycles per element for maximum, exponential and quotient"},
};

constexpr int64_t default_setting(std::string_view name) {
  for (const Setting& each : kSettings) {
    if (each.name == name) return static_cast<int64_t>(each.default_value);
  }
  return 0;
}

struct Costs {
  DotUnits units;
  int64_t bus_bytes = default_setting("bus_bytes");            // bytes read or written per cycle
  int64_t kernel_cycles = default_setting("kernel_cycles");    // overhead per kernel
  int64_t softmax_cycles = default_setting("softmax_cycles");  // per element
};

[[nodiscard]] int64_t cycles_of(const KernelOp& kernel, const Costs& costs = {});

}  // namespace thimble::engine::neutron
