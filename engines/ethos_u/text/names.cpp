// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/text/names.h"

#include <algorithm>

namespace thimble::ethos_u::text {
namespace {

struct ValueRow {
  std::string_view command, field;
  uint32_t value;
  std::string_view name;
  uint8_t generations;
};

constexpr ValueRow kValues[] = {
#define ETHOS_U_VALUE(command, field, value, name, generations) \
  {#command, #field, value, #name, generations},
#include "engines/ethos_u/text/names.def"
};

constexpr std::string_view kSigned[] = {"ACTIVATION_MIN",  "ACTIVATION_MAX", "IFM2_SCALAR",
                                        "IFM2_ZERO_POINT", "IFM_ZERO_POINT", "OFM_ZERO_POINT",
                                        "RESIZE_X_OFFSET", "RESIZE_Y_OFFSET"};

}  // namespace

std::string_view value_name(std::string_view command, std::string_view field, uint32_t value,
                            Generation generation) {
  for (const ValueRow& row : kValues) {
    if (row.value == value && row.command == command && row.field == field &&
        has(row.generations, generation)) {
      return row.name;
    }
  }
  return {};
}

std::optional<uint32_t> named_value(std::string_view command, std::string_view field,
                                    std::string_view name, Generation generation) {
  for (const ValueRow& row : kValues) {
    if (row.name == name && row.command == command && row.field == field &&
        has(row.generations, generation)) {
      return row.value;
    }
  }
  return std::nullopt;
}

bool is_signed(std::string_view command) {
  return std::ranges::find(kSigned, command) != std::end(kSigned);
}

}  // namespace thimble::ethos_u::text
