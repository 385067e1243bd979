// SPDX-License-Identifier: Apache-2.0
#pragma once
// Imports an exported PyTorch program to the IR: float operators, logical shapes, all sizes fixed.
//
//   THIMBLE_TRY(auto program, formats::pt2::read(path));
//   THIMBLE_TRY(auto model, import_pt2::import_program(program, {}, "model.pt2"));
//
// Each ATen operator has one row in aten.def; the handlers are in one file per operator family.
// docs/operators.md describes the rows and what is not supported.
//
// Errors. Bad input: `model.pt2: net.py:31: aten.add.Tensor: what was found, what was expected`.
// Not supported: every operator without a row that an output depends on, with source lines:
//
//   aten.grid_sampler_2d.default is not supported
//     warp.py:41     y = F.grid_sample(x, grid)         in module stn.warp

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pt2/reader.h"
#include "ir/graph.h"
#include "ir/refused_op.h"

namespace thimble::import_pt2 {

struct ImportOptions {
  /// `--shape NAME=N`: sizes that the export did not fix, by symbol (`s53`) or by position
  /// (`x[2]`, `x:2`); `batch` is the first dimension of the inputs, which is 1 by default.
  std::map<std::string, int64_t> shapes;
  /// Receives the nodes that a not-supported error lists; may be null.
  std::vector<ir::RefusedNode>* refused = nullptr;
};

/// An exported input or output.
struct Port {
  std::string name;
  ir::DimOrder dim_order;  // as in ir::Type; empty: contiguous
};

/// The result of importing one node of the export.
struct ImportedNode {
  enum class Result {
    kOperators,  // IR operators
    kConstant,   // a constant
    kOperand,    // an existing value
    kNothing,    // no tensor
  };
  ir::Source source;
  Result result = Result::kOperators;
  bool needed = true;  // an output or a state depends on the node
};

struct ImportedModel {
  ir::Graph graph;
  std::vector<Port> inputs;         // in the order of graph.inputs()
  std::vector<Port> outputs;        // in the order of graph.outputs()
  std::vector<ImportedNode> nodes;  // nodes that were imported by a handler, in export order
  std::vector<std::string> notes;   // where the graph's numbers or types differ from the export's
  bool has_dynamic_quantization = false;  // activations are float in the graph
};

[[nodiscard]] Result<ImportedModel> import_program(const formats::pt2::ExportedProgram& program,
                                                   const ImportOptions& options,
                                                   std::string_view file_name);

/// Returns the supported ATen operators, sorted.
[[nodiscard]] const std::vector<std::string_view>& supported_targets();

}  // namespace thimble::import_pt2
