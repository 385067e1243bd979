// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_text.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace thimble::fuzz {
namespace {

struct Range {
  size_t begin, end;
};

std::string_view part(std::string_view text, Range range) {
  return text.substr(range.begin, range.end - range.begin);
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.-+").find(c) != std::string_view::npos;
}

bool is_number(std::string_view word) {
  return !word.empty() && (is_digit(word[0]) || (word[0] == '-' && word.size() > 1));
}

/// A number, a name or a part of a string. Empty near the end of the text.
Range random_word(std::string_view text, Random& random) {
  size_t begin = below(random, text.size());
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  size_t end = begin;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end};
}

/// A line with its end.
Range random_line(std::string_view text, Random& random) {
  const size_t at = below(random, text.size());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t end = text.find('\n', at);
  return {before == std::string_view::npos ? 0 : before + 1,
          end == std::string_view::npos ? text.size() : end + 1};
}

std::string other_number(std::string_view number, Random& random) {
  constexpr std::string_view kNumbers =
      "0 -1 1 2 7 127 128 255 65536 2147483647 -2147483648 4294967296 9223372036854775807 "
      "-9223372036854775808 18446744073709551616 0.5 -0.0 1e30 1e-45 1000000";
  if (random() % 2 == 0) return std::string(part(kNumbers, random_word(kNumbers, random)));
  std::string changed(number);
  char& digit = changed[below(random, changed.size())];
  if (is_digit(digit)) digit = static_cast<char>('0' + below(random, 10));
  return changed;
}

void change_word(std::string& text, std::string_view other, Random& random) {
  Range word = random_word(text, random);
  // Another number is more often valid than another name.
  for (int attempts = 0; attempts < 3 && !is_number(part(text, word)); ++attempts) {
    word = random_word(text, random);
  }
  const std::string old(part(text, word));
  if (old.empty()) return;
  std::string replacement;
  if (is_number(old)) {
    replacement = other_number(old, random);
  } else if (old == "true" || old == "false") {
    replacement = random() % 2 == 0 ? "false" : "true";
  } else {
    const std::string_view from = random() % 4 == 0 ? other : std::string_view(text);
    replacement = part(from, random_word(from, random));
    if (replacement.empty() || is_number(replacement)) return;
  }
  text.replace(word.begin, old.size(), replacement);
}

/// Replaces the value after a '=' by one that may be of another kind.
void change_value(std::string& text, Random& random) {
  constexpr std::string_view kValues[] = {"1",    "2",     "-0.5",  "nan", "inf",   "[]", "[1,2]",
                                          "true", "\"w\"", "[0.5]", "_",   "[[1]]", "{}", "0x00"};
  const size_t equals = text.find('=', below(random, text.size()));
  if (equals == std::string::npos) return;
  const size_t begin = text.find_first_not_of(' ', equals + 1);
  if (begin == std::string::npos) return;
  const size_t list_end = text[begin] == '[' ? text.find(']', begin) : begin;
  const size_t end = std::min(text.find_first_of(",}\n", list_end), text.size());
  text.replace(begin, end - begin, kValues[below(random, std::size(kValues))]);
}

void change_line(std::string& text, std::string_view other, Random& random) {
  const Range line = random_line(text, random);
  switch (random() % 3) {
    case 0:
      text.erase(line.begin, line.end - line.begin);
      return;
    case 1:
      text.insert(line.begin, std::string(part(text, line)));
      return;
    default:
      text.insert(line.begin, part(other, random_line(other, random)));
  }
}

}  // namespace

Bytes mutate_text(Bytes bytes, const Bytes& other, Random& random) {
  std::string text(as_text(bytes));
  for (size_t left = 1 + below(random, 3); left > 0 && !text.empty(); --left) {
    if (random() % 5 == 0) {
      change_line(text, as_text(other), random);
    } else if (random() % 8 == 0) {
      change_value(text, random);
    } else if (random() % 24 == 0) {
      text[below(random, text.size())] = static_cast<char>(random());
    } else {
      change_word(text, as_text(other), random);
    }
  }
  return copy_of(as_byte_view(text));
}

}  // namespace thimble::fuzz
