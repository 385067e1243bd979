// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formats the result of compile(): text for people (100 columns, the summary first) and one JSON
// object for scripts.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/size_text.h"
#include "driver/compile.h"

namespace thimble::driver {

[[nodiscard]] std::string text_report(const CompileReport& report,
                                      const std::filesystem::path& output);
/// Lists every operator: kernel, bytes, MACs, instructions, source line, live bytes of the arena.
[[nodiscard]] std::string table_report(const CompileReport& report);
[[nodiscard]] std::string json_report(const CompileReport& report);

using thimble::with_commas;

/// Returns lines of at most 100 columns: the first one begins with `prefix`, the next ones with
/// spaces. Breaks the text at its spaces, but not between a number and "B".
[[nodiscard]] std::string wrapped(const std::string& prefix, const std::string& text);

/// Returns "236.1 us", "1.03 ms" or "829 ms".
[[nodiscard]] std::string time_text(double time_us);

}  // namespace thimble::driver
