#pragma once
// The integer model of the NPU: executes a layer list, bit for bit as docs/nordic-axon.md says.
// Written to be read, not to be fast; it stands where a product has silicon.

#include "engines/axon/container/layers.h"

namespace thimble::axon {

/// One run. What check() has accepted stays inside these memories.
struct Job {
  Container container;
  const uint8_t* const* inputs = nullptr;  // dense, one for each input, aligned to the element
  uint8_t* const* outputs = nullptr;       // dense, one for each output
  uint8_t* interlayer = nullptr;           // header().interlayer_bytes, aligned to 16
  uint8_t* persistent = nullptr;           // header().persistent_bytes, aligned to 16
};

/// Inputs that are variables are brought in, layers executed in order, outputs packed and brought
/// out. An output that is dense and at its place in a memory is not moved.
void run(const Job& job);

}  // namespace thimble::axon
