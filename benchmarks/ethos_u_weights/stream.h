// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extracts the weights of a command stream of another compiler, with the registers that describe
// them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u_weights {

/// One convolution of the stream. Its ranges `weights` and `scales` refer to the `regions` of the
/// case.
struct Convolution {
  uint32_t word = 0;  // offset in the stream
  ethos_u::sim::KernelOperation operation;
  std::vector<std::vector<uint8_t>> weights;  // one per core
  std::vector<std::vector<uint8_t>> scales;
};

struct Case {
  const ethos_u::Config* config = nullptr;
  std::vector<Convolution> convolutions;  // without duplicates
};

/// Reads cmd.bin, weights.bin and meta.txt from a folder written by
/// `tests/peers/ethos_u/make_cases.py`.
[[nodiscard]] Result<Case> read_case(const std::string& folder);

}  // namespace thimble::ethos_u_weights
