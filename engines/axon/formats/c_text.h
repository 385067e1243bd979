#pragma once
// The little C that the vendor's compiler writes: definitions with initialisers, as words and
// values. Comments are dropped, #define values kept, #if blocks taken as false.

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
  std::string text;  // a name, a number, a string with its quotes, or one sign
  int line = 0;
  [[nodiscard]] bool is(std::string_view what) const { return text == what; }
};

struct CText {
  std::vector<CToken> tokens;
  std::map<std::string, std::string> defines;  // the rest of the line
};

[[nodiscard]] Result<CText> read_c_text(std::string_view text);

/// The tokens between two signs of a pair, or of one element of a list.
using CSpan = std::vector<CToken>;

/// An initialiser: {...} with fields or items, or an expression.
struct CValue {
  std::map<std::string, CValue, std::less<>> fields;
  std::vector<CValue> items;
  CSpan expression;
  int line = 0;
  /// A number; an error with the line if it is none.
  [[nodiscard]] Result<int64_t> number() const;
  [[nodiscard]] const CValue* field(std::string_view name) const;
};

/// `name[...] = value;` of one type.
struct CDefinition {
  CSpan type;  // all that stands before the name, with a struct's body
  std::string name;
  std::optional<int64_t> length;  // of an array with a number in its brackets
  bool is_array = false;
  bool is_function = false;  // a prototype
  std::optional<CValue> value;
  int line = 0;
};

/// Definitions and prototypes in their order; static_assert is skipped.
[[nodiscard]] Result<std::vector<CDefinition>> read_definitions(const CText& text);

/// A decimal or hexadecimal number with an optional sign.
[[nodiscard]] std::optional<int64_t> c_number(std::string_view text);

}  // namespace thimble::formats::axon
