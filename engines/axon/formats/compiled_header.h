// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the C header that the vendor's compiler writes for a network: constants, command words, the
// addresses in these words, and the inputs and outputs of the network. The words are opaque: they
// are copied and never interpreted.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::axon {

/// Memory that a word or a tensor can refer to.
enum class AddressSpace : uint8_t { kInterlayer, kPartialSums, kConstants, kVariables, kSymbol };

struct Address {
  AddressSpace space = AddressSpace::kInterlayer;
  uint32_t symbol = 0;  // kSymbol: index into CompiledHeader::symbols
  uint32_t offset = 0;
  bool operator==(const Address&) const = default;
};

/// The address stored in words[word].
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
  uint32_t driver_version = 0;    // lowest version of the driver that can run the network
  uint32_t interlayer_bytes = 0, partial_sum_bytes = 0;
  Bytes constants;  // with the layout of a C struct, aligned to 4 bytes
  std::vector<uint32_t> words;
  std::vector<Relocation> relocations;  // in ascending order of word
  std::vector<std::string> symbols;     // functions and tables of the driver in the firmware
  std::vector<std::string> functions;   // functions that the text declares
  std::optional<CompiledTensor> input;
  std::vector<CompiledTensor> outputs;
  uint32_t variable_bytes = 0;
  std::vector<CompiledVariable> variables;
};

/// `label` is the start of every message; messages name the line. Text that is not understood is an
/// error and never ignored.
[[nodiscard]] Result<CompiledHeader> read_compiled_header(std::string_view text,
                                                          std::string_view label);

}  // namespace thimble::formats::axon
