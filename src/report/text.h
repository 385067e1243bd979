// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text of a page: numbers with units, and text of the user as HTML and in a script.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "ir/type.h"

namespace thimble::report {

using Json = nlohmann::ordered_json;

/// Returns the text for an HTML element or a quoted attribute. Control characters become U+FFFD:
/// HTML does not allow them.
[[nodiscard]] std::string escape_html(std::string_view text);

/// Returns the JSON text for a `script` element: it has no `<`, so it cannot end the element.
/// Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string script_json(const Json& json);

/// Returns the number of columns of the text in a font of fixed width: a wide character counts 2.
[[nodiscard]] size_t text_columns(std::string_view text);

/// Returns at most `columns` columns of the text: its middle is replaced by an ellipsis.
[[nodiscard]] std::string shorten(std::string_view text, size_t columns);

/// Returns "1.2 M" for 1234567, and "123" for 123.
[[nodiscard]] std::string short_number(double value);

/// Returns "12.3 KiB" for 12595, and "123 B" for 123.
[[nodiscard]] std::string short_bytes(int64_t bytes);

/// Returns "1x8x8x3", with multiplication signs; "scalar" without dimensions.
[[nodiscard]] std::string shape_text(const ir::Shape& shape);

/// Width of a character in a font of fixed width, for a font size of 1: the widest of the page's
/// fonts.
inline constexpr double kAdvance = 0.61;

/// Returns the number with at most one decimal, for coordinates.
[[nodiscard]] std::string coordinate(double value);

}  // namespace thimble::report
