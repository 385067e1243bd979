#pragma once
// A model that can be called, wherever it runs: host runtime, QEMU or evaluator.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hostrun/interface.h"
#include "hostrun/npu_profile.h"
#include "hostrun/qemu.h"
#include "ir/graph.h"

namespace thimble::tools {

/// One tensor per input (or output), for each call in order.
using Calls = std::vector<std::vector<ir::Tensor>>;

struct Outcome {
  Calls outputs;
  std::optional<int64_t> arena_bytes_used;
  std::optional<hostrun::QemuFacts> qemu;
  bool npu_simulated = false;            // on QEMU: the CPU's instructions are also the simulator's
  std::vector<hostrun::NpuProfile> npu;  // with OpenOptions::profile, of a file with delegates
};

struct Model {
  std::string label;  // the file's name
  std::string where;  // "host", "cortex-m55 (QEMU mps3-an547)", "evaluator"
  std::vector<hostrun::Port> inputs;
  std::vector<hostrun::Port> outputs;
  /// Calls the model in order; state that it keeps starts fresh and lives through all calls.
  std::function<Result<Outcome>(std::span<const std::vector<ir::Tensor>> calls)> run;
};

struct OpenOptions {
  std::string on;             // "host", "qemu", "fvp", "eval"; empty: host for .pte, else eval
  std::filesystem::path fvp;  // the program of "fvp"; empty: what THIMBLE_FVP names
  int time_limit = 300;       // seconds, of qemu and fvp
  std::string target;         // for files that name none
  bool count_instructions = false;        // on QEMU
  bool profile = false;                   // the same by operator; of an NPU its operations
  std::map<std::string, int64_t> shapes;  // open sizes of a .pt2
};

/// A `.pte`, a `.pt2` (its float graph) or a `.ir`.
[[nodiscard]] Result<Model> open_model(const std::filesystem::path& path,
                                       const OpenOptions& options);

/// The graph on the evaluator.
[[nodiscard]] Model evaluator_model(ir::Graph graph, std::string label);

}  // namespace thimble::tools
