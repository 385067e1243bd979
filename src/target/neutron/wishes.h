#pragma once
// Quantization preferences of the Neutron.

#include "target/target.h"

namespace thimble::target::neutron {

/// Preferences from the rows of ops.def: zero points 0 for products of two activations, only tables
/// of functions that LiteRT has an operator for, int8 softmax. Linear layers may have a scale per
/// channel.
extern const QuantWishes kWishes;

}  // namespace thimble::target::neutron
