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
  bool measured = true;           // as engine::Cost::measured
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

  /// Sum of the calls that have an estimate: cycles of the core, and cycles of the NPU. Nothing if
  /// no call has one.
  [[nodiscard]] std::optional<int64_t> cycles() const;
  /// Number of calls without an estimate.
  [[nodiscard]] int64_t calls_without_estimate() const;
  /// Number of calls with the cycles of an average operator.
  [[nodiscard]] int64_t unmeasured_calls() const;
};

/// `part`: the part that runs the program, whose core is that of the file; null: not known.
[[nodiscard]] Result<ProgramFacts> program_facts(const Bytes& bytes, const std::string& label,
                                                 const engine::Part* part = nullptr);

}  // namespace thimble::tools
