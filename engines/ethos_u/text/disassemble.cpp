// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engines/ethos_u/text/layout.h"
#include "engines/ethos_u/text/names.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::text {
namespace {

std::string number(const Part& part, uint64_t value) {
  if (part.hexadecimal) return fmt::format("{:#x}", value);
  if (part.is_signed && (value >> (part.width - 1) & 1) != 0) {
    return fmt::format("-{}", (uint64_t{1} << part.width) - value);
  }
  return fmt::format("{}", value);
}

std::string line_of(const Layout& layout, uint64_t bits, Generation generation) {
  std::string line = layout.row->name;
  for (const Part& part : layout.parts) {
    const uint64_t value = bits >> part.lsb & ((uint64_t{1} << part.width) - 1);
    if (part.silent_zero && value == 0) continue;
    line += ' ';
    if (part.name != "_") line += fmt::format("{}=", part.name);
    const bool parameter = part.lsb >= kParameterAt;  // only parameters have named values
    const std::string_view word = parameter ? value_name(layout.row->name, part.name,
                                                         static_cast<uint32_t>(value), generation)
                                            : std::string_view();
    line += word.empty() ? number(part, value) : std::string(word);
  }
  return line;
}

/// Returns the text of the first command of `words` and the number of words it consists of.
std::pair<std::string, size_t> command(std::span<const uint32_t> words, Generation generation) {
  const uint32_t word = words[0];
  const size_t size = has_payload(word) && words.size() > 1 ? 2 : 1;
  const uint32_t payload = size == 2 ? words[1] : 0;
  const std::optional<Layout> layout = layout_of_word(word, generation);
  const uint64_t bits = uint64_t{parameter_of(word)} << kParameterAt | payload;
  if (layout && size == (layout->row->payload ? 2U : 1U) && (bits & ~layout->mask()) == 0) {
    return {line_of(*layout, bits, generation), size};
  }
  std::string line = fmt::format(".word {:#010x}", word);
  if (size == 2) line += fmt::format(" {:#010x}", payload);
  return {line, size};
}

}  // namespace

std::string disassemble(std::span<const uint32_t> words, Generation generation,
                        const Options& options) {
  std::string text;
  for (size_t at = 0; at < words.size();) {
    const auto [line, size] = command(words.subspan(at), generation);
    text += options.offsets ? fmt::format("{:<72} # {}\n", line, at) : line + '\n';
    at += size;
  }
  return text;
}

}  // namespace thimble::ethos_u::text
