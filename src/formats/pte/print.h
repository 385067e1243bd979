#pragma once
// A program as text for people and as JSON for scripts. One line of the text is one fact, and its
// first word says which; docs/formats/pte.md has an example.

#include <string>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

struct PrintOptions {
  bool data = true;  // print the bytes of constants and blobs too
};

/// The program must pass `check`; what `read` gives does.
[[nodiscard]] std::string print(const Program& program, const PrintOptions& options = {});

/// The same facts. Bulk data is given by its size; its bytes as "hex" only if asked for.
[[nodiscard]] std::string print_json(const Program& program, const PrintOptions& options = {false});

}  // namespace thimble::formats::pte
