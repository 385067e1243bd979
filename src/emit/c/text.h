// SPDX-License-Identifier: Apache-2.0
#pragma once
// Identifiers and literals of C.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace thimble::emit::c {

/// A valid C identifier that stays unreserved when a suffix is appended. It consists of letters,
/// digits and single underscores, and starts with a letter.
[[nodiscard]] std::string identifier(std::string_view name);
[[nodiscard]] std::string upper(std::string_view name);
/// Text for a comment or a string: printable ASCII, without characters that would end either.
[[nodiscard]] std::string printable(std::string_view text);

/// Little-endian 32-bit words, padded with zeros: "0x00000001, " and so on, in lines.
[[nodiscard]] std::string words(ByteView bytes, std::string_view indent);
[[nodiscard]] size_t word_count(size_t bytes);
/// "1, 2, 3"
[[nodiscard]] std::string list(std::span<const int32_t> items);

[[nodiscard]] std::string int64_literal(int64_t value);
/// A union member with exactly this value: ".number = 0x1.8p+1". Infinity and NaN are written by
/// their bits, as `.integer`.
[[nodiscard]] std::string double_member(double value);
/// "0.0039215689f": a literal that compiles to the same float.
[[nodiscard]] std::string float_literal(double value);

}  // namespace thimble::emit::c
