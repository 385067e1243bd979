// SPDX-License-Identifier: Apache-2.0
// The runner with an AXON. The integer model, called by the runtime's delegate, replaces the NPU.
// The command line has additional words at the start:
//
//   runner-axon [-0 | -f FAULT] ARGUMENTS OF THE RUNNER (firmware/apps/runner/main.cpp)
//
// -f: each run is preceded by one in which the driver reports this fault, `hang` or `error`, and
// leaves wrong results. -0 uses a driver that does nothing, to measure the cost of a call. The
// report has a line for each layer list: `axon NAME calls 3 cycles 4110`, with NPU cycles as
// estimated in the layer list.

#include <cstring>

#include "engines/axon/container/layers.h"
#include "engines/axon/delegate/backend.h"
#include "firmware/apps/runner/kernels.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/text.h"
#include "kernels/kernels.h"

namespace thimble::firmware {
namespace {

constexpr uint32_t kListsMax = 64;
thimble_axon_counter counters[kListsMax];
thimble_axon npu;
runtime::DelegateBackend row;
runtime::DelegateBackends delegates;
kernels::KernelTable table;

int32_t do_nothing(const thimble_axon*, thimble_axon_job*) {
  return 0;
}

/// Status of a failing call; 0: none was asked for.
int32_t wanted_status;
bool is_failing;

/// A driver whose NPU stops in the middle: results and scratch have any content.
int32_t run_or_fail(const thimble_axon* self, thimble_axon_job* job) {
  const int32_t status = thimble_axon_model_run(self, job);
  if (!is_failing) return status;
  const axon::Container list(static_cast<const uint8_t*>(job->container));
  std::memset(job->interlayer, 0xA5, list.header().interlayer_bytes);
  std::memset(job->persistent, 0xA5, list.header().persistent_bytes);
  for (uint32_t i = 0; i < list.header().output_count; ++i) {
    *static_cast<uint8_t*>(job->outputs[i]) = 0xA5;
  }
  return wanted_status;
}

}  // namespace

uint32_t parse_words(const char** words, uint32_t count) {
  npu = {};
  npu.run = thimble_axon_model_run;
  npu.load = thimble_axon_model_load;
  npu.counters = counters;
  npu.counter_count = kListsMax;
  if (count > 1 && std::strcmp(words[0], "-f") == 0) {
    const bool is_timeout = std::strcmp(words[1], "hang") == 0;
    wanted_status = static_cast<int32_t>(is_timeout ? kernels::Status::kNpuTimeout
                                                    : kernels::Status::kNpuFault);
    npu.run = run_or_fail;
    return is_timeout || std::strcmp(words[1], "error") == 0 ? 2 : 0;
  }
  if (count == 0 || std::strcmp(words[0], "-0") != 0) return 0;
  npu.run = do_nothing;
  return 1;
}

const thimble_kernels* kernels_for(const uint8_t*, size_t, const RamAllocator&) {
  row = runtime::axon::backend(&npu);
  delegates = runtime::delegates_of(&row, 1);
  table = kernels::all_kernels();
  table.delegates = &delegates;
  return reinterpret_cast<const thimble_kernels*>(&table);
}

void set_model_memory(uint8_t*, size_t) {}

bool set_fault(bool on) {
  is_failing = on && wanted_status != 0;
  return wanted_status != 0;
}

void write_report_lines(void* report, void (*write)(void* report, const char* text)) {
  struct To {
    void* report;
    void (*write)(void*, const char*);
  } to = {report, write};
  thimble_axon_dump(
      &npu,
      [](void* user, const thimble_axon_counter* counter) {
        char buffer[128];
        Text line(buffer, sizeof buffer);
        line << "axon " << counter->name << " calls " << counter->calls << " cycles "
             << static_cast<uint32_t>(counter->cycles) << "\n";
        const To& out = *static_cast<const To*>(user);
        out.write(out.report, line.text());
      },
      &to);
}

}  // namespace thimble::firmware
