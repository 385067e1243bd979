// The runner with an AXON. The integer model, called by the runtime's delegate, replaces the NPU.
// The command line has additional words at the start:
//
//   runner-axon [-0] ARGUMENTS OF THE RUNNER (firmware/apps/runner/main.cpp)
//
// -0 uses a driver that does nothing, to measure the cost of a call. The report has a line for each
// layer list: `axon NAME calls 3 cycles 4110`, with NPU cycles as estimated in the layer list.

#include <cstring>

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

}  // namespace

uint32_t parse_words(const char** words, uint32_t count) {
  npu = {};
  npu.run = thimble_axon_model_run;
  npu.load = thimble_axon_model_load;
  npu.counters = counters;
  npu.counter_count = kListsMax;
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
