// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words of values and quoting of strings, for the text and the JSON of a program.

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

inline constexpr size_t kHexBytesPerLine = 40;

/// Escapes everything except printable ASCII as \xNN, so the result contains no line break.
[[nodiscard]] std::string escape(std::string_view text);
/// Returns the escaped text in quotes.
[[nodiscard]] std::string quote(std::string_view text);
[[nodiscard]] std::string hex(ByteView bytes);
/// Returns the shortest decimal text of the number; "bits:7ff8..." for infinities and NaNs.
[[nodiscard]] std::string number(double value);
/// Returns the name, or "type:8" for a number without a name.
[[nodiscard]] std::string type_word(ScalarType type);

}  // namespace thimble::formats::pte
