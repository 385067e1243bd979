// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace thimble {

Error make_error(ErrorKind kind, fmt::string_view format, fmt::format_args arguments) {
  return {kind, fmt::vformat(format, arguments)};
}

Error prefixed(std::string_view name, const Error& error) {
  return {error.kind, fmt::format("{}: {}", name, error.message), error.facts};
}

Error refusal(std::string message, ErrorFacts facts) {
  return {ErrorKind::kUnsupported, std::move(message),
          std::make_shared<const ErrorFacts>(std::move(facts))};
}

Failure::Failure(Error error) : error_(new Error(std::move(error))) {}

void Failure::Deleter::operator()(const Error* error) const {
  delete error;
}

}  // namespace thimble
