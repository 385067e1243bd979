#pragma once
// Result<T>: a value or an Error. No exception crosses a folder border.
//
// There are three kinds of failure: bad input (exit code 2), a model that the target does not
// support (exit code 1), and a bug in Thimble. A bug is an assert and never an Error.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace thimble {

enum class ErrorKind { kBadInput, kUnsupported };

/// A located message: what was found and what was expected. Lower case, no full stop.
struct Error {
  ErrorKind kind = ErrorKind::kBadInput;
  std::string message;
};

template <typename... Args>
[[nodiscard]] Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::kBadInput, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[nodiscard]] Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::kUnsupported, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit, so `return value;` works
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit, so `return error;` works

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& operator*() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const T& operator*() const {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Result of an operation that returns no value.
struct Done {};
using Status = Result<Done>;
inline Status ok() {
  return Done{};
}

}  // namespace thimble

#define THIMBLE_CONCAT2(a, b) a##b
#define THIMBLE_CONCAT(a, b) THIMBLE_CONCAT2(a, b)
/// `THIMBLE_TRY(auto x, f());` binds the value or returns the error from the enclosing function.
#define THIMBLE_TRY(declaration, expression) \
  THIMBLE_TRY_IMPL(THIMBLE_CONCAT(result_, __LINE__), declaration, expression)
#define THIMBLE_TRY_IMPL(result, declaration, expression) \
  auto result = (expression);                             \
  if (!result.ok()) return result.error();                \
  declaration = std::move(*result)
/// `THIMBLE_CHECK(f());` returns the error of a Status.
#define THIMBLE_CHECK(expression)            \
  do {                                       \
    auto status = (expression);              \
    if (!status.ok()) return status.error(); \
  } while (false)
