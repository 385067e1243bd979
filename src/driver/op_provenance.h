// SPDX-License-Identifier: Apache-2.0
#pragma once
// Op provenance: for each operator of the user's program, the kernel calls that run it, or the
// reason why it was removed.
//
//   OpProvenance provenance(imported.nodes);
//   provenance.begin(imported.graph);
//   provenance.step(before, after, "in the weights and bias of");      once per pass
//   provenance.quantized(prepared, integer);
//   provenance.lowered(integer, lowered, &report);                     fills report->source_ops
//
// Operators carry the name of their node through all stages (ir::Source::node). If a stage removes
// all operators of a node, another operator replaces them: the operator that now produces the
// node's result. Otherwise it is the nearest operator that the stage changed: a reader of the
// node's results, or the producer of its operands.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "driver/op_rows.h"
#include "engine/engine.h"
#include "import/import.h"
#include "ir/graph.h"

namespace thimble::driver {

class OpProvenance {
 public:
  explicit OpProvenance(std::vector<import_pt2::ImportedNode> nodes);

  void begin(const ir::Graph& imported);
  /// `removal_reason`: reason for nodes that are not in `after`. If it ends in "of", the name of
  /// the replacing node is appended.
  void step(const ir::Graph& before, const ir::Graph& after, std::string_view removal_reason);
  void quantized(const ir::Graph& before, const ir::Graph& after);
  /// `whole` is the lowered graph with its subgraphs inlined. Also sets the reasons in report->ops,
  /// which has one row per entry of `rows`.
  void lowered(const ir::Graph& integer, const ir::Graph& whole, std::span<const RowOp> rows,
               CompileReport* report);

  [[nodiscard]] const std::vector<import_pt2::ImportedNode>& nodes() const { return nodes_; }
  /// Returns why no operator of the node is left, and the node whose operator replaces it (empty:
  /// no node's); null if operators of the node are left.
  struct Removal {
    std::string reason, replaced_by;
  };
  [[nodiscard]] const Removal* removal(const std::string& node) const;

 private:
  void record_removed(const std::string& node, std::string reason,
                      const ir::Op* replacement = nullptr);

  std::vector<import_pt2::ImportedNode> nodes_;
  std::map<std::string, Removal> removals_;  // by node
};

}  // namespace thimble::driver
