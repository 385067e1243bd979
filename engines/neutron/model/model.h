#pragma once
// The integer model of the NPU: executes a kernel list, bit for bit as docs/neutron.md says. It
// stands where a product has silicon, so it must be quick enough for whole networks on an emulated
// core: what is dense is walked by loops of its own, every other stride by a general one.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// Starts to copy weights out of a memory that the engine does not read; returns at once if it can.
/// The signature is the one of the vendor's driver interface.
using Copy = void (*)(void* to, void* from, uint32_t bytes, uint32_t channel);
/// Returns when the last copy of that channel is complete.
using Wait = void (*)(uint32_t channel);

inline constexpr uint32_t kPrefetchChannels = 2;

/// One run. What check() has accepted stays inside these memories.
struct Job {
  Program program;
  const uint8_t* weights = nullptr;        // header().weight_bytes, aligned to 16
  const uint8_t* const* inputs = nullptr;  // input(i).bytes each
  uint8_t* const* outputs = nullptr;       // output(i).bytes each
  uint8_t* scratch = nullptr;              // header().scratch_bytes
  uint8_t* prefetch = nullptr;             // header().prefetch_bytes, aligned to 16; null: weights
                                           // are read where they lie, and nothing is copied
  Copy copy = nullptr;                     // null: the model copies, and waits for nobody
  Wait wait = nullptr;
  uint8_t* profile = nullptr;  // header().profile_bytes, or null
};

/// Executes the kernels in order. The copy of prefetched weights is started when the kernel before
/// that has such weights begins, and waited for before its own kernel does; channels take turns.
void run(const Job& job);

inline constexpr uint8_t kEventStart = 0;
inline constexpr uint8_t kEventStop = 1;
inline constexpr uint8_t kOperationRun = 0;     // of all kernels: the last record
inline constexpr uint8_t kOperationKernel = 6;  // what readers of the vendor's profile look for

/// Something that happened. The vendor's profile has the same form.
struct Event {
  uint8_t event;
  uint8_t operation;
  uint8_t function;   // Kernel
  uint8_t timestamp;  // 0
  uint32_t time;      // the model's clock: the cycles that the records estimate
};
struct ProfileRecord {
  Event start, stop;
};
static_assert(sizeof(ProfileRecord) == 16);

}  // namespace thimble::neutron
