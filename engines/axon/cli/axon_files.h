// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble compile --axon`: finds the vendor's SDK and writes the generated headers to a folder.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "tools/output.h"

namespace thimble::tools {

/// `form`: layers, program or header. If `sdk` is empty, SDK_EDGE_AI_PATH is used.
[[nodiscard]] engine::VendorTools axon_tools(const std::string& form,
                                             const std::filesystem::path& sdk,
                                             const std::filesystem::path& model);

/// Returns a bad-input error for options that the form would ignore.
[[nodiscard]] Status check_axon_options(const std::string& form, const std::filesystem::path& sdk,
                                        const std::filesystem::path& folder);

/// Adds the headers of the networks, and the table of all networks in the folder. Headers of other
/// models stay in the table; older headers of this model are removed from it. Two models with one
/// identifier are an error.
Status add_axon_files(const std::vector<engine::Delegate>& delegates,
                      const std::filesystem::path& folder, OutputFiles* files);

}  // namespace thimble::tools
