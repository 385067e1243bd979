// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of numeric values: modes of operations and values of fields.

#include <optional>
#include <string_view>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

/// Returns the name of a value, or an empty string. `field` is "_" for a whole parameter.
[[nodiscard]] std::string_view value_name(std::string_view command, std::string_view field,
                                          uint32_t value, Generation generation);
[[nodiscard]] std::optional<uint32_t> named_value(std::string_view command, std::string_view field,
                                                  std::string_view name, Generation generation);

/// Returns true if the numbers of this register or field are signed.
[[nodiscard]] bool is_signed(std::string_view command);

}  // namespace thimble::ethos_u::text
