#pragma once
// The tokens of one line of the text form: words, numbers, "strings", [lists], # comments.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::pte {

class LineScanner {
 public:
  /// `where` is the start of every message: "model.txt:12".
  LineScanner(std::string_view line, std::string where) : rest_(line), where_(std::move(where)) {
    skip_blanks();
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] Error fail(std::string_view what) const;
  [[nodiscard]] Status expect_end() const;

  /// Returns a word of letters, digits and `_ : . - +`; empty if another character follows.
  [[nodiscard]] std::string_view word();
  /// Consumes `word` if it is the next word, and returns true if so.
  [[nodiscard]] bool accept(std::string_view word);
  [[nodiscard]] Status expect(std::string_view word);
  [[nodiscard]] Result<std::string> quoted();
  [[nodiscard]] Result<double> floating();
  [[nodiscard]] Status hex(Bytes& to);

  template <typename T>
  [[nodiscard]] Result<T> integer() {
    const std::string_view digits = word();
    T value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
      return fail(fmt::format("'{}' is not an integer of {} bits", digits, 8 * sizeof(T)));
    }
    return value;
  }

  template <typename T>
  [[nodiscard]] Result<std::vector<T>> integers() {
    std::vector<T> items;
    THIMBLE_CHECK(list([&]() -> Status {
      THIMBLE_TRY(const T item, integer<T>());
      items.push_back(item);
      return ok();
    }));
    return items;
  }
  [[nodiscard]] Result<std::vector<double>> floatings();

 private:
  template <typename Item>
  [[nodiscard]] Status list(Item item) {
    if (!accept_char('[')) return fail("expected '['");
    if (accept_char(']')) return ok();
    do {
      THIMBLE_CHECK(item());
    } while (accept_char(','));
    if (!accept_char(']')) return fail("expected ']'");
    return ok();
  }
  [[nodiscard]] bool accept_char(char c);
  void skip_blanks();

  std::string_view rest_;
  std::string where_;
};

}  // namespace thimble::formats::pte
