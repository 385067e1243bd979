// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares every value of a compiled model with its float value.

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "driver/data.h"
#include "ir/graph.h"

namespace thimble::tools {

struct LayerQuality {
  std::string name;    // name of the float value
  std::string kernel;  // "thimble::conv2d.out"
  ir::Source source;
  double sqnr_db = 0;   // with the errors of all operators before it
  double local_db = 0;  // of this operator alone (local_error.h); NaN if it was not measured
  std::string cause;    // of the local error; may be empty
};

/// In execution order, the values that the float graph also has with the same shape. `pte` must
/// have been compiled with --names; otherwise a bad-input error. Runs at most `calls` samples on
/// this machine.
[[nodiscard]] Result<std::vector<LayerQuality>> layer_quality(const ir::Graph& float_graph,
                                                              ByteView pte,
                                                              const std::string& label,
                                                              const driver::Samples& samples,
                                                              int64_t calls);

}  // namespace thimble::tools
