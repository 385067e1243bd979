// SPDX-License-Identifier: Apache-2.0
// One function per grammar rule, one token of look-ahead, no recursion: the grammar has no nesting
// except lists. Graphs are built through Graph::add, so a
// text cannot create an invalid graph.

#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "ir/infer.h"
#include "ir/print.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace thimble::ir {
namespace {

using Kind = Token::Kind;

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : lexer_(text), file_(file) {}

  Result<Graph> run() {
    THIMBLE_CHECK(advance());
    THIMBLE_CHECK(expect_word("graph"));
    if (token_.kind != Kind::kGraph) return expected("@ and the graph's name");
    graph_.name = token_.value;
    THIMBLE_CHECK(advance());
    THIMBLE_CHECK(expect_mark('{'));
    while (!is_mark('}')) THIMBLE_CHECK(statement());
    THIMBLE_CHECK(advance());
    if (token_.kind != Kind::kEnd) return expected("the end of the text");
    const Status status = verify(graph_);
    if (!status.ok()) return prefixed(file_, status.error());
    return std::move(graph_);
  }

 private:
  // --- errors and single tokens

  Error at(const Token& token, const Error& error) const {
    return {error.kind,
            fmt::format("{}:{}:{}: {}", file_, token.line, token.column, error.message)};
  }
  Error expected(std::string_view what) const {
    if (token_.kind == Kind::kEnd) return at(token_, bad_input("end of text, expected {}", what));
    return at(token_, bad_input("found '{}', expected {}", token_.text.substr(0, 40), what));
  }
  Status advance() {
    auto token = lexer_.next();
    if (!token.ok()) {
      Token here;
      here.line = lexer_.line();
      here.column = lexer_.column();
      return at(here, token.error());
    }
    token_ = std::move(*token);
    return ok();
  }
  bool is_mark(char mark) const { return token_.kind == Kind::kMark && token_.text[0] == mark; }
  bool is_word(std::string_view word) const {
    return token_.kind == Kind::kWord && token_.text == word;
  }
  Status expect_mark(char mark) {
    if (!is_mark(mark)) return expected(fmt::format("'{}'", mark));
    return advance();
  }
  Status expect_word(std::string_view word) {
    if (!is_word(word)) return expected(fmt::format("'{}'", word));
    return advance();
  }
  /// Returns true if the next token is this mark, and consumes it.
  Result<bool> skip_mark(char mark) {
    if (!is_mark(mark)) return false;
    THIMBLE_CHECK(advance());
    return true;
  }
  Result<std::string> take_string() {
    if (token_.kind != Kind::kString) return expected("a string in double quotes");
    std::string value = std::move(token_.value);
    THIMBLE_CHECK(advance());
    return value;
  }

  // --- numbers and lists

