#pragma once
// How the Neutron would have a network quantized.

#include "engine/engine.h"

namespace thimble::engine::neutron {

/// From the rows of ops.def: products of two activations without zero points, tables of one
/// function that LiteRT has an operator for, softmax in int8. Linear layers may have a scale per
/// channel.
extern const QuantPreferences kPreferences;

}  // namespace thimble::engine::neutron
