// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble inspect`, `targets`, `annotate` and `diff`, for the command line and for other callers.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "tools/command_line.h"
#include "tools/output.h"

namespace thimble::tools {

/// Returns what `inspect --json` prints.
[[nodiscard]] Result<Json> inspect_json(const std::filesystem::path& path, bool commands);

/// Returns what `targets NAME --json` prints: one part, or the parts that the filter selects.
[[nodiscard]] Result<Json> targets_json(const std::string& name);

/// Returns what `annotate` prints. `arithmetic`: for a model that PyTorch quantized.
[[nodiscard]] Result<Json> annotate_json(const std::filesystem::path& model,
                                         const std::string& target, bool arithmetic);

struct DiffArguments {
  std::filesystem::path before, after;
  std::filesystem::path data;
  std::filesystem::path model;
  std::string target;
  std::string fail_if;
  bool json = false;
};
void add_diff_options(Verb& verb, DiffArguments* arguments);

/// Returns what `diff --json` prints. A condition of --fail-if that is true is in "violations".
[[nodiscard]] Result<Json> diff_json(const DiffArguments& arguments);

}  // namespace thimble::tools
