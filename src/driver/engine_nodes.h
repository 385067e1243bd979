// SPDX-License-Identifier: Apache-2.0
#pragma once
// engine_nodes(): which nodes of an export each engine of a part runs, for partitioners of other
// compilers. The model is one that PyTorch quantized. Nothing is lowered.
//
// Nodes that the compiler cannot convert at all are reported in `refused`. The caller then leaves
// them to another compiler, cuts them out of the export (their results become inputs, their
// operands outputs) and asks again.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/compile.h"
#include "import/import.h"
#include "ir/refused_op.h"

namespace thimble::driver {

struct EngineNode {
  ir::Source source;
  import_pt2::ImportedNode::Result result{};
  int subgraph = -1;   // index into EngineNodes::engines; -1: no engine runs the node
  std::string reason;  // why no engine runs it, or the first engine does not; may be empty
};

struct EngineNodes {
  std::vector<std::string> engines;      // engine of each subgraph
  std::vector<EngineNode> nodes;         // in the order of the export; empty if nodes are refused
  std::vector<ir::RefusedNode> refused;  // not empty: ask again without these nodes
};

/// `options.target` names the part. A node whose operators would run on several engines stays on
/// the core.
[[nodiscard]] Result<EngineNodes> engine_nodes(const std::filesystem::path& model,
                                               const CompileOptions& options);

}  // namespace thimble::driver
