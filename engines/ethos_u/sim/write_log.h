// SPDX-License-Identifier: Apache-2.0
#pragma once
// A log of delayed writes. A Memory's sink records them; they can be exchanged with memory
// temporarily and are finally written with commit().

#include "engines/ethos_u/sim/memory.h"

namespace thimble::ethos_u::sim {

class WriteLog {
 public:
  void set_buffer(uint8_t* data, size_t bytes) { data_ = data, capacity_ = bytes, size_ = 0; }
  void clear() { size_ = 0; }
  /// Returns a sink for Memory::sink; the log must outlive it.
  [[nodiscard]] WriteSink sink();

  /// Exchanges logged bytes with those in memory: the first call applies the writes, the second
  /// reverts them. `shown` selects bytes (null: all) and must not change between the two calls.
  struct Filter {
    void* user = nullptr;
    bool (*shown)(void* user, uint8_t region, uint64_t address) = nullptr;
  };
  void exchange(Memory& memory, bool forward, const Filter* filter) const;
  /// Writes the logged bytes to memory permanently.
  [[nodiscard]] bool commit(Memory& memory) const;
  /// Replaces the selected bytes by those of another log of the same writes. Returns false if the
  /// logs differ in their entries.
  [[nodiscard]] bool patch(const WriteLog& other, const Filter& filter);

  /// Returns the size in bytes of a log for `bytes` written in `pieces` calls.
  [[nodiscard]] static constexpr uint64_t bytes_for(uint64_t bytes, uint64_t pieces) {
    return bytes + pieces * (sizeof(Entry) + 8);
  }

 private:
  struct Entry {
    uint64_t address;
    uint32_t bytes;
    uint32_t previous;  // offset of the previous entry
    uint8_t region;
  };
  [[nodiscard]] static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }
  bool append(uint8_t region, uint64_t address, const uint8_t* data, uint64_t bytes);
  [[nodiscard]] Entry entry_at(size_t offset) const;
  void exchange_entry(Memory& memory, size_t offset, const Entry& entry,
                      const Filter* filter) const;

  uint8_t* data_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
  size_t newest_ = 0;
};

}  // namespace thimble::ethos_u::sim
