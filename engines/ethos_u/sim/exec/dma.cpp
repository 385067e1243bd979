// SPDX-License-Identifier: Apache-2.0
// DMA_START: copies rows of bytes, with strides or selected by indices.

#include <string.h>

#include "engines/ethos_u/sim/execute.h"

namespace thimble::ethos_u::sim {
namespace {

/// Returns the address of the LUTs: the last 2 KiB of a core's SHRAM, or 0 on the U85, which has a
/// separate LUT memory.
uint64_t tables_at(const Config& config) {
  if (config.generation == Generation::kU85) return 0;
  return (uint64_t{config.banks} << 10) - kLutBytes;
}

struct Side {
  uint8_t region;
  uint64_t address;
};

Side side_of(const Config& config, bool internal, uint8_t region, uint64_t address) {
  // An address below the LUTs wraps to an offset outside the LUT memory.
  if (internal) return {kTableRegion, address - tables_at(config)};
  return {region, address};
}

bool copy_row(Memory& memory, const Side& from, const Side& to, uint64_t bytes) {
  // The copy uses a buffer, because source and destination may overlap and writes may be delayed.
  uint8_t buffer[256];
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = bytes - done < sizeof buffer ? bytes - done : sizeof buffer;
    const uint8_t* const data = memory.read(from.region, from.address + done, piece);
    if (data == nullptr) return false;
    memcpy(buffer, data, static_cast<size_t>(piece));
    if (!memory.write(to.region, to.address + done, buffer, piece)) return false;
    done += piece;
  }
  return true;
}

Fault index_at(const DmaOperation& operation, Memory& memory, uint32_t plane, uint32_t row,
               uint32_t* index) {
  const uint64_t offset = uint64_t{plane} * (uint64_t{operation.size0} * 4) + uint64_t{row} * 4 +
                          static_cast<uint64_t>(int64_t{plane} * operation.index_skip);
  const uint8_t* const data = memory.read(operation.index_region, operation.index + offset, 4);
  if (data == nullptr) return memory.fault();
  memcpy(index, data, 4);
  if (*index > operation.index_maximum) {
    Fault fault = fault_of(FaultKind::kOutOfRange, "an index above the largest allowed one");
    fault.region = operation.index_region;
    fault.address = operation.index + offset;
    return fault;
  }
  return {};
}

}  // namespace

Fault execute(const Config& config, const DmaOperation& operation, Memory& memory) {
  memory.clear_fault();
  for (uint32_t plane = 0; plane < operation.size1; ++plane) {
    for (uint32_t row = 0; row < operation.size0; ++row) {
      uint32_t index = row;
      if (operation.gather || operation.scatter) {
        const Fault fault = index_at(operation, memory, plane, row, &index);
        if (!fault.none()) return fault;
      }
      const uint32_t from_row = operation.gather ? index : row;
      const uint32_t to_row = operation.scatter ? index : row;
      const auto from = static_cast<uint64_t>(from_row * operation.source_stride0 +
                                              plane * operation.source_stride1);
      const auto to = static_cast<uint64_t>(to_row * operation.destination_stride0 +
                                            plane * operation.destination_stride1);
      if (!copy_row(memory,
                    side_of(config, operation.source_internal, operation.source_region,
                            operation.source + from),
                    side_of(config, operation.destination_internal, operation.destination_region,
                            operation.destination + to),
                    operation.length)) {
        return memory.fault();
      }
    }
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
