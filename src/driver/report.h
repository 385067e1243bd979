#pragma once
// What compile() found, for people (100 columns, the answer first) and for scripts (one JSON
// object).

#include <filesystem>
#include <string>

#include "base/result.h"
#include "driver/compile.h"

namespace thimble::driver {

[[nodiscard]] std::string text_report(const CompileReport& report,
                                      const std::filesystem::path& output);
/// Every operator: kernel, bytes, MACs, instructions, the user's line; and how full the arena is.
[[nodiscard]] std::string table_report(const CompileReport& report);
[[nodiscard]] std::string json_report(const CompileReport& report);
/// One self-contained page: summary, memory, and every operator with its share of MACs.
[[nodiscard]] std::string html_report(const CompileReport& report);

/// 1234567 -> "1,234,567"
[[nodiscard]] std::string with_commas(int64_t value);

}  // namespace thimble::driver
