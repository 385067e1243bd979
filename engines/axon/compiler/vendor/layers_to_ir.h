// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a subgraph's layer list (engines/axon/container/layers.h) to the vendor's IR. An operand
// in the list is an address; in the IR it is the index of the layer that produces it. Each variable
// becomes one layer at the start, which reads the result of the layer that assigns the variable.
// Layers that only read or assign a variable are removed. All other layers are converted one to
// one.

#include <string>
#include <vector>

#include "base/result.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/formats/ir_file.h"

namespace thimble::engine::axon {

struct IrOfLayers {
  formats::axon::IrFile file;
  /// For each output of the container, the layer of the IR that computes it.
  std::vector<int> outputs;
};

/// `container` must have passed thimble::axon::check(). `name` must be a C identifier.
[[nodiscard]] Result<IrOfLayers> layers_to_ir(const thimble::axon::Container& container,
                                              const std::string& name);

}  // namespace thimble::engine::axon
