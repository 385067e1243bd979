// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/delegate/counters.h"

namespace thimble::runtime::axon {
namespace {

bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Returns the number of used rows; rows are used from the first on.
uint32_t taken(const thimble_axon& npu) {
  uint32_t count = 0;
  while (count < npu.counter_count && npu.counters[count].name != nullptr) ++count;
  return count;
}

thimble_axon_counter* find(const thimble_axon& npu, const char* name) {
  const uint32_t count = taken(npu);
  for (uint32_t i = 0; i < count; ++i) {
    if (same(npu.counters[i].name, name)) return &npu.counters[i];
  }
  return nullptr;
}

}  // namespace

thimble_axon_counter* find_or_add_counter(const thimble_axon& npu, const char* name) {
  if (thimble_axon_counter* const known = find(npu, name)) return known;
  const uint32_t next = taken(npu);
  if (next == npu.counter_count) return nullptr;
  npu.counters[next] = {name, 0, 0};
  return &npu.counters[next];
}

}  // namespace thimble::runtime::axon

using namespace thimble::runtime::axon;

extern "C" {

thimble_axon_counter thimble_axon_total(const thimble_axon* npu) {
  thimble_axon_counter total = {nullptr, 0, 0};
  for (uint32_t i = 0; i < taken(*npu); ++i) {
    total.cycles += npu->counters[i].cycles;
    total.calls += npu->counters[i].calls;
  }
  return total;
}

const thimble_axon_counter* thimble_axon_find(const thimble_axon* npu, const char* name) {
  return find(*npu, name);
}

void thimble_axon_dump(const thimble_axon* npu,
                       void (*row)(void* user, const thimble_axon_counter* counter), void* user) {
  for (uint32_t i = 0; i < taken(*npu); ++i) row(user, &npu->counters[i]);
}

void thimble_axon_reset(const thimble_axon* npu, const char* name) {
  for (uint32_t i = 0; i < taken(*npu); ++i) {
    thimble_axon_counter& counter = npu->counters[i];
    if (name == nullptr || same(counter.name, name)) counter = {counter.name, 0, 0};
  }
}

void thimble_axon_forget(const thimble_axon* npu) {
  for (uint32_t i = 0; i < npu->counter_count; ++i) npu->counters[i] = {nullptr, 0, 0};
}

}  // extern "C"
