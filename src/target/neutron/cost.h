#pragma once
// What kernels cost on the NPU, in its cycles: an estimate whose parameters all have a name and a
// source, none of them measured (docs/neutron.md, "Cycles").

#include <cstdint>
#include <string_view>

#include "target/neutron/network.h"

namespace thimble::target::neutron {

/// A number of the model.
struct Parameter {
  std::string_view name;
  double value;
  std::string_view source;  // "inferred: ..." where nobody published it
};

/// What one NPU of the family is, as data.
struct Machine {
  int64_t pipelines = 8;  // dot products at a time
  int64_t macs = 8;       // elements of each in a cycle
};

struct Costs {
  Machine machine;
  int64_t bus_bytes = 8;        // read or written in a cycle
  int64_t kernel_cycles = 400;  // around one kernel
};

[[nodiscard]] int64_t cycles_of(const KernelOp& kernel, const Costs& costs = {});

/// Cycles that the multiplications alone take if every unit has work in each.
[[nodiscard]] int64_t bound_of(int64_t macs, const Machine& machine);

}  // namespace thimble::target::neutron
