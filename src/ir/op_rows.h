// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of ops.def and attributes.def at compile time.

#include <string_view>

#include "ir/op.h"

namespace thimble::ir {

struct OpRow {
  std::string_view name, operands, attributes;
};
inline constexpr OpRow kOpRows[] = {
#define THIMBLE_OP(name, category, operands, attributes) {#name, operands, attributes},
#include "ir/ops.def"
#undef THIMBLE_OP
};

struct AttrRow {
  std::string_view id, name;
  AttrInfo::Kind kind;
};
inline constexpr AttrRow kAttrRows[] = {
#define THIMBLE_ATTR(id, name, type) {#id, name, AttrInfo::Kind::k##type},
#include "ir/attributes.def"
#undef THIMBLE_ATTR
};

/// Calls each(word) for the words of a column.
template <typename Each>
constexpr void for_each_word(std::string_view text, Each each) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const size_t length = end == std::string_view::npos ? text.size() : end;
    if (length > 0) each(text.substr(0, length));
    text.remove_prefix(length == text.size() ? length : length + 1);
  }
}

}  // namespace thimble::ir
