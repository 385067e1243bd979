// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimated cycles of the delegates of a `.pte` on their NPU, for each operation of the NPU. The
// estimate is the same on every machine. The hostrun/ folder of each engine computes it.

#include <cstdint>
#include <map>
#include <span>
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
  size_t delegate = 0;  // index in the delegate table of the program's first plan
  std::string kind;     // family of the NPU, as engine::Npu::kind
  std::string npu;      // configuration of the NPU
  std::string system;   // the system around it
  double cycles = 0;
  double bytes_sram = 0, bytes_external = 0;  // read and written; 0 if unknown
  std::vector<NpuOperation> operations;
  std::vector<std::string> hazards;  // unordered accesses of the stream to the same bytes
};

/// An NPU as a part's file describes it: the name of its system configuration, and settings.
struct NpuSystem {
  std::string npu;
  std::string system;
  std::map<std::string, double, std::less<>> settings;
};

/// Returns profiles for all NPUs that the program calls and for which this build has an estimate.
/// `systems` are the NPUs of the part that runs the program; without them, the estimate is for the
/// system that the file names. `compile` and `run --profile` both state these cycles.
[[nodiscard]] Result<std::vector<NpuProfile>> profiles_of(const formats::pte::Program& program,
                                                          std::string_view label,
                                                          std::span<const NpuSystem> systems = {});

}  // namespace thimble::hostrun
