// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/formats/program.h"

#include <algorithm>
#include <cstring>

#include "engines/axon/container/marker.h"
#include "engines/axon/container/program.h"

namespace thimble::formats::axon {
namespace {

namespace abi = thimble::abi::axon;

constexpr uint32_t aligned(uint32_t bytes) {
  return (bytes + abi::kProgramAlignment - 1) / abi::kProgramAlignment * abi::kProgramAlignment;
}

abi::Space space_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::kInterlayer:
      return abi::Space::kInterlayer;
    case AddressSpace::kPartialSums:
      return abi::Space::kPartialSums;
    case AddressSpace::kConstants:
      return abi::Space::kConstants;
    case AddressSpace::kVariables:
      return abi::Space::kVariables;
    case AddressSpace::kSymbol:
      break;
  }
  return abi::Space::kSymbols;
}

/// Appends a section and returns its offset.
uint32_t add_section(Bytes& bytes, ByteView section) {
  bytes.resize(aligned(static_cast<uint32_t>(bytes.size())));
  const auto offset = static_cast<uint32_t>(bytes.size());
  append(bytes, section);
  return offset;
}

/// Returns the end of a tensor: full row strides, except for the last row.
uint32_t end_of(const ProgramTensor& tensor) {
  const uint32_t rows = uint32_t{tensor.n} * tensor.c * tensor.h;
  return tensor.address.offset + (rows - 1) * tensor.row_stride +
         uint32_t{tensor.w} * tensor.element_bytes;
}

Bytes io_section(const ProgramInterface& interface) {
  Bytes bytes;
  for (const auto* const list : {&interface.inputs, &interface.outputs}) {
    for (const ProgramTensor& tensor : *list) {
      bytes.push_back(static_cast<std::byte>(space_of(tensor.address.space)));
      bytes.push_back(static_cast<std::byte>(tensor.element_bytes));
      for (const uint16_t size : {tensor.n, tensor.c, tensor.h, tensor.w, uint16_t{0}}) {
        append_le(bytes, size);
      }
      append_le(bytes, tensor.address.offset);
      append_le(bytes, tensor.row_stride);
    }
  }
  return bytes;
}

/// The words with addresses inserted, and a bit per word that marks the addresses.
struct Words {
  Bytes words, marks;
};
Result<Words> word_sections(const CompiledHeader& network) {
  std::vector<uint32_t> words = network.words;
  Words result;
  result.marks.resize((words.size() + 7) / 8);
  for (const Relocation& relocation : network.relocations) {
    const Address& address = relocation.address;
    if (address.offset > abi::kOffsetMask) {
      return unsupported("{}: an address {} bytes into its memory; the program has room for {}",
                         network.name, address.offset, abi::kOffsetMask);
    }
    const uint32_t space = static_cast<uint32_t>(space_of(address.space)) + address.symbol;
    words[relocation.word] = space << abi::kSpaceShift | address.offset;
    result.marks[relocation.word / 8] |= static_cast<std::byte>(1U << relocation.word % 8);
  }
  for (const uint32_t word : words) append_le(result.words, word);
  return result;
}

}  // namespace

Result<Bytes> write_program(const CompiledHeader& network, const ProgramInterface& interface) {
  if (network.symbols.size() > abi::kSymbolsMax) {
    return unsupported("{}: {} symbols; a program has room for {}", network.name,
                       network.symbols.size(), abi::kSymbolsMax);
  }
  if (interface.inputs.size() + interface.outputs.size() > abi::kProgramIoMax) {
    return unsupported("{}: {} inputs and {} outputs; a program has room for {} together",
                       network.name, interface.inputs.size(), interface.outputs.size(),
                       abi::kProgramIoMax);
  }
  abi::ProgramHeader header{};
  header.magic = abi::kProgramMagic;
  header.version = abi::kProgramVersion;
  header.header_bytes = sizeof header;
  header.input_count = static_cast<uint8_t>(interface.inputs.size());
  header.output_count = static_cast<uint8_t>(interface.outputs.size());
  header.symbol_count = static_cast<uint16_t>(network.symbols.size());
  header.word_count = static_cast<uint32_t>(network.words.size());
  uint32_t interlayer = network.interlayer_bytes;
  for (const auto* const list : {&interface.inputs, &interface.outputs}) {
    for (const ProgramTensor& tensor : *list) {
      if (tensor.address.space == AddressSpace::kInterlayer) {
        interlayer = std::max(interlayer, end_of(tensor));
      }
    }
  }
  header.interlayer_bytes = aligned(interlayer);
  header.partial_sum_bytes = aligned(network.partial_sum_bytes);
  header.variable_bytes = aligned(network.variable_bytes);
  header.constant_bytes = static_cast<uint32_t>(network.constants.size());
  header.compiler_version = network.compiler_version;
  header.driver_version = network.driver_version;
  header.cycles = interface.cycles;
  network.name.copy(header.name, abi::kProgramNameBytes - 1);

  Bytes bytes(sizeof header);
  std::string names;
  for (const std::string& symbol : network.symbols) names += symbol + '\0';
  header.io_offset = add_section(bytes, io_section(interface));
  THIMBLE_TRY(const Words words, word_sections(network));
  header.words_offset = add_section(bytes, words.words);
  header.marks_offset = add_section(bytes, words.marks);
  header.symbols_offset = add_section(bytes, as_byte_view(names));
  header.symbol_bytes = static_cast<uint32_t>(names.size());
  header.constants_offset = add_section(bytes, network.constants);
  header.bytes = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  auto* const raw = reinterpret_cast<uint8_t*>(bytes.data());
  header.content_hash = abi::program_hash(raw, header.bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<Bytes> write_marker(const std::string& name) {
  if (name.empty() || name.size() > abi::kMarkerNameMax) {
    return bad_input("{}: a name of 1 to {} characters expected", name, abi::kMarkerNameMax);
  }
  Bytes bytes;
  append_le(bytes, abi::kMarkerMagic);
  append_le(bytes, abi::kMarkerVersion);
  append_le(bytes, static_cast<uint32_t>(name.size()));
  append(bytes, as_byte_view(name));
  align_size(bytes, 4);
  return bytes;
}

}  // namespace thimble::formats::axon
