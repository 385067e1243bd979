// SPDX-License-Identifier: Apache-2.0
#pragma once
// The integer model of the NPU: executes a layer list bit-exactly as docs/nordic-axon.md specifies.
// It replaces the hardware in a product without one. The code is simple rather than fast.

#include "engines/axon/container/layers.h"

namespace thimble::axon {

/// Memories of one run. A container that check() has accepted accesses only these.
struct Job {
  Container container;
  const uint8_t* const* inputs = nullptr;  // dense, one per input, aligned to its element size
  uint8_t* const* outputs = nullptr;       // dense, one per output
  uint8_t* interlayer = nullptr;           // header().interlayer_bytes, aligned to 16
  uint8_t* persistent = nullptr;           // header().persistent_bytes, aligned to 16
};

/// Copies variable inputs to their variables, executes the layers in order, and copies the outputs
/// in dense form. An output that is dense and already at its address is not copied.
void run(const Job& job);

}  // namespace thimble::axon
