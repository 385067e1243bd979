// SPDX-License-Identifier: Apache-2.0
#pragma once
// The integer model of the NPU: executes a kernel list with the arithmetic of docs/neutron.md, with
// the same bytes on every machine. It replaces the hardware on the host and in emulated images, so
// it must be fast enough for whole networks on an emulated core. Dense data has loops of its own;
// all other strides share a general loop.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// NeutronConfig::copy and NeutronConfig::wait of engines/neutron/container/driver.h.
using Copy = void (*)(void* to, void* from, uint32_t bytes, uint32_t channel);
using Wait = void (*)(uint32_t channel);

inline constexpr uint32_t kPrefetchChannels = 2;

/// Memories of one run. A program that check() has accepted accesses only these.
struct Job {
  Program program;
  const uint8_t* weights = nullptr;        // header().weight_bytes, 16-byte aligned
  const uint8_t* const* inputs = nullptr;  // input(i).bytes each
  uint8_t* const* outputs = nullptr;       // output(i).bytes each
  uint8_t* scratch = nullptr;              // header().scratch_bytes
  uint8_t* prefetch = nullptr;             // header().prefetch_bytes, 16-byte aligned; null: no
                                           // prefetch, weights are read from `weights`
  Copy copy = nullptr;                     // null: memcpy
  Wait wait = nullptr;                     // null: copies are complete when `copy` returns
  uint8_t* profile = nullptr;              // header().profile_bytes, or null
};

/// Executes the kernels in order. The copy of a kernel's prefetched weights starts when the
/// previous kernel with prefetched weights starts. It is complete before the kernel itself starts.
/// Copies alternate between channels.
void run(const Job& job);

inline constexpr uint8_t kEventStart = 0;
inline constexpr uint8_t kEventStop = 1;
inline constexpr uint8_t kOperationRun = 0;     // the whole run: the last record
inline constexpr uint8_t kOperationKernel = 6;  // one kernel; the number in the vendor's profiles

/// A profile event, in the format of the vendor's profile.
struct Event {
  uint8_t event;
  uint8_t operation;
  uint8_t function;   // Kernel
  uint8_t timestamp;  // 0
  uint32_t time;      // the model's clock: sum of the records' estimated cycles
};
struct ProfileRecord {
  Event start, stop;
};
static_assert(sizeof(ProfileRecord) == 16);

}  // namespace thimble::neutron
