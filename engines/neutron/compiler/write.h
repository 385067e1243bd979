#pragma once
// write(): a placed network as the payload of a delegate call (engines/neutron/container/program.h).
//
// The weights block has, kernel after kernel, what each alone reads, at a multiple of 16; in front
// of it the constants that several read.

#include "base/result.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

struct Written {
  std::vector<std::byte> program, weights;
  int64_t prefetch_bytes = 0;
};

/// `prefetch`: each kernel finds its constants in SRAM, brought there while the kernel before runs.
[[nodiscard]] Result<Written> write(const Network& network, bool prefetch);
[[nodiscard]] Result<std::vector<std::byte>> payload_of(const Network& network,
                                                        const Written& written);

}  // namespace thimble::engine::neutron
