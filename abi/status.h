#pragma once
// Status codes of the runtime and of kernel checks: an integer on the device, with a text in
// thimble_status_text. Rows of status.def: THIMBLE_STATUS(name, value, text).
#include <cstdint>

namespace thimble::abi {
enum class Status : int32_t {
#define THIMBLE_STATUS(name, value, text) name = value,
#include "abi/status.def"
#undef THIMBLE_STATUS
};
}  // namespace thimble::abi

/// Returns the Status of an expression from the enclosing function if it is not kOk.
#define THIMBLE_RETURN_IF_ERROR(...)                          \
  do {                                                        \
    const ::thimble::abi::Status error_ = (__VA_ARGS__);      \
    if (error_ != ::thimble::abi::Status::kOk) return error_; \
  } while (false)
