// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface between the command line and the engines: each engine adds its options to
// `thimble compile` and its payloads to `thimble inspect`. The build lists the engines
// (cmake/engine_rows.cmake), so nothing in tools/ names one.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "formats/pte/program.h"
#include "tools/command_line.h"
#include "tools/output.h"

namespace thimble::tools {

/// Result of an inspector: one set of facts, as text for people and as JSON for scripts.
struct InspectReport {
  std::string text;
  Json json;
};

/// A compiled model, for the files that an engine writes next to its `.pte`.
struct EngineOutput {
  const std::vector<engine::Delegate>& delegates;
  const engine::VendorTools& vendor;
  std::filesystem::path pte_folder;
  std::filesystem::path kernels_folder;  // --kernels-dir; the folder of the .pte if not given
};

class EngineCli {
 public:
  EngineCli() = default;
  EngineCli(const EngineCli&) = delete;
  EngineCli& operator=(const EngineCli&) = delete;
  virtual ~EngineCli() = default;

  /// Adds the engine's options to `thimble compile`.
  virtual void add_compile_options(Verb& /*verb*/) {}
  /// Adds the values of these options to `tools`. Options that contradict each other, or the part,
  /// are bad input. `part`: value of --target; `model`: path of the `.pt2`.
  virtual Status apply_options(const std::string& /*part*/, const std::filesystem::path& /*model*/,
                               engine::VendorTools* /*tools*/) const {
    return ok();
  }
  /// Adds the files that the firmware's build needs for the engine's delegates, and to `notes` what
  /// the user must do with them.
  virtual Status add_files(const EngineOutput& /*output*/, OutputFiles* /*files*/,
                           std::vector<std::string>* /*notes*/) const {
    return ok();
  }
  /// Text of a delegate's payload for `inspect --commands`; none if it is not the engine's.
  [[nodiscard]] virtual Result<std::optional<std::string>> print_delegate(
      const formats::pte::Program& /*program*/, const formats::pte::BackendDelegate& /*row*/,
      const std::string& /*label*/) const {
    return std::optional<std::string>();
  }
  /// Name of the engine's own file format that inspect_file() reads: "driver payload (COP1,
  /// COP2)"; empty if it has none.
  [[nodiscard]] virtual std::string_view file_format() const { return ""; }
  /// Content of a file in the engine's own format; none if the bytes have another format.
  [[nodiscard]] virtual Result<std::optional<InspectReport>> inspect_file(
      const Bytes& /*bytes*/, const std::string& /*label*/) const {
    return std::optional<InspectReport>();
  }
};

/// A function that the header of a row declares as NAME_cli().
using EngineCliMaker = std::unique_ptr<EngineCli>();
[[nodiscard]] std::span<EngineCliMaker* const> engine_cli_rows();
/// A new object for each engine of this build, in the order of the rows.
[[nodiscard]] std::vector<std::unique_ptr<EngineCli>> engine_clis();

}  // namespace thimble::tools
