// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parser for the subset of C that the vendor's compiler writes: definitions with initializers.
// Comments are dropped, #define values are kept, #if conditions are false.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::formats::axon {

struct CToken {
  std::string text;  // a name, a number, a string with its quotes, or one punctuation character
  int line = 0;
  [[nodiscard]] bool is(std::string_view what) const { return text == what; }
};

struct CText {
  std::vector<CToken> tokens;
  std::map<std::string, std::string> defines;  // value: the rest of the line
};

[[nodiscard]] Result<CText> read_c_text(std::string_view text);

/// The tokens inside a pair of brackets, or of one element of a list.
using CSpan = std::vector<CToken>;

/// An initializer: {...} with fields or items, or an expression.
struct CValue {
  std::map<std::string, CValue, std::less<>> fields;
  std::vector<CValue> items;
  CSpan expression;
  int line = 0;
  /// Returns the number; if it is not a number, an error with the line.
  [[nodiscard]] Result<int64_t> number() const;
  [[nodiscard]] const CValue* field(std::string_view name) const;
};

/// A definition `TYPE name[...] = value;`.
struct CDefinition {
  CSpan type;  // all tokens before the name, including the body of a struct
  std::string name;
  std::optional<int64_t> length;  // length of an array, if its brackets hold a number
  bool is_array = false;
  bool is_function = false;  // a function prototype
  std::optional<CValue> value;
  int line = 0;
};

/// Returns definitions and prototypes in source order; static_assert is skipped.
[[nodiscard]] Result<std::vector<CDefinition>> read_definitions(const CText& text);

/// Parses a decimal or hexadecimal number with an optional sign.
[[nodiscard]] std::optional<int64_t> c_number(std::string_view text);

}  // namespace thimble::formats::axon
