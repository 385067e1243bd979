#pragma once
// Words for numbers: modes of operations and values of fields.

#include <optional>
#include <string_view>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

/// Empty if the value has no word. `field` is "_" for a whole parameter.
[[nodiscard]] std::string_view value_name(std::string_view command, std::string_view field,
                                          uint32_t value, Generation generation);
[[nodiscard]] std::optional<uint32_t> named_value(std::string_view command, std::string_view field,
                                                  std::string_view name, Generation generation);

/// Whether a number of this register or field is signed.
[[nodiscard]] bool is_signed(std::string_view command);

}  // namespace thimble::ethos_u::text
