// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/formats/c_text.h"

#include <cctype>
#include <charconv>

namespace thimble::formats::axon {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<CText> read() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_, ++at_;
        line_start = true;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (starts("//")) {
        skip_to("\n");
      } else if (starts("/*")) {
        THIMBLE_CHECK(skip_comment());
      } else if (c == '#' && line_start) {
        directive();
      } else {
        line_start = false;
        THIMBLE_CHECK(token());
      }
    }
    if (blocks_.empty()) return std::move(result_);
    return bad_input("line {}: #if without #endif", line_);
  }

 private:
  [[nodiscard]] bool starts(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }
  void skip_to(std::string_view end) { at_ = std::min(text_.find(end, at_), text_.size()); }

  Status skip_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return bad_input("line {}: comment without end", line_);
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
    at_ += 2;
    return ok();
  }

  /// #if and #ifdef conditions are false: the text is read neither as C++ nor as part of one of the
  /// vendor's applications.
  void directive() {
    const size_t start = at_;
    skip_to("\n");
    const std::string_view line = text_.substr(start, at_ - start);
    size_t word = 1;
    while (word < line.size() && line[word] == ' ') ++word;
    size_t end = word;
    while (end < line.size() && is_name(line[end])) ++end;
    const std::string_view name = line.substr(word, end - word);
    if (name == "if" || name == "ifdef") blocks_.push_back(false);
    if (name == "ifndef") blocks_.push_back(true);
    if (name == "else" && !blocks_.empty()) blocks_.back() = !blocks_.back();
    if (name == "endif" && !blocks_.empty()) blocks_.pop_back();
    if (name == "define" && active()) define(line.substr(end));
  }

  void define(std::string_view rest) {
    size_t start = 0;
    while (start < rest.size() && rest[start] == ' ') ++start;
    size_t end = start;
    while (end < rest.size() && is_name(rest[end])) ++end;
    size_t value = end;
    while (value < rest.size() && rest[value] == ' ') ++value;
    std::string_view text = rest.substr(value);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    result_.defines[std::string(rest.substr(start, end - start))] = text;
  }

  [[nodiscard]] bool active() const {
    for (const bool block : blocks_) {
      if (!block) return false;
    }
    return true;
  }

  Status token() {
    const size_t start = at_;
    const char c = text_[at_];
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      if (at_ >= text_.size() || text_[at_] != '"') {
        return bad_input("line {}: string without end", line_);
      }
      ++at_;
    } else if (is_name(c)) {
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    if (active()) result_.tokens.push_back({std::string(text_.substr(start, at_ - start)), line_});
    return ok();
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<bool> blocks_;
  CText result_;
};

/// Parses tokens into definitions.
class Parser {
 public:
  explicit Parser(const std::vector<CToken>& tokens) : tokens_(tokens) {}

  Result<std::vector<CDefinition>> parse() {
    std::vector<CDefinition> definitions;
    while (at_ < tokens_.size()) {
      if (here(";")) {
        ++at_;
        continue;
      }
      if (here("static_assert") || here("_Static_assert")) {
        while (at_ < tokens_.size() && !here(";")) ++at_;
        continue;
      }
      THIMBLE_TRY(CDefinition definition, one());
      definitions.push_back(std::move(definition));
    }
    return definitions;
  }

 private:
  [[nodiscard]] bool here(std::string_view what) const {
    return at_ < tokens_.size() && tokens_[at_].is(what);
  }
  [[nodiscard]] int line() const {
    return tokens_.empty() ? 0 : tokens_[std::min(at_, tokens_.size() - 1)].line;
  }
  [[nodiscard]] Error expected(std::string_view what) const {
    return bad_input("line {}: {} expected, {} found", line(), what,
                     at_ < tokens_.size() ? tokens_[at_].text : "the end");
  }

