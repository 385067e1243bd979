// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the bits of a command are divided into the numbers of its text line.

#include <optional>
#include <string_view>
#include <vector>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

/// One number of a text line. Bit positions refer to a 48-bit value: bits 0 to 31 are the payload,
/// bits 32 to 47 the parameter.
struct Part {
  std::string_view name;  // "_": written without a name, identified by its position in the line
  unsigned lsb = 0;
  unsigned width = 0;
  bool is_signed = false;
  bool hexadecimal = false;
  bool silent_zero = false;  // omitted if 0
};

inline constexpr unsigned kParameterAt = 32;

struct Layout {
  const CommandRow* row = nullptr;
  std::vector<Part> parts;
  [[nodiscard]] uint64_t mask() const;
};

/// Returns the layout of a command word; nullopt if the generation has no such command or reserved
/// bits are set.
[[nodiscard]] std::optional<Layout> layout_of_word(uint32_t word, Generation generation);
[[nodiscard]] std::optional<Layout> layout_of_name(std::string_view name, Generation generation);

}  // namespace thimble::ethos_u::text
