// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--emit model-explorer`: the compiled graph as a graph collection of Model Explorer
// (ai-edge-model-explorer, graph_builder.py: GraphCollection, Graph, GraphNode). Modules of the
// user's model are nested layers, engines are colors. Test: tests/report/model_explorer_test.py.

#include <string>

#include "driver/compile.h"

namespace thimble::report {

[[nodiscard]] std::string model_explorer_json(const driver::Compiled& compiled);

}  // namespace thimble::report
