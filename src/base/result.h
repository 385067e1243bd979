// SPDX-License-Identifier: Apache-2.0
#pragma once
// Result<T>: a value or an Error. No exception crosses a folder border.
//
// There are three kinds of failure: bad input (exit code 2), a model that the target does not
// support (exit code 1), and a bug in Thimble. A bug is an assert and never an Error. A cancelled
// operation (cancel.h) also returns an Error.

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace thimble {

enum class ErrorKind { kBadInput, kUnsupported, kCancelled };

/// An operator that a target does not support.
struct RefusedOp {
  std::string op;      // "aten.grid_sampler_2d.default"
  std::string source;  // "warp.py:41"; empty if the export has no source lines
  std::string text;    // the line: "y = F.grid_sample(x, grid)"
  std::string module;  // "stn.warp"; may be empty
  std::string reason;
};

/// The facts of a refusal, for callers that do not read messages.
struct ErrorFacts {
  std::string memory;           // the memory that is too small: "sram"; empty: another reason
  int64_t needed_bytes = 0;     // in this memory
  int64_t available_bytes = 0;  // in this memory
  std::vector<std::string> suggestions;  // ways to compile the model that fit
  std::vector<RefusedOp> ops;
};

/// A located message: what was found and what was expected. Lower case, no full stop.
struct Error {
  ErrorKind kind = ErrorKind::kBadInput;
  std::string message;
  std::shared_ptr<const ErrorFacts> facts = {};  // may be null
};

/// Returns an Error of `kind` with the formatted message.
[[nodiscard]] Error make_error(ErrorKind kind, fmt::string_view format, fmt::format_args arguments);

template <typename... Args>
[[nodiscard]] Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorKind::kBadInput, format, fmt::make_format_args(args...));
}
template <typename... Args>
[[nodiscard]] Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorKind::kUnsupported, format, fmt::make_format_args(args...));
}

/// Returns an `unsupported` error with facts.
[[nodiscard]] Error refusal(std::string message, ErrorFacts facts);

/// Returns the error with "name: " before its message.
[[nodiscard]] Error prefixed(std::string_view name, const Error& error);

/// An Error on the heap, or none. It keeps the code for errors, which are rare, out of the callers.
class Failure {
 public:
  Failure() = default;
  explicit Failure(Error error);
  explicit operator bool() const { return error_ != nullptr; }
  const Error& operator*() const { return *error_; }

 private:
  struct Deleter {
    void operator()(const Error* error) const;
  };
  std::unique_ptr<const Error, Deleter> error_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // The constructors are implicit, so that `return value;` and `return error;` work.
  Result(T value) : value_(std::move(value)) {}              // NOLINT
  Result(Error error) : failure_(std::move(error)) {}        // NOLINT
  Result(Failure failure) : failure_(std::move(failure)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }
  T& operator*() {
    assert(ok());
    return *value_;
  }
  const T& operator*() const {
    assert(ok());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *failure_;
  }
  /// Moves the error out, for the Result of the calling function.
  [[nodiscard]] Failure take_failure() { return std::move(failure_); }

 private:
  std::optional<T> value_;
  Failure failure_;
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
  if (!result.ok()) return result.take_failure();         \
  declaration = std::move(*result)
/// `THIMBLE_CHECK(f());` returns the error of a Status.
#define THIMBLE_CHECK(expression)                   \
  do {                                              \
    auto status = (expression);                     \
    if (!status.ok()) return status.take_failure(); \
  } while (false)
