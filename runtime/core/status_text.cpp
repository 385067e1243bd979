// SPDX-License-Identifier: Apache-2.0
// Texts of the status codes, from the same rows as the codes. They are in a file of their own, so
// that a product that does not print them does not link them.

#include "abi/status.h"
#include "runtime/include/thimble.h"

extern "C" const char* thimble_status_text(thimble_status status) {
  switch (status) {
#define THIMBLE_STATUS(name, value, text) \
  case value:                             \
    return text;
#include "abi/status.def"
#undef THIMBLE_STATUS
    default:
      return "unknown status";
  }
}
