#pragma once
// What an NPU would do with the delegates of a `.pte`, operation by operation: an estimate, and the
// same on every machine. Of an Ethos-U it is from the simulator's timeline
// (engines/ethos_u/sim/timeline.h), of a Neutron from the kernel list, as its compiler estimated it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::hostrun {

struct NpuOperation {
  std::string name;   // "CONV", "POOL MAX", "DMA"
  uint32_t word = 0;  // offset in the command stream, or of the kernel's record in its list
  double start = 0, end = 0;
  std::string bound;  // what it waited for most: "multiply", "SRAM port", ...
  uint64_t macs = 0;
};

struct NpuProfile {
  std::string npu;     // "ethos-u55-128"
  std::string system;  // "Ethos_U55_High_End_Embedded"
  double cycles = 0;
  double bytes_sram = 0, bytes_external = 0;  // read and written; 0: not known
  std::vector<NpuOperation> operations;
  std::vector<std::string> hazards;  // reads and writes of the stream that nothing orders
};

/// Of all NPUs that the program calls and this build can say it of.
[[nodiscard]] Result<std::vector<NpuProfile>> profiles_of(const formats::pte::Program& program,
                                                          std::string_view label);

/// One per delegate of the first plan; empty if it has none for an Ethos-U. The system around the
/// NPU is the usual one of its generation, the memory mode what the file says.
[[nodiscard]] Result<std::vector<NpuProfile>> npu_profiles(const formats::pte::Program& program,
                                                           std::string_view label);

/// Bad input if two commands of an Ethos-U delegate touch the same bytes, one writes, and nothing
/// orders them. What cannot be read as a stream is left to the runtime, which refuses it at load.
[[nodiscard]] Status check_npu_hazards(const formats::pte::Program& program,
                                       std::string_view label);

}  // namespace thimble::hostrun
