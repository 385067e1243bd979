// SPDX-License-Identifier: Apache-2.0
#include "import/expression.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace thimble::import_pt2 {
namespace {

// Upper bound of the sizes, strides and offsets of a model. Sums of smaller numbers do not
// overflow.
constexpr int64_t kNumberMax = int64_t{1} << 48;
constexpr int kDepthMax = 64;  // nesting depth of parentheses and calls

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// A recursive-descent parser that evaluates as it reads.
class Parser {
 public:
  Parser(std::string_view text, const SymbolValues* values) : text_(text), values_(values) {}

  Result<int64_t> parse() {
    THIMBLE_TRY(const int64_t value, sum(0));
    skip_blanks();
    if (at_ != text_.size()) return error("unexpected text");
    return value;
  }
  [[nodiscard]] const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  Error error(std::string_view what) const {
    return bad_input("cannot evaluate the size '{}': {} at position {}", text_, what, at_ + 1);
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<int64_t> checked(int64_t value) const {
    if (value > kNumberMax || value < -kNumberMax) return error("the number is too large");
    return value;
  }
  Result<int64_t> multiply(int64_t a, int64_t b) const {
    if (a != 0 && std::abs(b) > kNumberMax / std::abs(a)) return error("the number is too large");
    return a * b;
  }

  Result<int64_t> sum(int depth) {
    THIMBLE_TRY(int64_t value, product(depth));
    while (true) {
      const bool plus = accept("+");
      if (!plus && !accept("-")) return value;
      THIMBLE_TRY(const int64_t right, product(depth));
      THIMBLE_TRY(value, checked(plus ? value + right : value - right));
    }
  }

  Result<int64_t> product(int depth) {
    THIMBLE_TRY(int64_t value, power(depth));
    while (true) {
      std::string_view function;
      if (accept("//")) {
        function = "FloorDiv";
      } else if (accept("%")) {
        function = "Mod";
      } else if (accept("*")) {
        function = "Mul";
      } else {
        return value;
      }
      THIMBLE_TRY(const int64_t right, power(depth));
      THIMBLE_TRY(value, apply(function, value, right));
    }
  }

  Result<int64_t> power(int depth) {
    if (accept("-")) {
      if (depth >= kDepthMax) return error("too deep");
      THIMBLE_TRY(const int64_t value, power(depth + 1));
      return -value;
    }
    THIMBLE_TRY(const int64_t base, atom(depth));
    if (!accept("**")) return base;
    THIMBLE_TRY(const int64_t exponent, atom(depth));
    return apply("Pow", base, exponent);
  }

  Result<int64_t> atom(int depth) {
    if (depth >= kDepthMax) return error("too deep");
    if (accept("(")) {
      THIMBLE_TRY(const int64_t value, sum(depth + 1));
      if (!accept(")")) return error("expected ')'");
      return value;
    }
    const std::string_view name = word();
    if (name.empty()) return error("expected a number or a symbol");
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) return number(name);
    if (!accept("(")) return symbol(name);
    if (name == "Symbol") return quoted_symbol();
    return call(name, depth);
  }

  Result<int64_t> number(std::string_view digits) const {
    int64_t value = 0;
    for (const char c : digits) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return error("expected a number");
      THIMBLE_TRY(value, checked(value * 10 + (c - '0')));
    }
    return value;
  }

  Result<int64_t> symbol(std::string_view name) {
    if (std::find(symbols_.begin(), symbols_.end(), name) == symbols_.end()) {
      symbols_.emplace_back(name);
    }
    if (values_ == nullptr) return 1;  // only the symbol names are collected
    const auto found = values_->find(name);
    if (found == values_->end()) return error(fmt::format("{} has no value", name));
    return found->second;
  }

  /// Parses `'s0', positive=True, integer=True)`.
  Result<int64_t> quoted_symbol() {
    if (!accept("'") && !accept("\"")) return error("expected a quoted name");
    const std::string_view name = word();
    if (!accept("'") && !accept("\"")) return error("expected the end of the name");
    while (accept(",")) {
      word();
      if (!accept("=")) return error("expected '='");
      word();
    }
    if (!accept(")")) return error("expected ')'");
    return symbol(name);
  }

  Result<int64_t> call(std::string_view function, int depth) {
    THIMBLE_TRY(int64_t value, sum(depth + 1));
    if (function == "Integer") {
      if (!accept(")")) return error("expected ')'");
      return value;
    }
    bool is_applied = false;
    while (accept(",")) {
      THIMBLE_TRY(const int64_t right, sum(depth + 1));
      THIMBLE_TRY(value, apply(function, value, right));
      is_applied = true;
    }
    if (!accept(")")) return error("expected ')'");
    if (!is_applied) return error(fmt::format("function {} with one argument", function));
    return value;
  }

  Result<int64_t> apply(std::string_view function, int64_t a, int64_t b) const {
    if (function == "Add") return checked(a + b);
    if (function == "Mul") return multiply(a, b);
    if (function == "Max") return std::max(a, b);
    if (function == "Min") return std::min(a, b);
    if (function == "Pow") return raise(a, b);
    if (function == "FloorDiv" || function == "CleanDiv" || function == "Mod" ||
        function == "PythonMod") {
      if (values_ == nullptr) return 1;
      if (b == 0) return error("division by zero");
      const int64_t quotient = floor_divide(a, b);
      return function.ends_with("Div") ? quotient : a - quotient * b;
    }
    return error(fmt::format("unknown function {}", function));
  }

  Result<int64_t> raise(int64_t base, int64_t exponent) const {
    if (exponent < 0 || exponent > 48) return error("the exponent is out of range");
    int64_t value = 1;
    for (int64_t i = 0; i < exponent; ++i) {
      THIMBLE_TRY(value, multiply(value, base));
    }
    return value;
  }

  std::string_view text_;
  const SymbolValues* values_;
  size_t at_ = 0;
  std::vector<std::string> symbols_;
};

}  // namespace

Result<int64_t> evaluate(std::string_view expression, const SymbolValues& symbols) {
  return Parser(expression, &symbols).parse();
}

Result<std::vector<std::string>> symbols_of(std::string_view expression) {
  Parser parser(expression, nullptr);
  THIMBLE_CHECK(parser.parse());
  return parser.symbols();
}

}  // namespace thimble::import_pt2
