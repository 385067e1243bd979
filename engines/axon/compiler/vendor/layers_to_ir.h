#pragma once
// A partition's layer list (engines/axon/container/layers.h) as the vendor's IR. The list works on
// addresses, the IR on producers: what an operand reads is named by the layer that makes it.
// Variables become one layer each, in front, fed by whoever writes them; the layers that only read
// or assign a variable are gone. Everything else is one to one.

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
