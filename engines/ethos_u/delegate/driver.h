#pragma once
// Runs command streams on an Ethos-U, through its registers.

#include "abi/named_data.h"
#include "abi/status.h"
#include "thimble_ethos_u.h"

namespace thimble::runtime::ethos_u {

using abi::Status;

struct Bytes {
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;
};

struct Job {
  Bytes stream;
  Bytes constants;             // region 0
  uint8_t* scratch = nullptr;  // region 1
  uint32_t scratch_bytes = 0;
  uint8_t* fast = nullptr;  // region 2; null if the stream does not use it
  uint32_t fast_bytes = 0;
  abi::MemoryMode mode = abi::MemoryMode::kUnknown;
};

/// Checks that the NPU can run streams compiled for these words CONFIG and ID.
[[nodiscard]] Status check_npu(const thimble_ethos_u& npu, uint32_t config, uint32_t id);

/// Resets the NPU, starts the stream and waits until it ends.
[[nodiscard]] Status run_job(const thimble_ethos_u& npu, const Job& job);

}  // namespace thimble::runtime::ethos_u
