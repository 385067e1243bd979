// Status codes as sentences, from the same rows as the codes. A file of its own, so that a product
// that prints none has none of the text.

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
