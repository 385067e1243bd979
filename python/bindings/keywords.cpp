// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/keywords.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "capi/session.h"

namespace thimble::python {
namespace {

constexpr std::string_view kVerbs[] = {"compile", "fit", "compare", "run", "diff"};

/// Options whose Python form has another name: the keyword, or for flags the whole text.
struct Renamed {
  std::string_view option, python;
};
constexpr Renamed kRenamed[] = {
    {"calibrate", "calibration"},    {"concurrent", "exclusive=False"},
    {"exclusive", "exclusive=True"}, {"input", "inputs"},
    {"out-dir", "save()"},           {"output", "save()"},
    {"profile", "profile()"},        {"share-arena", "share_arena()"},
};

struct Option {
  std::string text;  // the keyword, or of a flag also its value: "names=True"
  bool is_flag = false;
  std::vector<std::string> values;  // allowed values; empty: any
};
using Options = std::map<std::string, Option, std::less<>>;

std::string text_of(const std::string& name, const std::string& keyword, std::string_view value) {
  const auto* const row = std::ranges::find(kRenamed, name, &Renamed::option);
  if (row != std::end(kRenamed)) return std::string(row->python);
  std::string text = keyword;
  std::ranges::replace(text, '-', '_');
  return text + std::string(value);
}

Options all_options() {
  Options all;
  for (const std::string_view verb : kVerbs) {
    for (const tools::OptionFacts& each : capi::options_of(verb)) {
      if (each.is_positional) continue;
      const std::string text = text_of(each.name, each.name, each.is_flag ? "=True" : "");
      all.try_emplace(each.name, Option{text, each.is_flag, each.values});
      if (each.negative.empty()) continue;
      all.try_emplace(each.negative, Option{text_of(each.negative, each.name, "=False"), true, {}});
    }
  }
  return all;
}

const Option* find_option(std::string_view name) {
  static const Options all = all_options();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns true for DATA.npz, N and PART: the placeholder of a value.
bool is_placeholder(std::string_view word) {
  const std::string_view stem = word.substr(0, word.find('.'));
  return !stem.empty() && std::ranges::all_of(stem, is_upper);
}

bool is_number(std::string_view word) {
  return !word.empty() && is_digit(word.front()) && std::ranges::count(word, '.') <= 1 &&
         std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
}

std::string literal(std::string_view value) {
  if (is_placeholder(value)) return "...";
  if (is_number(value)) return std::string(value);
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

/// Returns the position of "=" in NAME=VALUE, or npos; a condition such as "sqnr>=20" is no pair.
size_t pair_sign(std::string_view value) {
  const size_t at = value.find_first_of("=<>!");
  return at == std::string_view::npos || at == 0 || value[at] != '=' ? std::string_view::npos : at;
}

std::string value_text(std::string_view value) {
  const size_t at = pair_sign(value);
  if (at == std::string_view::npos) return literal(value);
  const std::string_view name = value.substr(0, at), rest = value.substr(at + 1);
  return fmt::format("{{\"{}\": {}}}", name, literal(rest));
}

/// Reads the text from left to right and writes the result.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (!starts_option() || !option()) result_ += text_[at_++];
    }
    close_call();
    return std::move(result_);
  }

 private:
  [[nodiscard]] char peek(size_t offset = 0) const {
    return at_ + offset < text_.size() ? text_[at_ + offset] : '\0';
  }

  [[nodiscard]] bool starts_option() const {
    if (peek() != '-' || peek(1) != '-' || !is_lower(peek(2))) return false;
    if (at_ == 0) return true;
    constexpr std::string_view kBefore = " (`'\"\n,;:[";
    return kBefore.find(text_[at_ - 1]) != std::string_view::npos;
  }

