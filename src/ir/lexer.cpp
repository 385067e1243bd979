// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include "base/control_characters.h"

namespace thimble::ir {
namespace {

constexpr bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

constexpr int hex_value(char letter) {
  if (is_digit(letter)) return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::skip_space() {
  while (position_ < text_.size()) {
    const char letter = text_[position_];
    if (letter == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (letter == ' ' || letter == '\t' || letter == '\r') {
      ++position_;
    } else if (letter == '/' && peek(1) == '/') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

void Lexer::take(Token& token, size_t length) {
  token.text = text_.substr(position_, length);
  position_ += length;
}

/// Reads from the opening quote to the closing quote.
Result<std::string> Lexer::string() {
  std::string result;
  ++position_;
  while (peek() != '"') {
    if (position_ >= text_.size() || peek() == '\n') return bad_input("a string without end");
    if (peek() != '\\') {
      result += text_[position_++];
      continue;
    }
    switch (peek(1)) {
      case '"':
      case '\\':
        result += peek(1);
        break;
      case 'n':
        result += '\n';
        break;
      case 't':
        result += '\t';
        break;
      case 'x': {
        const int high = hex_value(peek(2));
        const int low = hex_value(peek(3));
        if (high < 0 || low < 0) return bad_input("\\x without two hex digits");
        result += static_cast<char>(high * 16 + low);
        position_ += 2;
        break;
      }
      default:
        return bad_input("an unknown escape in a string, expected one of \\\" \\\\ \\n \\t \\x");
    }
    position_ += 2;
  }
  ++position_;
  return result;
}

/// Reads a word or a string after % or @.
Result<Token> Lexer::name(Token token) {
  const size_t start = position_++;
  if (peek() == '"') {
    THIMBLE_TRY(token.value, string());
  } else {
    while (is_word_letter(peek())) token.value += text_[position_++];
  }
  token.text = text_.substr(start, position_ - start);
  if (token.value.empty()) return bad_input("'{}' without a name", token.text);
  if (base::has_control_character(token.value)) {
    return bad_input("{}: a control character in a name", token.text);
  }
  return token;
}

Result<Token> Lexer::next() {
  skip_space();
  Token token;
  token.line = line_;
  token.column = column();
  if (position_ >= text_.size()) return token;

  const char letter = peek();
  size_t length = 0;
  if (letter == '%' || letter == '@') {
    token.kind = letter == '%' ? Token::Kind::kValue : Token::Kind::kGraph;
    return name(std::move(token));
  }
  if (letter == '"') {
    token.kind = Token::Kind::kString;
    const size_t start = position_;
    THIMBLE_TRY(token.value, string());
    token.text = text_.substr(start, position_ - start);
    return token;
  }
  if (letter == '0' && peek(1) == 'x') {
    while (hex_value(peek(2 + length)) >= 0) ++length;
    if (text_.substr(position_ + 2 + length, 3) == "...") length += 3;
    token.kind = Token::Kind::kHex;
    take(token, 2 + length);
    token.text.remove_prefix(2);
    return token;
  }
  if (is_digit(letter) || letter == '-') {
    const auto in_number = [&] {
      return is_word_letter(peek(length)) ||
             ((peek(length) == '-' || peek(length) == '+') && peek(length - 1) == 'e');
    };
    for (length = 1; in_number();) ++length;
    token.kind = Token::Kind::kNumber;
    take(token, length);
    return token;
  }
  if (is_word_letter(letter)) {
    while (is_word_letter(peek(length))) ++length;
    token.kind = Token::Kind::kWord;
    take(token, length);
    return token;
  }
  if (std::string_view("{}[]():,=").find(letter) != std::string_view::npos) {
    token.kind = Token::Kind::kMark;
    take(token, 1);
    return token;
  }
  return bad_input("unexpected byte 0x{:02x}", static_cast<unsigned char>(letter));
}

}  // namespace thimble::ir
