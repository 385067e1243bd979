// SPDX-License-Identifier: Apache-2.0
// Replaces product.cpp: prints the status and the stack's high-water mark, and ends QEMU.

#include "firmware/apps/application/application.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/stack.h"
#include "firmware/common/text.h"

extern "C" void application_done(thimble_status status) {
  // Read first, before the calls of this function use more stack.
  const uint32_t stack = thimble::firmware::stack_high_water();
  char buffer[64];
  thimble::firmware::Text text(buffer, sizeof buffer);
  text << "status " << static_cast<uint32_t>(status) << " stack " << stack << "\n";
  thimble::firmware::host_print(text.text());
  thimble::firmware::host_exit(0);
}
