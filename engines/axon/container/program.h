// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network compiled by the AXON vendor's compiler, in a form that needs no linker: command words,
// marks of words that hold addresses, constants, and the interface. It is the payload of the
// delegate ThimbleAxonProgram. docs/nordic-axon.md, "Program", describes each byte.
//
// Words are opaque. A marked word holds an address: the memory (Space) in the upper 8 bits, the
// offset in the lower 24 bits. All numbers are little-endian. Sections start at multiples of 16, in
// this order: header, inputs and outputs, words, marks (one bit each, the first in bit 0 of byte
// 0), names of symbols (each zero-terminated), constants.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace thimble::abi::axon {

inline constexpr char kProgramId[] = "ThimbleAxonProgram";

inline constexpr uint32_t kProgramMagic = 0x50584154;  // "TAXP"
inline constexpr uint16_t kProgramVersion = 1;
inline constexpr uint32_t kProgramAlignment = 16;
inline constexpr uint32_t kProgramIoMax = 28;
inline constexpr uint32_t kProgramNameBytes = 64;
inline constexpr uint32_t kProgramBytesMax = 1U << 28;

/// Memories that addresses are relative to.
enum class Space : uint8_t {
  kInterlayer = 0,   // belongs to the network during a run
  kPartialSums = 1,  // belongs to the network during a run
  kVariables = 2,    // as above; the caller copies variables in before and out after the run
  kConstants = 3,    // constants of the program
  kSymbols = 4,      // the first symbol, the next is 5 etc.; their offset is zero
};
inline constexpr uint32_t kSpaceShift = 24;
inline constexpr uint32_t kSymbolsMax = 255 - static_cast<uint32_t>(Space::kSymbols);
inline constexpr uint32_t kOffsetMask = (1U << kSpaceShift) - 1;

struct ProgramHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint32_t bytes;  // size of the program
  uint8_t input_count;
  uint8_t output_count;
  uint16_t symbol_count;
  uint32_t word_count;
  uint32_t interlayer_bytes;  // the next three: multiples of 16
  uint32_t partial_sum_bytes;
  uint32_t variable_bytes;
  uint32_t constant_bytes;
  uint32_t io_offset;
  uint32_t words_offset;
  uint32_t marks_offset;
  uint32_t symbols_offset;
  uint32_t symbol_bytes;
  uint32_t constants_offset;
  uint32_t compiler_version;  // of the vendor's compiler: 0x010400
  uint32_t driver_version;    // minimum version of the vendor's driver
  uint32_t cycles;            // estimated cycles of one run
  uint64_t content_hash;      // 64-bit FNV-1a of the program, with this field set to zero
  char name[kProgramNameBytes];
};
static_assert(sizeof(ProgramHeader) == 144 && offsetof(ProgramHeader, content_hash) == 72);

/// An input (written before a run) or an output (read after a run).
struct ProgramIo {
  Space space;
  uint8_t element_bytes;  // 1, 2 or 4; signed integers
  uint16_t n, c, h, w;
  uint16_t reserved;
  uint32_t offset;
  uint32_t row_stride;  // bytes from row to row
};
static_assert(sizeof(ProgramIo) == 20);

inline uint64_t program_hash(const uint8_t* data, uint32_t bytes) {
  constexpr uint64_t kPrime = 0x100000001B3;
  constexpr uint32_t kField = offsetof(ProgramHeader, content_hash);
  uint64_t hash = 0xCBF29CE484222325;
  for (uint32_t i = 0; i < bytes; ++i) {
    const bool own = i >= kField && i < kField + sizeof(uint64_t);
    hash = (hash ^ (own ? 0 : data[i])) * kPrime;
  }
  return hash;
}

enum class ProgramStatus : uint8_t { kOk, kMisaligned, kNoProgram, kVersion, kDamaged };

/// Read access to a program that check_program() has accepted.
class ProgramView {
 public:
  ProgramView() = default;
  explicit ProgramView(const uint8_t* data) : data_(data) {
    memcpy(&header_, data, sizeof header_);
  }
  [[nodiscard]] const ProgramHeader& header() const { return header_; }
  [[nodiscard]] ProgramIo io(uint32_t index) const {
    ProgramIo io;
    memcpy(&io, data_ + header_.io_offset + index * sizeof io, sizeof io);
    return io;
  }
  [[nodiscard]] uint32_t io_count() const {
    return uint32_t{header_.input_count} + header_.output_count;
  }
  [[nodiscard]] uint32_t word(uint32_t index) const {
    uint32_t word;
    memcpy(&word, data_ + header_.words_offset + index * sizeof word, sizeof word);
    return word;
  }
  [[nodiscard]] bool is_address(uint32_t index) const {
    return (data_[header_.marks_offset + index / 8] >> (index % 8) & 1) != 0;
  }
  [[nodiscard]] const uint8_t* constants() const { return data_ + header_.constants_offset; }
  /// Returns the zero-terminated names; they are consecutive.
  [[nodiscard]] const char* symbols() const {
    return reinterpret_cast<const char*>(data_) + header_.symbols_offset;
  }
  [[nodiscard]] const char* name() const {
    return reinterpret_cast<const char*>(data_) + offsetof(ProgramHeader, name);
  }
  [[nodiscard]] const uint8_t* data() const { return data_; }

