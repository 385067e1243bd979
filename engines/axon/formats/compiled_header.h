#pragma once
// What the vendor's compiler has made of a network, read back from the C header that it writes:
// constants, words and where they hold addresses, the network's interface. Words are opaque: they
// are copied, never interpreted.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::axon {

/// Memory that a word or a tensor can point into.
enum class AddressSpace : uint8_t { kInterlayer, kPartialSums, kConstants, kVariables, kSymbol };

struct Address {
  AddressSpace space = AddressSpace::kInterlayer;
  uint32_t symbol = 0;  // kSymbol: which of CompiledHeader::symbols
  uint32_t offset = 0;
  bool operator==(const Address&) const = default;
};

/// words[word] is the address.
struct Relocation {
  uint32_t word = 0;
  Address address;
  bool operator==(const Relocation&) const = default;
};

struct CompiledTensor {
  Address address;
  uint16_t height = 0, width = 0, channels = 0;
  uint8_t byte_width = 1;
  uint32_t row_stride = 0;
};

struct CompiledVariable {
  Address address;
  uint32_t bytes = 0;
  int32_t initial = 0;
  uint8_t byte_width = 1;
};

struct CompiledHeader {
  std::string name;
  uint32_t compiler_version = 0;  // 0x010400
  uint32_t driver_version = 0;    // the least that can run it
  uint32_t interlayer_bytes = 0, partial_sum_bytes = 0;
  Bytes constants;  // as a C compiler lays the struct out, aligned to 4
  std::vector<uint32_t> words;
  std::vector<Relocation> relocations;  // by word
  std::vector<std::string> symbols;     // of the firmware: functions and tables of the driver's
  std::vector<std::string> functions;   // those that the text declares
  std::optional<CompiledTensor> input;
  std::vector<CompiledTensor> outputs;
  uint32_t variable_bytes = 0;
  std::vector<CompiledVariable> variables;
};

/// `label` stands in front of messages, which name the line. What is not understood is an error,
/// never left out.
[[nodiscard]] Result<CompiledHeader> read_compiled_header(std::string_view text,
                                                          std::string_view label);

}  // namespace thimble::formats::axon
