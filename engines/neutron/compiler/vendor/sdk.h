#pragma once
// Calls of NXP's eIQ Neutron SDK, which the user has: its converter, and its tool that merges lists
// of kernels. Each in a process of its own, in a folder of its own, with a limit on its time.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kSdkVariable = "EIQ_NEUTRON_SDK_PATH";

struct SdkOptions {
  std::filesystem::path root;            // of the SDK, or the converter itself
  std::chrono::seconds time_limit{300};  // of one call
  std::string target;                    // "imxrt700": as the converter names it
  bool prefetch = false;                 // weights are fetched to SRAM while it runs
  bool kernel_selection = false;         // a list of the firmware's kernels that are needed
  std::vector<std::string> flags;        // more options of the converter, as they are
};

struct Converted {
  Bytes model;
  std::string version;                  // of the converter, if it says one
  std::vector<std::string> selections;  // C files that it left beside the model
};

/// The converter, which is there; else an error that says where it was expected.
[[nodiscard]] Result<std::filesystem::path> find_converter(const std::filesystem::path& root);

/// `label` is what messages call the model.
[[nodiscard]] Result<Converted> convert(ByteView model, std::string_view label,
                                        const SdkOptions& options);

/// One list of kernels for all of them, by the SDK's own tool, which wants them to be of one
/// version. Nothing if the SDK does not bring that tool.
[[nodiscard]] Result<std::optional<std::string>> merge_selections(
    const std::vector<GeneratedFile>& files, const SdkOptions& options);

}  // namespace thimble::engine::neutron
