// SPDX-License-Identifier: Apache-2.0
#pragma once
// Prints a program as text for people and as JSON for scripts. Each line of the text is one fact;
// its first word is the kind of the fact. docs/formats/pte.md has an example.

#include <string>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

struct PrintOptions {
  bool data = true;  // false: omits the bytes of constants and blobs
};

/// The program must pass `check`; programs returned by `read` do.
[[nodiscard]] std::string print(const Program& program, const PrintOptions& options = {});

/// Prints the same facts. Bulk data is given as its size; its bytes as "hex" only if requested.
[[nodiscard]] std::string print_json(const Program& program, const PrintOptions& options = {false});

}  // namespace thimble::formats::pte
