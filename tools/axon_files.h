#pragma once
// `thimble compile --axon`: finds the vendor's SDK and writes the generated headers to a folder.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "tools/output.h"

namespace thimble::tools {

/// `form` is layers, program or header. If `sdk` is empty, SDK_EDGE_AI_PATH is used.
[[nodiscard]] target::VendorTools axon_tools(const std::string& form,
                                             const std::filesystem::path& sdk,
                                             const std::filesystem::path& model);

/// Options that the form would ignore are a bad-input error.
[[nodiscard]] Status check_axon_options(const std::string& form, const std::filesystem::path& sdk,
                                        const std::filesystem::path& folder);

/// Adds the headers of the networks, and the table of all networks in the folder. The table keeps
/// headers of other models and drops older ones of this model. Two models with the same identifier
/// are an error.
Status add_axon_files(const std::vector<target::Delegate>& delegates,
                      const std::filesystem::path& folder, OutputFiles* files);

}  // namespace thimble::tools
