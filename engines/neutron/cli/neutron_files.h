// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble compile --neutron`: finds NXP's SDK and writes the kernel selections (C files) that its
// converter generates.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "tools/output.h"

namespace thimble::tools {

struct NeutronArguments {
  /// "model": a kernel list for the integer model; "sdk": microcode from NXP's converter.
  std::string program = "model";
  std::filesystem::path sdk;  // if empty, EIQ_NEUTRON_SDK_PATH is used
  std::string flags;          // for the converter
  bool prefetch = false, kernels = false;
  int time_limit = 300;  // seconds
};

/// Adds the arguments to `tools`. It is a bad-input error if they request the SDK and the part has
/// no Neutron.
[[nodiscard]] Status add_neutron_tools(const NeutronArguments& arguments, const std::string& part,
                                       const std::filesystem::path& model,
                                       engine::VendorTools* tools);

/// Adds MODEL_kernel_selection.c to the folder. The SDK's tool merges the files of several
/// delegates. Without that tool, each delegate has its own file, which the firmware's build must
/// merge; a note in `notes` reports this.
Status add_neutron_files(const std::vector<engine::Delegate>& delegates,
                         const engine::VendorTools& tools, const std::filesystem::path& folder,
                         OutputFiles* files, std::vector<std::string>* notes);

}  // namespace thimble::tools
