// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/text/text.h"

#include <cstring>
#include <vector>

#include "base/result.h"
#include "engines/abacus/container/program.h"

namespace thimble::abacus::text {
namespace {

const char* code_name(Code code) {
  switch (code) {
    case Code::kAdd:
      return "add";
    case Code::kMul:
      return "mul";
    case Code::kMaximum:
      return "maximum";
    case Code::kConv:
      return "conv";
    case Code::kCount:
      break;
  }
  return "?";
}

std::string place(const Operand& operand) {
  constexpr const char* kNames[] = {"scratch+", "input ", "output "};
  return fmt::format("{}{}", kNames[static_cast<uint32_t>(operand.where)], operand.at);
}

/// The bytes at an address that is a multiple of 4.
std::vector<uint32_t> words_of(ByteView bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t) + 1);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace

bool is_program(ByteView bytes) {
  const std::vector<uint32_t> words = words_of(bytes);
  return bytes.size() >= sizeof(Header) && words[0] == kMagic &&
         is_valid(reinterpret_cast<const uint8_t*>(words.data()), bytes.size());
}

std::string print(ByteView program) {
  Header header;
  std::memcpy(&header, program.data(), sizeof header);
  std::string text = fmt::format("abacus program: {} inputs, {} outputs, {} B of scratch\n",
                                 header.input_count, header.output_count, header.scratch_bytes);
  for (uint32_t i = 0; i < header.command_count; ++i) {
    Command command;
    std::memcpy(&command, program.data() + sizeof header + i * sizeof command, sizeof command);
    text += fmt::format("  {:<8} {} -> {}, {} elements\n", code_name(command.code),
                        place(command.a), place(command.y), bytes_out(command));
  }
  return text;
}

}  // namespace thimble::abacus::text