  template <typename T>
  Result<T> number(std::string_view what) {
    const std::string_view text = token_.text;
    T value{};
    // The lexer returns `inf` and `nan` without a sign as words.
    if (token_.kind != Kind::kNumber && token_.kind != Kind::kWord) return expected(what);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      return at(token_, bad_input("'{}' is out of range", text.substr(0, 40)));
    }
    if (error != std::errc() || end != text.data() + text.size()) return expected(what);
    THIMBLE_CHECK(advance());
    return value;
  }
  Result<int64_t> integer() { return number<int64_t>("an integer"); }
  Result<int32_t> integer32() { return number<int32_t>("a 32-bit integer"); }
  Result<double> real() { return number<double>("a number"); }

  /// `open a,b,c close`, possibly empty.
  template <typename T>
  Result<std::vector<T>> list(char open, char close, Result<T> (Parser::*element)()) {
    std::vector<T> values;
    THIMBLE_CHECK(expect_mark(open));
    while (!is_mark(close)) {
      THIMBLE_TRY(T value, (this->*element)());
      values.push_back(value);
      THIMBLE_TRY(const bool more, skip_mark(','));
      if (!more) break;
    }
    THIMBLE_CHECK(expect_mark(close));
    return values;
  }

  // --- types

  Result<Type> type() {
    const Token start = token_;
    const auto dtype = dtype_from_name(token_.kind == Kind::kWord ? token_.text : "");
    if (!dtype) return expected("an element type such as f32 or i8");
    THIMBLE_CHECK(advance());
    Type type;
    type.dtype = *dtype;
    THIMBLE_TRY(type.shape, list('[', ']', &Parser::integer));
    if (is_word("order")) THIMBLE_CHECK(dim_order(type));
    if (is_word("quant")) THIMBLE_CHECK(quant(type));
    const Status status = check_type(type);
    if (!status.ok()) return at(start, status.error());
    return type;
  }

  Status dim_order(Type& type) {
    THIMBLE_CHECK(advance());
    const Token start = token_;
    THIMBLE_TRY(const std::vector<int64_t> dims, list('(', ')', &Parser::integer));
    for (const int64_t dim : dims) {
      if (dim < 0 || dim >= static_cast<int64_t>(kMaxRank)) {
        return at(start, bad_input("{} is not a dimension", dim));
      }
      type.dim_order.push_back(static_cast<uint8_t>(dim));
    }
    return ok();
  }

  Status quant(Type& type) {
    THIMBLE_CHECK(advance());
    THIMBLE_CHECK(expect_mark('('));
    Quant quant;
    if (is_word("axis")) {
      THIMBLE_CHECK(advance());
      THIMBLE_CHECK(expect_mark('='));
      THIMBLE_TRY(quant.axis, integer32());
      THIMBLE_CHECK(expect_mark(','));
      THIMBLE_TRY(quant.scale, list('[', ']', &Parser::real));
      THIMBLE_CHECK(expect_mark(','));
      THIMBLE_TRY(quant.zero_point, list('[', ']', &Parser::integer32));
    } else {
      THIMBLE_TRY(const double scale, real());
      THIMBLE_CHECK(expect_mark(','));
      THIMBLE_TRY(const int32_t zero_point, integer32());
      quant = per_tensor(scale, zero_point);
    }
    type.quant = std::move(quant);
    return expect_mark(')');
  }

  // --- statements

  Status statement() {
    if (is_word("input")) return input();
    if (is_word("const")) return initialized_value(/*is_state=*/false);
    if (is_word("output")) return output();
    if (is_word("state")) return initialized_value(/*is_state=*/true);
    if (is_word("update")) return update();
    if (token_.kind == Kind::kValue) return operation();
    return expected("'input', 'state', 'const', 'output', 'update', a value or '}'");
  }

  struct Declaration {
    Token token;
    std::string name;
    std::optional<Type> type;
  };
  /// `%name: type` with an unused name. Only the result of an operator may omit its type.
  Result<Declaration> declaration(bool needs_type) {
    if (token_.kind != Kind::kValue) return expected("a value such as %x");
    Declaration result{token_, token_.value, {}};
    if (names_.count(result.name) != 0) {
      return at(token_, bad_input("%{} is defined twice", result.name));
    }
    THIMBLE_CHECK(advance());
    if (!needs_type && is_mark('=')) return result;
    THIMBLE_CHECK(expect_mark(':'));
    THIMBLE_TRY(result.type, type());
    return result;
  }

  Status input() {
    THIMBLE_CHECK(advance());
    THIMBLE_TRY(Declaration made, declaration(/*needs_type=*/true));
    names_[made.name] = graph_.add_input(made.name, std::move(*made.type));
    return ok();
  }

  /// `update %state = %value`
  Status update() {
    THIMBLE_CHECK(advance());
    const Token token = token_;
    THIMBLE_TRY(const ValueId id, value());
    const std::vector<State>& states = graph_.states();
    size_t index = 0;
    while (index < states.size() && states[index].value != id) ++index;
    if (index == states.size()) return at(token, bad_input("%{} is not a state", token.value));
    if (!updated_.insert(index).second) {
      return at(token, bad_input("%{} is updated twice", token.value));
    }
    THIMBLE_CHECK(expect_mark('='));
    THIMBLE_TRY(const ValueId next, value());
    graph_.set_next(index, next);
    return ok();
  }

  /// A constant or a state: `WORD %name: type = 0x...`
  Status initialized_value(bool is_state) {
    THIMBLE_CHECK(advance());
    THIMBLE_TRY(Declaration made, declaration(/*needs_type=*/true));
    THIMBLE_CHECK(expect_mark('='));
    if (token_.kind != Kind::kHex) return expected("0x and the bytes in hex");
    Type& type = *made.type;
    THIMBLE_TRY(const std::string_view digits, hex_digits(type));
    auto tensor = std::make_shared<Tensor>(zeros(type.dtype, type.shape));
    for (size_t i = 0; i < tensor->bytes.size(); ++i) {
      const char* digit = &digits[2 * i % digits.size()];
      unsigned value = 0;
      std::from_chars(digit, digit + 2, value, 16);
      tensor->bytes[i] = static_cast<std::byte>(value);
    }
    THIMBLE_CHECK(advance());
    const ValueId id =
        is_state ? graph_.add_state(made.name, std::move(tensor), std::move(type.quant))
                 : graph_.add_constant(made.name, std::move(tensor), std::move(type.quant));
    if (!is_contiguous(type.dim_order)) graph_.value(id).type.dim_order = type.dim_order;
    names_[made.name] = id;
    return ok();
  }

  /// Returns the hex digits of a constant: all of them, or a repeated pattern, `0x00ff...`.
  /// The length is checked against the type before any allocation: the shape is untrusted input.
  Result<std::string_view> hex_digits(const Type& type) {
    constexpr size_t kRepeatedBytesMax = size_t{1} << 20;
    std::string_view digits = token_.text;
    const size_t needed = type.bytes() * 2;
    const std::string what = type_text(type.dtype, type.shape);
    if (!digits.ends_with("...")) {
      if (digits.size() == needed) return digits;
      return at(token_, bad_input("{} hex digits, {} requires {}", digits.size(), what, needed));
    }
    digits.remove_suffix(3);
    if (type.bytes() > kRepeatedBytesMax) {
      return at(token_, bad_input("{} is too large to be filled, at most {} bytes", what,
                                  kRepeatedBytesMax));
    }
    if (digits.empty() || digits.size() % 2 != 0 || needed % digits.size() != 0) {
      return at(token_, bad_input("{} repeated hex digits do not fill {}", digits.size(), what));
    }
    return digits;
  }

  Result<ValueId> value() {
    if (token_.kind != Kind::kValue) return expected("a value such as %x");
    const auto found = names_.find(token_.value);
    if (found == names_.end()) {
      return at(token_, bad_input("%{} is not defined", token_.value));
    }
    THIMBLE_CHECK(advance());
    return found->second;
  }

  Status output() {
    THIMBLE_CHECK(advance());
    THIMBLE_TRY(const ValueId id, value());
    graph_.add_output(id);
    return ok();
  }

  Result<ValueId> operand() {
    if (!is_word("_")) return value();
    THIMBLE_CHECK(advance());
    return kNoValue;
  }

  /// `%y: type = op(operands) {attributes} at ... in ... of ...`
  Status operation() {
    THIMBLE_TRY(Declaration made, declaration(/*needs_type=*/false));
    THIMBLE_CHECK(expect_mark('='));
    const Token op_token = token_;
    const auto kind = op_from_name(token_.kind == Kind::kWord ? token_.text : "");
    if (!kind) return expected("an operator");
    THIMBLE_CHECK(advance());
    THIMBLE_TRY(auto operands, list('(', ')', &Parser::operand));
    THIMBLE_TRY(Attrs attrs, attributes(*kind));
    THIMBLE_TRY(Source source, source_clauses());
    Graph::ResultHint hint{made.name, {}, {}};
    if (made.type) {
      hint.dim_order = made.type->dim_order;
      hint.quant = made.type->quant;
    }
    auto added = graph_.add(*kind, std::move(operands), std::move(attrs), std::move(source), hint);
    if (!added.ok()) return at(op_token, added.error());
    names_[made.name] = *added;
    return made.type ? check_result(made, graph_.type(*added)) : ok();
  }

  /// Checks the type in the text against the inferred type; a difference is an error in the text.
  Status check_result(const Declaration& made, const Type& type) {
    if (type.dtype != made.type->dtype || type.shape != made.type->shape) {
      return at(made.token, bad_input("%{} is declared {}, the operator gives {}", made.name,
                                      type_text(made.type->dtype, made.type->shape),
                                      type_text(type.dtype, type.shape)));
    }
    if (type.quant != made.type->quant) {
      return at(made.token, bad_input("%{} is declared without the quantization that the operator "
                                      "gives it",
                                      made.name));
    }
    return ok();
  }

  Result<Attrs> attributes(OpKind kind) {
    Attrs attrs;
    THIMBLE_TRY(bool more, skip_mark('{'));
    while (more) {
      const Token start = token_;
      const AttrInfo* info = token_.kind == Kind::kWord ? op_info(kind).attr(token_.text) : nullptr;
      if (info == nullptr) return expected(fmt::format("an attribute of {}", op_name(kind)));
      if (attrs.find_value(info->id) != nullptr) {
        return at(start, bad_input("attribute {} is given twice", info->name));
      }
      THIMBLE_CHECK(advance());
      THIMBLE_CHECK(expect_mark('='));
      if (info->kind == AttrInfo::Kind::kInts) {
        THIMBLE_TRY(auto values, list('[', ']', &Parser::integer));
        attrs.set_value(info->id, std::move(values));
      } else if (info->kind == AttrInfo::Kind::kDouble) {
        THIMBLE_TRY(const double value, real());
        attrs.set_value(info->id, value);
      } else {
        THIMBLE_TRY(const int64_t value, integer());
        attrs.set_value(info->id, value);
      }
      THIMBLE_TRY(more, skip_mark(','));
      if (!more) THIMBLE_CHECK(expect_mark('}'));
    }
    return attrs;
  }

  /// If the next token is `word`, reads it and the string after it into `text`.
  Status optional_clause(std::string_view word, std::string& text) {
    if (!is_word(word)) return ok();
    THIMBLE_CHECK(advance());
    THIMBLE_TRY(text, take_string());
    return ok();
  }

  Result<Source> source_clauses() {
    Source source;
    if (is_word("at")) {
      THIMBLE_CHECK(advance());
      THIMBLE_TRY(source.file, take_string());
      THIMBLE_TRY(const bool has_line, skip_mark(':'));
      if (has_line) {
        THIMBLE_TRY(source.line, integer32());
      }
      if (token_.kind == Kind::kString) {
        THIMBLE_TRY(source.text, take_string());
      }
    }
    THIMBLE_CHECK(optional_clause("in", source.module));
    THIMBLE_CHECK(optional_clause("of", source.target));
    THIMBLE_CHECK(optional_clause("as", source.node));
    return source;
  }

  Lexer lexer_;
  std::string_view file_;
  Token token_;
  Graph graph_;
  std::map<std::string, ValueId> names_;
  std::set<size_t> updated_;
};

}  // namespace

Result<Graph> parse(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).run();
}

}  // namespace thimble::ir
