// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines and words of a text. Streams are not used for them: std::getline() and operator>> of a
// stream catch std::bad_alloc, and the text then seems to end there.

#include <string_view>
#include <vector>

namespace thimble::base {

/// Returns views of the lines, without the `\n` or `\r\n` at their ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Returns views of the words, which spaces, tabs and ends of lines separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

}  // namespace thimble::base
