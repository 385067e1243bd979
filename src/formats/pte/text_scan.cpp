#include "formats/pte/text_scan.h"

#include <bit>

namespace thimble::formats::pte {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':' || c == '.' || c == '-' || c == '+';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Error LineScanner::fail(std::string_view what) const {
  return bad_input("{}: {}", where_, what);
}

Status LineScanner::expect_end() const {
  if (at_end()) return ok();
  return fail(fmt::format("unexpected '{}'", rest_.substr(0, 20)));
}

std::string_view LineScanner::word() {
  size_t length = 0;
  while (length < rest_.size() && is_word_char(rest_[length])) ++length;
  const std::string_view out = rest_.substr(0, length);
  rest_.remove_prefix(length);
  skip_blanks();
  return out;
}

bool LineScanner::accept(std::string_view wanted) {
  const std::string_view before = rest_;
  if (word() == wanted) return true;
  rest_ = before;
  return false;
}

Status LineScanner::expect(std::string_view wanted) {
  if (accept(wanted)) return ok();
  return fail(fmt::format("expected '{}'", wanted));
}

Result<std::string> LineScanner::quoted() {
  if (rest_.empty() || rest_[0] != '"') return fail("expected a string in quotes");
  std::string out;
  size_t i = 1;
  while (i < rest_.size() && rest_[i] != '"') {
    if (rest_[i] != '\\') {
      out += rest_[i++];
      continue;
    }
    if (i + 1 < rest_.size() && (rest_[i + 1] == '"' || rest_[i + 1] == '\\')) {
      out += rest_[i + 1];
      i += 2;
      continue;
    }
    const bool is_code = i + 3 < rest_.size() && rest_[i + 1] == 'x' &&
                         hex_digit(rest_[i + 2]) >= 0 && hex_digit(rest_[i + 3]) >= 0;
    if (!is_code) return fail("unknown escape in a string");
    out += static_cast<char>(16 * hex_digit(rest_[i + 2]) + hex_digit(rest_[i + 3]));
    i += 4;
  }
  if (i >= rest_.size()) return fail("a string does not end");
  rest_.remove_prefix(i + 1);
  skip_blanks();
  return out;
}

Result<double> LineScanner::floating() {
  constexpr std::string_view kBits = "bits:";
  std::string_view digits = word();
  if (digits.substr(0, kBits.size()) == kBits) {
    digits.remove_prefix(kBits.size());
    uint64_t bits = 0;
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, bits, 16);
    if (error == std::errc() && end == last && !digits.empty()) return std::bit_cast<double>(bits);
  } else {
    double value = 0;
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    if (error == std::errc() && end == last && !digits.empty()) return value;
  }
  return fail(fmt::format("'{}' is not a number", digits));
}

Result<std::vector<double>> LineScanner::floatings() {
  std::vector<double> items;
  THIMBLE_CHECK(list([&]() -> Status {
    THIMBLE_TRY(const double item, floating());
    items.push_back(item);
    return ok();
  }));
  return items;
}

Status LineScanner::hex(Bytes& to) {
  const std::string_view digits = word();
  if (digits.size() % 2 != 0) return fail("an odd number of hex digits");
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]);
    const int low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return fail(fmt::format("'{}' is not hex", digits.substr(i, 2)));
    to.push_back(static_cast<std::byte>(16 * high + low));
  }
  return ok();
}

bool LineScanner::accept_char(char c) {
  if (rest_.empty() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  skip_blanks();
  return true;
}

void LineScanner::skip_blanks() {
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) {
    rest_.remove_prefix(1);
  }
  if (!rest_.empty() && rest_[0] == '#') rest_ = {};
}

}  // namespace thimble::formats::pte
