#pragma once
// The inverse of `print`: parse_text(print(p)) equals p.

#include <string_view>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// `label` names the text in messages; they also have the line: `model.txt:12: expected "]"`.
[[nodiscard]] Result<Program> parse_text(std::string_view text, std::string_view label);

}  // namespace thimble::formats::pte
