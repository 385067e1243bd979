// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls the tools of an installed eIQ Neutron SDK of NXP: the converter, and the tool that merges
// kernel selections (C tables of the firmware kernels that a model needs). Each runs in a separate
// process, in a temporary folder, with a time limit.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kSdkVariable = "EIQ_NEUTRON_SDK_PATH";

struct SdkOptions {
  std::filesystem::path root;            // folder of the SDK, or the converter itself
  std::chrono::seconds time_limit{300};  // per call
  std::string target;                    // the converter's name of the device: "imxrt700"
  bool prefetch = false;                 // fetch weights to SRAM while the NPU runs
  bool kernel_selection =
      false;  // write *_kernel_selection.c, the table of the firmware kernels in use
  std::vector<std::string> flags;  // further options, passed to the converter unchanged
};

struct Converted {
  Bytes model;
  std::string version;                  // of the converter, if its output contains it
  std::vector<std::string> selections;  // kernel selections
};

/// Returns the path of the converter; the error names the expected path if it does not exist.
[[nodiscard]] Result<std::filesystem::path> find_converter(const std::filesystem::path& root);

/// `label` is the model's name in messages.
[[nodiscard]] Result<Converted> convert(ByteView model, std::string_view label,
                                        const SdkOptions& options);

/// Merges kernel selections with the SDK's merge_kernel_selection_code. All must come from one
/// version of the converter.
/// Returns nothing if the SDK does not contain the tool.
[[nodiscard]] Result<std::optional<std::string>> merge_selections(
    const std::vector<GeneratedFile>& files, const SdkOptions& options);

}  // namespace thimble::engine::neutron
