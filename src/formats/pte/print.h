#pragma once
// A program as text for people and for `parse.h`, and as JSON for scripts. docs/formats/pte.md has
// an example of the text.

#include <string>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

struct PrintOptions {
  bool data = true;  // without the bytes of constants and blobs the text is short, but not parsable
};

/// The program must pass `check`; what `read` gives does.
[[nodiscard]] std::string print(const Program& program, const PrintOptions& options = {});

/// The same facts. Bulk data is given by its size; its bytes as "hex" only if asked for.
[[nodiscard]] std::string print_json(const Program& program, const PrintOptions& options = {false});

}  // namespace thimble::formats::pte
