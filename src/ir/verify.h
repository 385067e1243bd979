#pragma once
// verify(graph): every value defined before use, every operator's type rule holds, names unique,
// constants' bytes match their types. Runs after each pass in tests and debug builds, and on every
// parsed text.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {
[[nodiscard]] Status verify(const Graph& graph);
}
