#pragma once
// What became of each operator of the user's program: the kernel calls that run it, or why it needs
// none.
//
//   Fates fates(imported.nodes);
//   fates.begin(imported.graph);
//   fates.step(before, after, "in the weights and bias of");      once per pass
//   fates.quantized(prepared, integer);
//   fates.lowered(integer, lowered, &report);                     fills report->source_ops
//
// Operators carry the name of their node through all stages (ir::Source::node). Where a node has
// none left, the operator that now makes what it made took it over, or else the nearest one that
// the stage changed: a reader of its results, or what made its operands.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "driver/op_rows.h"
#include "import/import.h"
#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::driver {

class Fates {
 public:
  explicit Fates(std::vector<import_pt2::ImportedNode> nodes);

  void begin(const ir::Graph& imported);
  /// `gone`: what happened to nodes that are not in `after`; if it ends in "of", another node's
  /// name follows.
  void step(const ir::Graph& before, const ir::Graph& after, std::string_view gone);
  void quantized(const ir::Graph& before, const ir::Graph& after);
  /// `whole` is the lowered graph with its regions in place. Also gives the rows of report->ops,
  /// one per entry of `rows`, their reasons.
  void lowered(const ir::Graph& integer, const ir::Graph& whole, std::span<const RowOp> rows,
               CompileReport* report);

 private:
  void lose(const std::string& node, std::string reason);

  std::vector<import_pt2::ImportedNode> nodes_;
  std::map<std::string, std::string> reasons_;  // of nodes that are gone
};

}  // namespace thimble::driver
