// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/memory.h"

#include <string.h>

namespace thimble::ethos_u::sim {

void Memory::copy(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  memcpy(to, from, static_cast<size_t>(bytes));
}

bool Memory::check(uint8_t region, uint64_t address, uint64_t bytes) {
  if (region == kTableRegion) {
    if (bytes <= kLutBytes && address <= kLutBytes - bytes) return true;
  } else if (region < kRegions && inside(regions_[region], address, bytes)) {
    return true;
  }
  Fault fault = fault_of(FaultKind::kOutOfRange, "an access outside its region");
  fault.address = address;
  fault.region = region;
  note(fault);
  return false;
}

const uint8_t* Memory::read_slow(uint8_t region, uint64_t address, uint64_t bytes) {
  if (!check(region, address, bytes)) return nullptr;
  return region == kTableRegion ? table_ + address : regions_[region].data + address;
}

bool Memory::write_slow(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes) {
  if (!check(region, address, bytes) || !writable(region, address)) return false;
  if (sink == nullptr) return commit(region, address, data, bytes);
  if (sink->write(sink->user, region, address, data, bytes)) return true;
  note(fault_of(FaultKind::kWorkspace, "the buffer for delayed writes is too small"));
  return false;
}

bool Memory::writable(uint8_t region, uint64_t address) {
  if (region >= kRegions || !regions_[region].read_only) return true;
  Fault fault = fault_of(FaultKind::kOutOfRange, "a write to a read-only region");
  fault.address = address;
  fault.region = region;
  note(fault);
  return false;
}

bool Memory::commit(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes) {
  if (!check(region, address, bytes) || !writable(region, address)) return false;
  if (region != kTableRegion) {
    copy(regions_[region].data + address, data, bytes);
    return true;
  }
  copy(table_ + address, data, bytes);
  for (uint64_t i = (address + 15) / 16; i < (address + bytes) / 16; ++i) table_valid_[i] = 1;
  return true;
}

const uint8_t* Memory::table(uint32_t address, uint32_t bytes) {
  if (!check(kTableRegion, address, bytes)) return nullptr;
  for (uint32_t i = address / 16; i < (address + bytes) / 16; ++i) {
    if (table_valid_[i] == 0) {
      Fault fault =
          fault_of(FaultKind::kBadRegister, "a LUT that was not loaded or was overwritten");
      fault.address = i * 16;
      fault.region = kTableRegion;
      note(fault);
      return nullptr;
    }
  }
  return table_ + address;
}

void Memory::invalidate_tables() {
  memset(table_valid_, 0, sizeof table_valid_);
}

}  // namespace thimble::ethos_u::sim
