#pragma once
// What tests have compared, for the matrix of operators, element types and processors.
//
// With THIMBLE_MATRIX=FOLDER in the environment, a program writes FOLDER/<name>-<process>.tsv when
// it ends: a line per row and processor, `operator types processor scope equal different`, with
// tabs. Without it nothing is kept. tests/matrix/matrix.py makes a table of the folder.

#include <string>
#include <string_view>

namespace thimble::test {

/// The host's name among processors.
inline constexpr std::string_view kHost = "host";

/// What was compared: one operator by itself, or a graph that contains it.
enum class Scope { kAlone, kGraph };

/// One result of a call, compared with its judge in every bit. `types` as target::call_types().
void compared(std::string_view op, std::string_view types, std::string_view processor, Scope scope,
              bool equal);

}  // namespace thimble::test
