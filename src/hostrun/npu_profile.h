#pragma once
// Estimated timing of the delegates of a `.pte` on the NPU, operation by operation. The result is
// the same on every machine. The estimate for an Ethos-U is the simulator's timeline
// (npu/ethos_u/sim/timeline.h); for a Neutron it is in the kernel list, written by its compiler.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::hostrun {

struct NpuOperation {
  std::string name;   // "CONV", "POOL MAX", "DMA"
  uint32_t word = 0;  // offset in the command stream, or of the kernel's record in the kernel list
  double start = 0, end = 0;
  std::string bound;  // resource that limits it: "multiply", "SRAM port", ...
  uint64_t macs = 0;
};

struct NpuProfile {
  std::string npu;     // "ethos-u55-128"
  std::string system;  // "Ethos_U55_High_End_Embedded"
  double cycles = 0;
  double bytes_sram = 0, bytes_external = 0;  // read and written; 0 if unknown
  std::vector<NpuOperation> operations;
  std::vector<std::string> hazards;  // unordered accesses of the stream to the same bytes
};

/// Profiles for all NPUs that the program calls and for which this build has an estimate.
[[nodiscard]] Result<std::vector<NpuProfile>> profiles_of(const formats::pte::Program& program,
                                                          std::string_view label);

/// One profile per Ethos-U delegate of the first plan. The system is the default one of the NPU's
/// generation; the memory mode is the file's.
[[nodiscard]] Result<std::vector<NpuProfile>> npu_profiles(const formats::pte::Program& program,
                                                           std::string_view label);

/// A bad-input error if two commands of an Ethos-U delegate access the same bytes, one writes, and
/// nothing orders them. Unreadable streams are no error here: the runtime rejects them at load.
[[nodiscard]] Status check_npu_hazards(const formats::pte::Program& program,
                                       std::string_view label);

}  // namespace thimble::hostrun
