#pragma once
// Converts a layer list (npu/axon/layers.h) to the vendor's IR. Operands of the list are addresses;
// operands of the IR are indices of producing layers. Each variable becomes one layer at the start;
// its operand is the layer that writes it. Layers that only read or assign a variable are removed.
// All other layers are converted one to one.

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/axon/ir_file.h"
#include "npu/axon/layers.h"

namespace thimble::target::axon {

struct IrOfLayers {
  formats::axon::IrFile file;
  /// For each output of the container, the layer of the IR that computes it.
  std::vector<int> outputs;
};

/// `container` must have passed thimble::axon::check(). `name` must be a C identifier.
[[nodiscard]] Result<IrOfLayers> layers_to_ir(const thimble::axon::Container& container,
                                              const std::string& name);

}  // namespace thimble::target::axon
