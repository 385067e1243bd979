// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantization preferences of the Neutron.

#include "engine/engine.h"

namespace thimble::engine::neutron {

/// Preferences from the rows of ops.def: zero points 0 for products of two activations, only tables
/// of functions that LiteRT has an operator for, int8 softmax. Linear layers may have a scale per
/// channel.
extern const QuantPreferences kPreferences;

}  // namespace thimble::engine::neutron
