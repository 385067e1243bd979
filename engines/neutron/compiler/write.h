// SPDX-License-Identifier: Apache-2.0
#pragma once
// write(): encodes a placed network as a kernel list (engines/neutron/container/program.h) and its
// weights block. payload_of(): puts both into a payload (engines/neutron/container/payload.h).
//
// The weights block begins with constants that several kernels read. Then it has one section per
// kernel, at a multiple of 16, with the constants that only this kernel reads.

#include "base/result.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

struct EncodedProgram {
  std::vector<std::byte> program, weights;
  int64_t prefetch_bytes = 0;
};

/// `prefetch`: the constants of each kernel are copied to SRAM while the kernel before runs.
[[nodiscard]] Result<EncodedProgram> write(const Network& network, bool prefetch);
[[nodiscard]] Result<std::vector<std::byte>> payload_of(const Network& network,
                                                        const EncodedProgram& encoded);

}  // namespace thimble::engine::neutron
