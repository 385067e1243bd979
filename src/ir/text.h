// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens of the text form, shared by printer and parser. The parser reads only tokens.

#include <string>
#include <string_view>

#include "base/result.h"

namespace thimble::ir {

[[nodiscard]] constexpr bool is_word_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '.';
}

/// Returns the shortest text that parses to the same bits; `inf`, `-inf`, `nan`.
[[nodiscard]] std::string double_text(double value);

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,    // graph, f32, _, x_zp
    kNumber,  // -3, 0.5, 1e-07, -inf; `text` holds the digits; the parser converts them
    kHex,     // 0x00ff, 0x00...; `text` without 0x
    kString,  // `value` unescaped
    kValue,   // %name; `value` is the name
    kGraph,   // @name; `value` is the name
    kMark,    // one of { } [ ] ( ) : , =
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  // characters of the token in the source
  std::string value;
  int line = 1;
  int column = 1;  // in bytes, starts at 1
};

/// Splits the text. White space and `// ...` to the end of the line separate tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// Returns the next token. An error describes what is wrong at line(), column().
  [[nodiscard]] Result<Token> next();
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] int column() const { return static_cast<int>(position_ - line_start_) + 1; }

 private:
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void skip_space();
  void take(Token& token, size_t length);
  Result<std::string> string();
  Result<Token> name(Token token);

  std::string_view text_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace thimble::ir
