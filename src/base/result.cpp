#include "base/result.h"

namespace thimble {

Error make_error(ErrorKind kind, fmt::string_view format, fmt::format_args arguments) {
  return {kind, fmt::vformat(format, arguments)};
}

Failure::Failure(Error error) : error_(new Error(std::move(error))) {}

void Failure::destroy() {
  delete error_;
}

}  // namespace thimble
