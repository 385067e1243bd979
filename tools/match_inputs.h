// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which input of the float model each input of a program is.
//
// A program of another compiler can have its inputs in another order. They are matched by name, if
// the file names all of them; else by position, if types and shapes agree there; else by type and
// shape, if these leave one order only.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hostrun/interface.h"
#include "ir/graph.h"

namespace thimble::tools {

struct MatchedInputs {
  std::vector<size_t> graph_input;  // by input of the program
  std::string note;                 // the order and how it was found; empty: the same order
};

/// `label` names the program in messages.
[[nodiscard]] Result<MatchedInputs> match_inputs(const ir::Graph& graph,
                                                 std::span<const hostrun::Port> ports,
                                                 std::string_view label);

/// Returns true if values of the graph's value can be given to the port, after quantization.
[[nodiscard]] bool is_comparable(const ir::Value& value, const hostrun::Port& port);

}  // namespace thimble::tools
