// SPDX-License-Identifier: Apache-2.0
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

/// Evaluates a Status; if it is not kOk, the enclosing function returns it.
#define THIMBLE_RETURN_IF_ERROR(...)                                            \
  do {                                                                          \
    const ::thimble::abi::Status returned_status = (__VA_ARGS__);               \
    if (returned_status != ::thimble::abi::Status::kOk) return returned_status; \
  } while (false)
