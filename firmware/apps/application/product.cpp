// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/application/application.h"

extern "C" void application_done(thimble_status) {
  for (;;) __asm__ volatile("wfi");
}
