// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records which comparisons tests have made, for the matrix of operators, element types and
// processors.
//
// With THIMBLE_MATRIX=FOLDER in the environment, a program writes FOLDER/<name>-<process>.tsv at
// exit: one line per row and processor, `operator types processor scope equal different`, separated
// by tabs. Without it nothing is recorded. tests/matrix/matrix.py makes a table of the folder.

#include <string>
#include <string_view>

namespace thimble::test {

/// Processor name of the host.
inline constexpr std::string_view kHost = "host";

/// Scope of a comparison: one operator by itself, or a graph that contains it.
enum class Scope { kAlone, kGraph };

/// Records one bit-exact comparison with a reference. `types` as in engine::call_types().
void record_comparison(std::string_view op, std::string_view types, std::string_view processor,
                       Scope scope, bool equal);

}  // namespace thimble::test
