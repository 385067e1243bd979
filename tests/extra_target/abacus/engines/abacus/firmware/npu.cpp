// SPDX-License-Identifier: Apache-2.0
// The runner with an Abacus. The runtime's delegate calls the model.

#include "engines/abacus/delegate/backend.h"
#include "engines/abacus/model/model.h"
#include "firmware/apps/runner/kernels.h"
#include "kernels/kernels.h"

namespace thimble::firmware {
namespace {

constexpr runtime::abacus::Driver kDriver = {abacus::run};
runtime::DelegateBackend row;
runtime::DelegateBackends delegates;
kernels::KernelTable table;

}  // namespace

uint32_t parse_words(const char**, uint32_t) {
  return 0;
}

const thimble_kernels* kernels_for(const uint8_t*, size_t, const RamAllocator&) {
  row = runtime::abacus::backend(&kDriver);
  delegates = runtime::delegates_of(&row, 1);
  table = kernels::all_kernels();
  table.delegates = &delegates;
  return reinterpret_cast<const thimble_kernels*>(&table);
}

void set_model_memory(uint8_t*, size_t) {}

void write_report_lines(void*, void (*)(void*, const char*)) {}

}  // namespace thimble::firmware
