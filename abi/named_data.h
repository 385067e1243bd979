// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of the `.pte`'s named_data in which Thimble stores what ET12 has no field for. Keys and
// structs; integers are little-endian. Other runtimes ignore the entries.

#include <cstdint>

namespace thimble::abi {

/// Key of the `named_data` entry with data that ET12 has no field for. The stock runtime ignores
/// it.
inline constexpr char kProgramEntryKey[] = "thimble";
inline constexpr uint32_t kProgramEntryMagic = 0x424D4854;  // "THMB" little-endian
inline constexpr uint16_t kEntryVersionHeaderOnly = 1;      // the entry contains only the header
inline constexpr uint16_t kEntryVersionRecords = 2;  // records (abi/records.h) follow the header
/// Instruction set. kThumb2: Thumb-2 without DSP (M3). kThumb1: M0, M0+, M23.
enum class Isa : uint8_t { kThumb2 = 0, kDsp = 1, kMve = 2, kThumb1 = 3 };
enum class Dialect : uint8_t { kNative = 0, kStock = 1 };
struct ProgramEntry {
  uint32_t magic;
  uint16_t entry_version;
  uint16_t kernel_layout_version;  // kKernelLayoutVersion of the packed constants; 0: none are used
  uint32_t arena_bytes;            // equals the planned buffer size in the file
  Isa isa;                         // instruction set for which scratch and variants were chosen
  Dialect dialect;
  uint16_t methods;  // number of MethodRecords, which begin at the next multiple of 16 after the
                     // records of this entry; 0: the file has one method
  char target[16];   // zero-padded, "cortex-m55"
};
static_assert(sizeof(ProgramEntry) == 32);

/// A file with several methods has the entry kProgramEntryKey of the first method, then the entry
/// kMethodsKey with a record for each method (also the first one), then an entry for each further
/// method with the key kProgramEntryKey, a dot and the method's name. All have the same arena size
/// and the same entry kStateKey: the methods share the arena and the states.
inline constexpr char kMethodsKey[] = "thimble_methods";
inline constexpr uint32_t kMethodNameMax = 28;
struct MethodRecord {
  char name[kMethodNameMax];  // padded with zeros; 28 letters have no zero at the end
  uint32_t entry_at;          // from the start of the first entry, a multiple of 16
};
static_assert(sizeof(MethodRecord) == 32);

/// Key of the `named_data` entry that is present if the program keeps state between runs. The entry
/// contains StateHeader, then one StateRecord for each range of the arena that is kept. Init and
/// reset fill a range with the `bytes` bytes of the entry at `content`, or with one repeated byte.
/// A saved state is the content of the ranges in order.
inline constexpr char kStateKey[] = "thimble_state";
struct StateHeader {
  uint32_t count;
  uint32_t bytes;  // total size of all ranges
};
struct StateRecord {
  uint32_t arena_offset;
  uint32_t bytes;
  uint32_t content;  // offset from the start of the entry; 0: filled with `fill`
  uint32_t fill;     // 0 to 255
};
static_assert(sizeof(StateHeader) == 8 && sizeof(StateRecord) == 16);

/// Key of the `named_data` entry that is present if an input or output is int8. It contains one
/// IoQuant for every input, then one for every output, in order. real = scale * (q - zero_point).
inline constexpr char kIoKey[] = "thimble_io";
struct IoQuant {
  double scale;  // 0: not quantized
  int32_t zero_point;
  int32_t reserved;
};
static_assert(sizeof(IoQuant) == 16);

/// Key of the `named_data` entry that is present if the program has delegates with planned memory.
/// It contains one DelegateRecord for each row of the plan's delegates, in order. In a file without
/// this entry all delegates are ExecuTorch's, which cannot store a plan; their scratch is located
/// after the arena.
inline constexpr char kDelegatesKey[] = "thimble_delegates";
/// The memories of the NPU for which the network was scheduled.
enum class MemoryMode : uint8_t {
  kUnknown,        // as configured by the product
  kSramOnly,       // constants and scratch in SRAM
  kSharedSram,     // constants in flash or DRAM, scratch in SRAM
  kDedicatedSram,  // constants and scratch in DRAM, fast scratch in SRAM
};
/// Returns a hash of the name (FNV-1a, folded to 16 bits): the file stores it, so that a table of
/// systems can get new rows.
[[nodiscard]] constexpr uint16_t system_id(const char* name) {
  uint32_t hash = 0x811C9DC5;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<uint8_t>(*name)) * 0x01000193;
  return static_cast<uint16_t>(hash >> 16 ^ (hash & 0xFFFF));
}
/// DelegateRecord::fast_offset if the NPU provides the fast scratch, so that it is not in the
/// arena.
inline constexpr uint32_t kFastOnDevice = 0xFFFFFFFF;
/// DelegateRecord::system of a system whose figures are in the part's file only.
inline constexpr uint16_t kSystemOfPart = 1;
/// Cache line of a core. Calls that run while a delegate works must not write to the lines of its
/// memory, because the core invalidates them at the end.
inline constexpr uint32_t kCacheLine = 32;
struct DelegateRecord {
  uint32_t scratch_offset;  // in the arena, a multiple of 16; its size is in the payload
  uint32_t fast_bytes;      // size of fast scratch; 0: none
  uint32_t fast_offset;     // in the arena, a multiple of 16; kFastOnDevice: provided by the NPU
  MemoryMode memory_mode;
  uint8_t overlap;  // number of calls after the delegate's call that may run while the NPU works;
                    // 0, as in older files: the next call needs the results
  uint16_t system;  // the system around the NPU, for estimates of cycles: system_id() of its name
                    // in the engine's tables, kSystemOfPart, or 0 if the file does not state it
};
static_assert(sizeof(DelegateRecord) == 16);

}  // namespace thimble::abi
