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
