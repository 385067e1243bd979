// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files page.css and page.js, which the build embeds in the program.

#include <string_view>

namespace thimble::report {

[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();

}  // namespace thimble::report
