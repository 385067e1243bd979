// SPDX-License-Identifier: Apache-2.0
#pragma once
// verify(graph): checks that every value is defined before use, every operator's type rule holds,
// names are unique, and the bytes of constants match their types. Runs after each pass in tests and
// debug builds, and on every parsed text.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {
[[nodiscard]] Status verify(const Graph& graph);
}
