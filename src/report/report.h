// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--report x.html`: the result of a compilation as one page with pictures. The page needs no
// network: style and script are part of it, and its content policy forbids everything else. All
// content is in the page as it is loaded; the script adds pan, zoom, search, sorting and details.
// docs/report.md describes the page. Test: tests/report.

#include <string>

#include "driver/compile.h"

namespace thimble::report {

/// How the report was made.
struct Provenance {
  std::string command;  // the command line
  std::string version;  // of Thimble
};

[[nodiscard]] std::string html_page(const driver::Compiled& compiled, const Provenance& provenance);

}  // namespace thimble::report
