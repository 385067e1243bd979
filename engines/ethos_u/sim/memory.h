#pragma once
// Everything an operation can see: regions, the table memory, chaining buffers. Every access of
// the simulator goes through here, so it is checked here and nowhere else, and a caller may
// redirect what is written (a write sink).

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/fault.h"

namespace thimble::ethos_u::sim {

struct Region {
  uint8_t* data = nullptr;
  uint64_t bytes = 0;
  bool read_only = false;
};

inline constexpr uint32_t kRegions = 8;
inline constexpr uint8_t kTableRegion = 8;  // the table memory, in sinks and faults
inline constexpr uint32_t kChainSlots = 6;

/// Takes what is written in the place of memory. Ranges were checked before the call, and
/// Memory::land() later does what the write would have done. False = no room: the operation ends
/// with kWorkspace.
struct WriteSink {
  void* user = nullptr;
  bool (*write)(void* user, uint8_t region, uint64_t address, const uint8_t* data,
                uint64_t bytes) = nullptr;
};

/// One chaining buffer: a whole feature map, dense, in the order H, W, C, as 32-bit integers.
/// Blocks of a chain follow each other in the hardware; whole maps give the same numbers.
struct ChainSlot {
  int32_t* data = nullptr;
  uint32_t height = 0, width = 0, depth = 0;
};

class Memory {
 public:
  const WriteSink* sink = nullptr;

  void set_region(uint32_t index, const Region& region) { regions_[index] = region; }
  [[nodiscard]] const Region& region(uint32_t index) const { return regions_[index]; }

  /// Bytes [address, address + bytes) of a region (kTableRegion: the table memory); null, with the
  /// fault noted, if they are not all in it.
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
  /// As write(), never to the sink.
  bool land(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes);

  /// The table memory, if all of these bytes were loaded since the start of the job and not lost
  /// since; else null, with the fault noted.
  const uint8_t* table(uint32_t address, uint32_t bytes);
  /// Parts with 16 banks keep accumulators where the tables are: the tables are gone.
  void lose_tables();

  /// The first fault since clear_fault().
  [[nodiscard]] const Fault& fault() const { return fault_; }
  void clear_fault() { fault_ = {}; }
  void note(const Fault& fault) {
    if (fault_.none()) fault_ = fault;
  }

  ChainSlot chain[kChainSlots];
  bool result_flag = false;  // what a branch tests: the last element of the last kernel is not 0

 private:
  static bool inside(const Region& region, uint64_t address, uint64_t bytes) {
    return bytes <= region.bytes && address <= region.bytes - bytes;
  }
  static void copy(uint8_t* to, const uint8_t* from, uint64_t bytes);
  const uint8_t* read_slow(uint8_t region, uint64_t address, uint64_t bytes);
  bool write_slow(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes);
  bool check(uint8_t region, uint64_t address, uint64_t bytes);
  bool writable(uint8_t region, uint64_t address);

  Region regions_[kRegions];
  uint8_t table_[kLutBytes] = {};
  uint8_t table_valid_[kLutBytes / 16] = {};  // per 16 bytes
  Fault fault_;
};

/// Memory for what an operation computes with. `kept` bytes at its end belong to chaining buffers
/// and to accumulators that the next operation continues; the rest is free between operations.
struct Workspace {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  size_t kept = 0;
  int64_t* accumulators = nullptr;  // of the last operation that did not output them
  uint64_t accumulator_count = 0;
  bool slow = false;  // only the general paths, which judge the fast ones in the tests
};

}  // namespace thimble::ethos_u::sim
