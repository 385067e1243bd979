#pragma once
// What kernels cost on the NPU, in its cycles: an estimate whose parameters all have a name and a
// source, none of them measured (docs/neutron.md, "Cycles").

#include <cstdint>
#include <string_view>

#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

/// What one NPU of the family is: the size of its dot products is all that is published.
struct Machine {
  int64_t pipelines = 8;  // dot products at a time
  int64_t macs = 8;       // elements of each in a cycle
};

/// A number that a part's file may set, nearly all of the estimate.
struct Parameter {
  std::string_view name;
  double least, most, usual;
  std::string_view source;
};
inline constexpr Parameter kParameters[] = {
    {"bus_bytes", 1, 64, 8, "inferred: what one dot product takes in a cycle"},
    {"clock_mhz", 1, 10000, 325, "inferred: that of the main Cortex-M33, which drives the NPU"},
    {"core_mhz", 1, 10000, 325, "NXP, i.MX RT700 fact sheet: main Cortex-M33"},
    {"dispatch_us", 0, 10000, 20, "inferred: driver, tables of addresses, one wait"},
    {"kernel_cycles", 0, 1e6, 400, "inferred: the core's firmware sets up each kernel"},
    {"prefetch", 0, 1, 0, "a choice: 1 copies weights to SRAM while the kernel before runs"},
    {"softmax_cycles", 1, 100, 3, "inferred: of an element: maximum, exponential, quotient"},
};

struct Costs {
  Machine machine;
  int64_t bus_bytes = 8;        // read or written in a cycle
  int64_t kernel_cycles = 400;  // around one kernel
  int64_t softmax_cycles = 3;   // of one element
};

[[nodiscard]] int64_t cycles_of(const KernelOp& kernel, const Costs& costs = {});

/// Cycles that the multiplications alone take if every unit has work in each.
[[nodiscard]] int64_t bound_of(int64_t macs, const Machine& machine);

}  // namespace thimble::engine::neutron
