// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writers of what the runtime reads: a compiled network as a program
// (engines/axon/container/program.h), and the marker of one that is linked into the firmware
// (engines/axon/container/marker.h).

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engines/axon/formats/compiled_header.h"

namespace thimble::formats::axon {

/// An input or output of the delegate, in the order of the call's arguments.
struct ProgramTensor {
  Address address;
  uint16_t n = 1, c = 1, h = 1, w = 1;
  uint8_t element_bytes = 1;
  uint32_t row_stride = 0;
};

struct ProgramInterface {
  std::vector<ProgramTensor> inputs, outputs;
  uint32_t cycles = 0;
};

[[nodiscard]] Result<Bytes> write_program(const CompiledHeader& network,
                                          const ProgramInterface& interface);
[[nodiscard]] Result<Bytes> write_marker(const std::string& name);

}  // namespace thimble::formats::axon
