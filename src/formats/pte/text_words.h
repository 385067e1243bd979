#pragma once
// Words of values and quoting of strings, for the text and the JSON of a program.

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

inline constexpr size_t kHexBytesPerLine = 40;

/// Everything outside printable ASCII as \xNN, so that a line is always one line.
[[nodiscard]] std::string escape(std::string_view text);
/// The same in quotes.
[[nodiscard]] std::string quote(std::string_view text);
[[nodiscard]] std::string hex(ByteView bytes);
/// The shortest decimal number that is this double; "bits:7ff8..." for infinities and NaNs.
[[nodiscard]] std::string number(double value);
/// The name, or "type:8" for a number without one.
[[nodiscard]] std::string type_word(ScalarType type);

}  // namespace thimble::formats::pte
