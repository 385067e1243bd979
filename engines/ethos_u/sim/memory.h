// SPDX-License-Identifier: Apache-2.0
#pragma once
// All memory that an operation can access: regions, the LUT memory, chaining buffers. Every access
// of the simulator goes through this class and is checked only here. A caller can redirect writes
// to a write sink.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/fault.h"

namespace thimble::ethos_u::sim {

struct ByteRegion {
  uint8_t* data = nullptr;
  uint64_t bytes = 0;
  bool read_only = false;
};

inline constexpr uint32_t kRegions = 8;
inline constexpr uint8_t kTableRegion = 8;  // the LUT memory, in sinks and faults
inline constexpr uint32_t kChainSlots = 6;

/// Receives writes instead of memory. Ranges are checked before the call, and Memory::commit()
/// performs the write later. A return value of false means that no space is left; the operation
/// ends with kWorkspace.
struct WriteSink {
  void* user = nullptr;
  bool (*write)(void* user, uint8_t region, uint64_t address, const uint8_t* data,
                uint64_t bytes) = nullptr;
};

/// One chaining buffer: a whole feature map as dense 32-bit integers in the order H, W, C. The
/// hardware passes single blocks along a chain; whole maps give the same values.
struct ChainSlot {
  int32_t* data = nullptr;
  uint32_t height = 0, width = 0, depth = 0;
};

class Memory {
 public:
  const WriteSink* sink = nullptr;

  void set_region(uint32_t index, const ByteRegion& region) { regions_[index] = region; }
  [[nodiscard]] const ByteRegion& region(uint32_t index) const { return regions_[index]; }

  /// Returns the bytes [address, address + bytes) of a region (kTableRegion: the LUT memory).
  /// Returns null and records a fault if they are not all inside the region.
  const uint8_t* read(uint8_t region, uint64_t address, uint64_t bytes) {
    if (region < kRegions && inside(regions_[region], address, bytes)) {
      return regions_[region].data + address;
    }
    return read_slow(region, address, bytes);
  }
  bool write(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes) {
    if (sink == nullptr && region < kRegions && !regions_[region].read_only &&
        inside(regions_[region], address, bytes)) {
      copy(regions_[region].data + address, data, bytes);
      return true;
    }
    return write_slow(region, address, data, bytes);
  }
  /// Same as write(), but never uses the sink.
  bool commit(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes);

  /// Returns the LUT memory if all of these bytes were loaded since the start of the job and not
  /// overwritten since. Otherwise returns null and records a fault.
  const uint8_t* table(uint32_t address, uint32_t bytes);
  /// Marks the LUTs as overwritten. On parts with 16 banks the accumulators use the same SHRAM.
  void invalidate_tables();

  /// Returns the first fault since clear_fault().
  [[nodiscard]] const Fault& fault() const { return fault_; }
  void clear_fault() { fault_ = {}; }
  void note(const Fault& fault) {
    if (fault_.none()) fault_ = fault;
  }

  ChainSlot chain[kChainSlots];
  bool result_flag = false;  // tested by branches: the last element of the last kernel is not 0

 private:
  static bool inside(const ByteRegion& region, uint64_t address, uint64_t bytes) {
    return bytes <= region.bytes && address <= region.bytes - bytes;
  }
  static void copy(uint8_t* to, const uint8_t* from, uint64_t bytes);
  const uint8_t* read_slow(uint8_t region, uint64_t address, uint64_t bytes);
  bool write_slow(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes);
  bool check(uint8_t region, uint64_t address, uint64_t bytes);
  bool writable(uint8_t region, uint64_t address);

  ByteRegion regions_[kRegions];
  uint8_t table_[kLutBytes] = {};
  uint8_t table_valid_[kLutBytes / 16] = {};  // one flag per 16 bytes
  Fault fault_;
};

/// Working memory of operations. The last `kept` bytes hold chaining buffers and accumulators that
/// the next operation continues; the rest is free between operations.
struct Workspace {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  size_t kept = 0;
  int64_t* accumulators = nullptr;  // of the last operation that kept them
  uint64_t accumulator_count = 0;
  bool slow = false;  // general paths only; used to test the fast paths
};

}  // namespace thimble::ethos_u::sim
