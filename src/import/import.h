#pragma once
// From an exported PyTorch program to the IR: float operators, logical shapes, all sizes fixed.
//
//   THIMBLE_TRY(auto program, formats::pt2::read(path));
//   THIMBLE_TRY(auto model, import_pt2::import_program(program, {}, "model.pt2"));
//
// One row of aten.def per ATen operator; the handlers are in one file per family. What a row means
// and what is refused: docs/operators.md.
//
// Errors. Bad input: `model.pt2: net.py:31: aten.add.Tensor: what was found, what was expected`.
// Not supported: every operator that the outputs need and that has no row, with the user's lines:
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

namespace thimble::import_pt2 {

struct ImportOptions {
  /// `--shape NAME=N`: sizes that the export left open, by symbol (`s53`) or by place (`x[2]`).
  /// The first dimension of an input is 1 if nothing is said.
  std::map<std::string, int64_t> shapes;
};

/// An input or output as the user exported it.
struct Port {
  std::string name;
  ir::DimOrder dim_order;  // as in ir::Type: empty = contiguous
};

/// What the import made of one node of the export.
struct ImportedNode {
  enum class Result {
    kOperators,  // of the IR
    kConstant,   // known now
    kOperand,    // a value that was there before
    kNothing,    // no tensor
  };
  ir::Source source;
  Result result = Result::kOperators;
  bool needed = true;  // by an output or a state, through whatever nodes
};

struct ImportedModel {
  ir::Graph graph;
  std::vector<Port> inputs;         // in the order of graph.inputs()
  std::vector<Port> outputs;        // in the order of graph.outputs()
  std::vector<ImportedNode> nodes;  // of the export that a handler took, in its order
};

[[nodiscard]] Result<ImportedModel> import_program(const formats::pt2::ExportedProgram& program,
                                                   const ImportOptions& options,
                                                   std::string_view file_name);

/// The ATen operators that have a row, sorted.
[[nodiscard]] const std::vector<std::string_view>& supported_targets();

}  // namespace thimble::import_pt2
