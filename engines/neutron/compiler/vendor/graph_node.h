#pragma once
// What the vendor's converter answers: a LiteRT model whose one operator, CUSTOM NeutronGraph,
// holds microcode, weights and kernels as constants. docs/neutron.md, "Converter of the vendor".
//
//   operands  user inputs..., microcode, weights, kernels
//   results   user outputs..., scratch [, profile, debug]   the last two from version 1 on

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "formats/tflite/read.h"

namespace thimble::engine::neutron {

struct GraphNode {
  uint8_t version = 0;                // of the payload
  std::vector<uint8_t> input_map;     // of each input of the node: which input of the model it is
  std::vector<uint8_t> output_map;    // of each output
  Bytes microcode, weights, kernels;  // opaque
};

/// `sent` is the model that was converted: its inputs and outputs are the converted one's, matched
/// by name where all names are still there, else by position. Messages begin with `name`.
[[nodiscard]] Result<GraphNode> graph_node(const formats::tflite::File& sent,
                                           const formats::tflite::File& converted,
                                           std::string_view name);

}  // namespace thimble::engine::neutron
