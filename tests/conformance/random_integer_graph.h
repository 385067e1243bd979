#pragma once
// Random int8 graphs by seed, of every integer operator and memory movement that a target may be
// given.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::test {

struct IntegerGraphOptions {
  int ops = 8;
  bool stock_only = false;  // leave out what ExecuTorch's kernels cannot express
};

/// A verified graph with one to two int8 or float inputs and at least one output.
[[nodiscard]] ir::Graph random_integer_graph(uint64_t seed, const IntegerGraphOptions& options);

}  // namespace thimble::test