  /// Rewrites the option at this place. Returns false if there is none of this name.
  bool option() {
    size_t end = at_ + 2;
    while (end < text_.size() &&
           (is_lower(text_[end]) || is_digit(text_[end]) || text_[end] == '-')) {
      ++end;
    }
    const Option* const found = find_option(text_.substr(at_ + 2, end - at_ - 2));
    if (found == nullptr) return false;
    begin_argument(*found);
    at_ = end;
    result_ += found->text;
    if (!found->is_flag) {
      const std::optional<std::string> value = take_value(*found);
      if (value) result_ += "=" + value_text(*value);
    }
    last_end_ = result_.size();
    return true;
  }

  /// Returns the value of the option that ends here, and moves to its end.
  std::optional<std::string> take_value(const Option& option) {
    const char sign = peek();
    if (sign != '=' && sign != ' ') return std::nullopt;
    size_t begin = at_ + 1;
    if (text_.substr(begin).starts_with("= ")) begin += 2;  // "--time-limit = 0.1"
    const char quote = begin < text_.size() ? text_[begin] : '\0';
    if (quote == '\'' || quote == '"') {
      const size_t end = text_.find(quote, begin + 1);
      if (end == std::string_view::npos) return std::nullopt;
      at_ = end + 1;
      return std::string(text_.substr(begin + 1, end - begin - 1));
    }
    size_t end = begin;
    while (end < text_.size() && text_[end] != ' ' && text_[end] != '\n') ++end;
    while (end > begin &&
           std::string_view(":,;)`'\"").find(text_[end - 1]) != std::string_view::npos) {
      --end;
    }
    const std::string_view word = text_.substr(begin, end - begin);
    if (word.empty() || word.starts_with("--")) return std::nullopt;
    if (sign == ' ' && !is_value(option, word, end)) return std::nullopt;
    at_ = end;
    return std::string(word);
  }

  /// Returns true if a word that follows an option and a space is its value.
  [[nodiscard]] bool is_value(const Option& option, std::string_view word, size_t end) const {
    if (!option.values.empty()) {
      const std::string_view first = word.substr(0, word.find(','));
      return is_placeholder(word) || std::ranges::find(option.values, first) != option.values.end();
    }
    if (end == text_.size() || text_[end] == ':' || text_[end] == '\n') return true;
    if (is_placeholder(word)) return true;
    return !std::ranges::all_of(word, [](char c) { return is_lower(c) || c == '-'; });
  }

  /// Separates the arguments of "--emit c --optimize size", and begins the call of "compile
  /// --names".
  void begin_argument(const Option& option) {
    const bool is_next = last_end_ != 0 && result_.size() == last_end_ + 1 && result_.back() == ' ';
    if (is_next) {
      result_.insert(last_end_, ",");
      return;
    }
    close_call();
    if (option.text.ends_with("()")) return;
    for (const std::string_view verb : kVerbs) {
      if (!std::string_view(result_).ends_with(std::string(verb) + " ")) continue;
      size_t begin = result_.size() - verb.size() - 1;
      if (begin > 0 && std::isalnum(static_cast<unsigned char>(result_[begin - 1])) != 0) continue;
      constexpr std::string_view kProgram = "thimble ";
      if (std::string_view(result_).substr(0, begin).ends_with(kProgram)) begin -= kProgram.size();
      result_.replace(begin, std::string::npos, std::string(verb) + "(");
      call_is_open_ = true;
      return;
    }
  }

  /// Closes the call after its last argument.
  void close_call() {
    if (call_is_open_) result_.insert(last_end_, ")");
    call_is_open_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string result_;
  size_t last_end_ = 0;  // of the last argument in `result_`; 0: none
  bool call_is_open_ = false;
};

}  // namespace

std::string with_keywords(std::string_view text) {
  std::string result = Rewriter(text).run();
  constexpr std::string_view kList = "`thimble targets`";
  for (size_t at = 0; (at = result.find(kList, at)) != std::string::npos;) {
    result.replace(at, kList.size(), "`thimble.targets()`");
  }
  return result;
}

}  // namespace thimble::python
