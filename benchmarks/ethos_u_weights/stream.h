#pragma once
// The weights of a command stream that somebody else compiled, with what the registers say of them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u_weights {

/// One convolution of the stream. Its `weights` and `scales` ranges are in `regions` of the case.
struct Convolution {
  uint32_t word = 0;  // offset in the stream
  ethos_u::sim::KernelOperation operation;
  std::vector<std::vector<uint8_t>> weights;  // per core
  std::vector<std::vector<uint8_t>> scales;
};

struct Case {
  const ethos_u::Config* config = nullptr;
  std::vector<Convolution> convolutions;  // each content once
};

/// Reads cmd.bin, weights.bin and meta.txt of a folder of `tests/peers/ethos_u/make_cases.py`.
[[nodiscard]] Result<Case> read_case(const std::string& folder);

}  // namespace thimble::ethos_u_weights
