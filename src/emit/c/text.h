#pragma once
// Words of C.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace thimble::emit::c {

/// A name that C takes, and that no later part of it makes a reserved one: letters, digits and
/// single underscores, a letter first.
[[nodiscard]] std::string identifier(std::string_view name);
[[nodiscard]] std::string upper(std::string_view name);
/// Text in a comment or a string: printable ASCII, without what would end either.
[[nodiscard]] std::string printable(std::string_view text);

/// Little-endian words of four bytes, filled up with zeros: "0x00000001, " and so on, in lines.
[[nodiscard]] std::string words(ByteView bytes, std::string_view indent);
[[nodiscard]] size_t word_count(size_t bytes);
/// "1, 2, 3"
[[nodiscard]] std::string list(std::span<const int32_t> items);

[[nodiscard]] std::string int64_literal(int64_t value);
/// A union member that has the bits of the number: ".number = 0x1.8p+1".
[[nodiscard]] std::string double_member(double value);
/// "0.0039215689f": reads back as the same float.
[[nodiscard]] std::string float_literal(double value);

}  // namespace thimble::emit::c
