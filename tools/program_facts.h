// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of a `.pte`, computed from the file alone: sizes, and estimates per call.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "driver/compile.h"
#include "engine/part.h"
#include "ir/graph.h"

namespace thimble::tools {

/// An instruction of the program.
struct CallFacts {
  std::string name;    // of its value, from a file with names; else empty
  std::string kernel;  // "thimble::conv2d.dsp", "(delegate NAME)"
  std::string engine;  // the core, or the configuration of the NPU
  ir::Shape shape;     // of its last result
  int64_t constant_bytes = 0;
  std::optional<int64_t> cycles;  // an estimate, with the wait states of a given part
  int64_t wait_cycles = 0;        // part of `cycles`
  bool is_npu = false;            // `cycles` are those of an NPU
  std::optional<double> time_us;  // of a given part, with the overhead of a call of the NPU
  bool measured = true;           // engine::CycleBasis::kMeasured
};

struct ProgramFacts {
  std::string label;
  std::string target;  // empty: the file does not name one
  int64_t file_bytes = 0;
  int64_t constant_bytes = 0;  // constants and payloads of delegates
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;                   // kept between runs
  std::optional<driver::LinkedSize> linked;  // nothing: not known for this core
  std::vector<CallFacts> calls;
  std::optional<int64_t> runtime_cycles;  // of the core in one run outside of kernels, an estimate
  int64_t runtime_wait_cycles = 0;        // part of `runtime_cycles`
  std::optional<double> time_us;          // of one run on a given part, if all times are known
  std::vector<std::string> memories_without_waits;  // of a given part: `cycles` lack their waits
  bool has_time_band = false;  // on a given part, for cycles of its own instructions

  /// Sum of the calls of the core that have an estimate, and of the runtime. Nothing if no call has
  /// one.
  [[nodiscard]] std::optional<int64_t> core_cycles() const;
  /// Sum of the calls of NPUs that have an estimate, each on its own clock. Nothing if none has
  /// one.
  [[nodiscard]] std::optional<int64_t> npu_cycles() const;
  /// Number of calls without an estimate.
  [[nodiscard]] int64_t calls_without_estimate() const;
  /// Number of calls with the cycles of an average operator.
  [[nodiscard]] int64_t unmeasured_calls() const;
};

/// The cores that the part may have if the file names one.
enum class PartCore : uint8_t {
  kOfFile,              // the file's core
  kWithItsInstructions  // a core with the same instruction set: it runs the same kernels
};

/// `part`: the part that runs the program; null: not known. Another core than `allowed` is an
/// error.
[[nodiscard]] Result<ProgramFacts> program_facts(const Bytes& bytes, const std::string& label,
                                                 const engine::Part* part = nullptr,
                                                 PartCore allowed = PartCore::kOfFile);

}  // namespace thimble::tools