  /// Returns the tokens between an opening token and its closing token, without these two.
  Result<CSpan> between(std::string_view open, std::string_view close) {
    CSpan span;
    int depth = 1;
    for (++at_; at_ < tokens_.size(); ++at_) {
      if (here(open)) ++depth;
      if (here(close) && --depth == 0) {
        ++at_;
        return span;
      }
      span.push_back(tokens_[at_]);
    }
    return expected(close);
  }

  Result<CDefinition> one() {
    CDefinition definition;
    definition.line = line();
    // The type: all tokens up to the name, which precedes [, =, ( or ;.
    while (at_ < tokens_.size() && !here("[") && !here("=") && !here("(") && !here(";")) {
      const bool body = here("{");
      if (!body) {
        definition.type.push_back(tokens_[at_++]);
        continue;
      }
      definition.type.push_back(tokens_[at_]);
      THIMBLE_TRY(const CSpan span, between("{", "}"));
      definition.type.insert(definition.type.end(), span.begin(), span.end());
      definition.type.push_back({"}", line()});
    }
    if (definition.type.empty()) return expected("a definition");
    definition.name = definition.type.back().text;
    definition.type.pop_back();
    if (here("(")) {
      THIMBLE_TRY([[maybe_unused]] const CSpan arguments, between("(", ")"));
      definition.is_function = true;
    }
    while (here("[")) {
      THIMBLE_TRY(const CSpan length, between("[", "]"));
      definition.is_array = true;
      if (length.size() == 1) definition.length = c_number(length[0].text);
    }
    if (here("=")) {
      ++at_;
      THIMBLE_TRY(definition.value, value(0));
    }
    if (!here(";")) return expected(";");
    ++at_;
    return definition;
  }

  Result<CValue> value(int depth) {
    constexpr int kDepthMax = 8;
    CValue value;
    value.line = line();
    if (!here("{")) return expression(std::move(value));
    if (depth == kDepthMax) return expected("fewer braces");
    ++at_;
    while (!here("}")) {
      std::string field;
      if (here(".")) {
        if (at_ + 2 >= tokens_.size() || !tokens_[at_ + 2].is("=")) return expected("a field");
        field = tokens_[at_ + 1].text;
        at_ += 3;
      }
      THIMBLE_TRY(CValue item, this->value(depth + 1));
      if (field.empty()) {
        value.items.push_back(std::move(item));
      } else {
        value.fields[field] = std::move(item);
      }
      if (here(",")) {
        ++at_;
      } else if (!here("}")) {
        return expected("}");
      }
    }
    ++at_;
    return value;
  }

  Result<CValue> expression(CValue value) {
    int depth = 0;
    while (at_ < tokens_.size()) {
      if (depth == 0 && (here(",") || here("}") || here(";"))) break;
      if (here("(")) ++depth;
      if (here(")")) --depth;
      value.expression.push_back(tokens_[at_++]);
    }
    if (value.expression.empty() || depth != 0) return expected("a value");
    return value;
  }

  const std::vector<CToken>& tokens_;
  size_t at_ = 0;
};

}  // namespace

std::optional<int64_t> c_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  while (!text.empty() &&
         (text.back() == 'u' || text.back() == 'U' || text.back() == 'l' || text.back() == 'L')) {
    text.remove_suffix(1);
  }
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  constexpr uint64_t kMax = uint64_t{1} << 62;
  if (text.empty() || error != std::errc() || last != end || value > kMax) return std::nullopt;
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

Result<int64_t> CValue::number() const {
  std::string text;
  for (const CToken& token : expression) text += token.text;
  const std::optional<int64_t> value = c_number(text);
  if (value) return *value;
  return bad_input("line {}: a number expected, {} found", line, text.empty() ? "{}" : text);
}

const CValue* CValue::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

Result<CText> read_c_text(std::string_view text) {
  return Reader(text).read();
}

Result<std::vector<CDefinition>> read_definitions(const CText& text) {
  return Parser(text.tokens).parse();
}

}  // namespace thimble::formats::axon
