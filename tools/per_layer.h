#pragma once
// Every value of a compiled model against the float value that it stands for.

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "driver/data.h"
#include "ir/graph.h"

namespace thimble::tools {

struct LayerQuality {
  std::string name;    // of the float value
  std::string kernel;  // "thimble::conv2d.out"
  ir::Source source;
  double sqnr_db = 0;
};

/// In execution order; only values that the float graph has too, with the same shape. `pte` was
/// compiled with --names, or it is bad input. Runs on this machine, on at most `calls` samples.
[[nodiscard]] Result<std::vector<LayerQuality>> layer_quality(const ir::Graph& float_graph,
                                                              ByteView pte,
                                                              const std::string& label,
                                                              const driver::Samples& samples,
                                                              int64_t calls);

}  // namespace thimble::tools
