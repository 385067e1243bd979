// SPDX-License-Identifier: Apache-2.0
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
  void* started = nullptr;  // started_job_bytes() bytes, aligned to 8; null if that is 0
};

/// Bytes of memory that start_job() needs until finish_job() returns.
[[nodiscard]] uint32_t started_job_bytes();

/// Checks that the NPU can run streams compiled for these words CONFIG and ID.
[[nodiscard]] Status check_npu(const thimble_ethos_u& npu, uint32_t config, uint32_t id);

/// start_job() and finish_job().
[[nodiscard]] Status run_job(const thimble_ethos_u& npu, const Job& job);

/// Locks and resets the NPU, and starts the stream. On an error the NPU is not locked.
[[nodiscard]] Status start_job(const thimble_ethos_u& npu, const Job& job);

/// Waits until the stream of start_job() ends, and unlocks the NPU.
[[nodiscard]] Status finish_job(const thimble_ethos_u& npu, const Job& job);

}  // namespace thimble::runtime::ethos_u
