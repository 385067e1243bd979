#pragma once
// Writes that have not landed: taken from a Memory's sink, exchanged with memory to look at it as
// if they had, and landed at last.

#include "engines/ethos_u/sim/memory.h"

namespace thimble::ethos_u::sim {

class WriteLog {
 public:
  void give(uint8_t* data, size_t bytes) { data_ = data, capacity_ = bytes, size_ = 0; }
  void clear() { size_ = 0; }
  /// For Memory::sink; the log must outlive it.
  [[nodiscard]] WriteSink sink();

  /// Exchanges logged bytes with memory's: once shows the writes, again takes them back. `shown`
  /// chooses bytes (null: all); between the two exchanges its answers must not change.
  struct Filter {
    void* user = nullptr;
    bool (*shown)(void* user, uint8_t region, uint64_t address) = nullptr;
  };
  void exchange(Memory& memory, bool forward, const Filter* filter) const;
  /// For good.
  [[nodiscard]] bool land(Memory& memory) const;
  /// Takes the chosen bytes from another log of the same writes; false if it is not one.
  [[nodiscard]] bool patch(const WriteLog& other, const Filter& filter);

  /// Bytes of a log for `bytes` written in `pieces` calls.
  [[nodiscard]] static constexpr uint64_t room_for(uint64_t bytes, uint64_t pieces) {
    return bytes + pieces * (sizeof(Entry) + 8);
  }

 private:
  struct Entry {
    uint64_t address;
    uint32_t bytes;
    uint32_t previous;  // offset of the entry before this
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