 private:
  const uint8_t* data_ = nullptr;
  ProgramHeader header_{};
};

namespace detail {

struct Sections {
  uint32_t next;
  bool good = true;
  /// Checks that the next section is at `offset`.
  void expect(uint32_t offset, uint64_t bytes) {
    next = (next + kProgramAlignment - 1) / kProgramAlignment * kProgramAlignment;
    good = good && offset == next && bytes <= kProgramBytesMax - next;
    if (good) next += static_cast<uint32_t>(bytes);
  }
};

constexpr uint32_t room_of(const ProgramHeader& header, Space space) {
  switch (space) {
    case Space::kInterlayer:
      return header.interlayer_bytes;
    case Space::kPartialSums:
      return header.partial_sum_bytes;
    case Space::kVariables:
      return header.variable_bytes;
    case Space::kConstants:
      return header.constant_bytes;
    case Space::kSymbols:
      break;
  }
  return 0;
}

/// Returns true if the tensor's rows are inside its memory, which must be writable.
inline bool io_fits(const ProgramHeader& header, const ProgramIo& io) {
  if (io.space != Space::kInterlayer && io.space != Space::kVariables) return false;
  const bool width = io.element_bytes == 1 || io.element_bytes == 2 || io.element_bytes == 4;
  const uint64_t rows = uint64_t{io.n} * io.c * io.h;
  const uint64_t row = uint64_t{io.w} * io.element_bytes;
  if (!width || rows == 0 || row == 0 || io.row_stride < row || rows > kProgramBytesMax) {
    return false;
  }
  const uint64_t room = room_of(header, io.space);
  return io.offset <= room && (rows - 1) * io.row_stride + row <= room - io.offset;
}

inline bool words_fit(const ProgramView& view) {
  const ProgramHeader& header = view.header();
  for (uint32_t i = 0; i < header.word_count; ++i) {
    if (!view.is_address(i)) continue;
    const uint32_t word = view.word(i);
    const uint32_t space = word >> kSpaceShift;
    const uint32_t offset = word & kOffsetMask;
    constexpr auto kFirst = static_cast<uint32_t>(Space::kSymbols);
    const bool symbol = space >= kFirst;
    if (symbol && (space - kFirst >= header.symbol_count || offset != 0)) return false;
    if (!symbol && offset > room_of(header, static_cast<Space>(space))) return false;
  }
  return true;
}

inline bool symbols_fit(const ProgramView& view) {
  const ProgramHeader& header = view.header();
  uint32_t names = 0;
  for (uint32_t i = 0; i < header.symbol_bytes; ++i) names += view.symbols()[i] == 0 ? 1 : 0;
  const bool ended = header.symbol_bytes == 0 || view.symbols()[header.symbol_bytes - 1] == 0;
  return ended && names == header.symbol_count && header.symbol_count <= kSymbolsMax;
}

}  // namespace detail

/// Checks that binding accesses only the program, and that inputs, outputs and addresses are inside
/// the memories given by the header.
inline ProgramStatus check_program(const uint8_t* data, uint32_t bytes) {
  if (reinterpret_cast<uintptr_t>(data) % kProgramAlignment != 0) return ProgramStatus::kMisaligned;
  ProgramHeader header;
  if (bytes < sizeof header) return ProgramStatus::kNoProgram;
  memcpy(&header, data, sizeof header);
  if (header.magic != kProgramMagic) return ProgramStatus::kNoProgram;
  if (header.version != kProgramVersion) return ProgramStatus::kVersion;
  if (header.bytes != bytes || header.header_bytes != sizeof header) return ProgramStatus::kDamaged;
  if (header.word_count > kProgramBytesMax / 8 || header.output_count == 0 ||
      header.name[kProgramNameBytes - 1] != 0) {
    return ProgramStatus::kDamaged;
  }
  const uint32_t io_count = uint32_t{header.input_count} + header.output_count;
  if (io_count > kProgramIoMax) return ProgramStatus::kDamaged;
  const uint32_t memories[] = {header.interlayer_bytes, header.partial_sum_bytes,
                               header.variable_bytes};
  for (const uint32_t memory : memories) {
    if (memory > kProgramBytesMax || memory % kProgramAlignment != 0) {
      return ProgramStatus::kDamaged;
    }
  }
  detail::Sections sections{sizeof header};
  sections.expect(header.io_offset, io_count * sizeof(ProgramIo));
  sections.expect(header.words_offset, header.word_count * sizeof(uint32_t));
  sections.expect(header.marks_offset, (uint64_t{header.word_count} + 7) / 8);
  sections.expect(header.symbols_offset, header.symbol_bytes);
  sections.expect(header.constants_offset, header.constant_bytes);
  if (!sections.good || sections.next != bytes) return ProgramStatus::kDamaged;
  if (program_hash(data, bytes) != header.content_hash) return ProgramStatus::kDamaged;
  const ProgramView view(data);
  for (uint32_t i = 0; i < io_count; ++i) {
    if (!detail::io_fits(header, view.io(i))) return ProgramStatus::kDamaged;
  }
  const bool good = detail::symbols_fit(view) && detail::words_fit(view);
  return good ? ProgramStatus::kOk : ProgramStatus::kDamaged;
}

}  // namespace thimble::abi::axon
