#pragma once
// `thimble compile --axon`: finds the vendor's SDK and writes the generated headers to a folder.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "tools/output.h"

namespace thimble::tools {

/// `form`: layers, program or header. An empty `sdk` is SDK_EDGE_AI_PATH's.
[[nodiscard]] engine::VendorTools axon_tools(const std::string& form,
                                             const std::filesystem::path& sdk,
                                             const std::filesystem::path& model);

/// Options that the form would ignore are a bad-input error.
[[nodiscard]] Status check_axon_options(const std::string& form, const std::filesystem::path& sdk,
                                        const std::filesystem::path& folder);

/// Headers of the networks, and the table of all networks in the folder: other models' headers stay
/// in it, older ones of this model do not. Two models of one identifier are an error.
Status add_axon_files(const std::vector<engine::Delegate>& delegates,
                      const std::filesystem::path& folder, OutputFiles* files);

}  // namespace thimble::tools
