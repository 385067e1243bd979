// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model that can be called on the host runtime, on an emulated board or on the reference
// evaluator.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"
#include "hostrun/call_trace.h"
#include "hostrun/host.h"
#include "hostrun/interface.h"
#include "hostrun/npu_profile.h"
#include "hostrun/qemu.h"
#include "hostrun/serial.h"
#include "ir/graph.h"
#include "tools/part_times.h"

namespace thimble::tools {

/// Tensors of each call, in order: one tensor per input (or output).
using Calls = std::vector<std::vector<ir::Tensor>>;

/// A call of an NPU's delegate on an emulated board, where a simulator replaces the NPU.
struct NpuCall {
  std::string npu;                // configuration of the NPU; empty if there is no estimate
  size_t delegate = 0;            // index in the file's table
  std::optional<int64_t> cycles;  // of the NPU, an estimate
};

struct Outcome {
  Calls outputs;
  std::optional<int64_t> arena_bytes_used;
  std::optional<hostrun::QemuFacts> qemu;
  std::optional<hostrun::SerialFacts> serial;
  std::string note;                     // as Model::note, known after the run
  bool npu_simulated = false;           // on QEMU: instruction counts include the NPU simulator
  std::map<size_t, NpuCall> npu_calls;  // on QEMU with a profile: by index into qemu->ops
  std::vector<formats::pte::DelegateOverlap> overlaps;  // on QEMU with a profile: of these calls
  std::vector<hostrun::NpuProfile> npu;    // with OpenOptions::profile, for a file with delegates
  std::vector<hostrun::CallTrace> traces;  // with OpenOptions::trace, on the host: one per call
};

struct Model {
  std::string label;  // the file's name
  std::string where;  // "host", "cortex-m55 (QEMU mps3-an547)", "/dev/ttyACM0", "evaluator"
  std::vector<hostrun::Port> inputs;
  std::vector<hostrun::Port> outputs;
  bool has_state = false;  // results depend on previous calls
  std::string note;        // what a run of this file on this core does not show; may be empty
  PartTimes times;         // with OpenOptions::profile
  /// Runs the calls in order. States start with their initial value and are kept between the calls.
  std::function<Result<Outcome>(std::span<const std::vector<ir::Tensor>> calls)> run;
  std::shared_ptr<const formats::pte::Program> program;  // of a .pte; else null
  std::shared_ptr<hostrun::HostModel> host;              // on this machine; else null
  /// Runs one call with the states of the last one; empty on a board, where each run() boots.
  std::function<Result<std::vector<ir::Tensor>>(std::span<const ir::Tensor> inputs)> step;
  /// Sets the states for step() to their initial values; empty if `step` is.
  std::function<Status()> reset;
  /// Copy the states of step() out and in, as thimble_save and thimble_restore; empty if `step` is.
  std::function<Result<Bytes>()> save;
  std::function<Status(ByteView)> restore;
};

struct OpenOptions {
  /// "host", "qemu", "fvp", "eval", "serial:PORT[:BAUD]"; empty: host for .pte, else eval
  std::string on;
  std::filesystem::path fvp;              // FVP program; if empty, THIMBLE_FVP is used
  int time_limit = 300;                   // in seconds, for qemu, fvp and one call on a serial line
  int patience = 30;                      // in seconds: silence of a serial line that is an error
  std::string target;                     // for files without a target, and for times of a profile
  bool count_instructions = false;        // on QEMU
  bool profile = false;                   // also per operator; for an NPU, its operations
  bool trace = false;                     // on the host: Outcome::traces
  bool trace_tensors = false;             // the traces have tensors
  std::map<std::string, int64_t> shapes;  // values of dynamic sizes of a .pt2
  std::string method;                     // of a .pte; empty: forward, or the first one
  std::filesystem::path data_file;        // constants of a .pte (.ptd); empty: none
  std::vector<std::string> input_names;   // of a .pte that may have no names; empty: those it has
};

/// Opens a `.pte`, a `.pt2` (its float graph) or an `.ir`.
[[nodiscard]] Result<Model> open_model(const std::filesystem::path& path,
                                       const OpenOptions& options);

/// Opens the bytes of a `.pte`. `label` names them in messages.
[[nodiscard]] Result<Model> open_program(Bytes bytes, const std::string& label,
                                         const OpenOptions& options);

/// Runs the graph on the reference evaluator.
[[nodiscard]] Model evaluator_model(ir::Graph graph, std::string label);

}  // namespace thimble::tools
