#pragma once
// How a command's bits are divided into the numbers of its text line.

#include <optional>
#include <string_view>
#include <vector>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

/// A number of the line. Places count in 48 bits: the payload below, the parameter from bit 32.
struct Part {
  std::string_view name;  // "_": by its place in the line, not by name
  unsigned lsb = 0;
  unsigned width = 0;
  bool is_signed = false;
  bool hexadecimal = false;
  bool silent_zero = false;  // not written if 0
};

inline constexpr unsigned kParameterAt = 32;

struct Layout {
  const CommandRow* row = nullptr;
  std::vector<Part> parts;
  [[nodiscard]] uint64_t mask() const;
};

/// The layout of a command word; nothing if the table does not explain the word's upper fields.
[[nodiscard]] std::optional<Layout> layout_of_word(uint32_t word, Generation generation);
[[nodiscard]] std::optional<Layout> layout_of_name(std::string_view name, Generation generation);

}  // namespace thimble::ethos_u::text
