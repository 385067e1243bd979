#pragma once
// write(): encodes a placed network as the payload of a delegate call
// (engines/neutron/container/program.h).
//
// The weights block begins with constants that several kernels read. Then it has one section per
// kernel, at a multiple of 16, with the constants that only this kernel reads.

#include "base/result.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

struct Written {
  std::vector<std::byte> program, weights;
  int64_t prefetch_bytes = 0;
};

/// `prefetch`: the constants of each kernel are copied to SRAM while the kernel before runs.
[[nodiscard]] Result<Written> write(const Network& network, bool prefetch);
[[nodiscard]] Result<std::vector<std::byte>> payload_of(const Network& network,
                                                        const Written& written);

}  // namespace thimble::engine::neutron
