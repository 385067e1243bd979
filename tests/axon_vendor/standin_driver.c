/* SPDX-License-Identifier: Apache-2.0 */
#include "standin_driver.h"

#include <stdbool.h>

/* As wide as an address, like the vendor's words. */
typedef uintptr_t word;

typedef struct command_buffer {
  uint32_t length;
  const word* words;
  uint32_t segment;
} command_buffer;

axon_standin_log axon_standin;

/* A table of the driver that programs may refer to. */
const signed char axonpro_int8_packing_filter[4] = {1, 0, 0, 0};

int nrf_axon_init_command_buffer_info(command_buffer* buffer, const word* words, uint32_t length) {
  buffer->length = length;
  buffer->words = words;
  buffer->segment = 0;
  return length >= 2 && words[0] == 0x5d000001 && words[1] == length ? 0 : -17;
}

#ifndef AXON_STANDIN_WITHOUT_PLATFORM
bool nrf_axon_platform_reserve_for_user(void) {
  ++axon_standin.reserved;
  return true;
}

void nrf_axon_platform_free_reservation_from_user(void) {
  ++axon_standin.freed;
}
#endif

/* Executes the instruction at `at` and returns its length in words, or 0. */
static uint32_t step(const word* at) {
  if (at[0] == 0x5d000010) {
    const signed char* const in = (const signed char*)at[1];
    const signed char* const constant = (const signed char*)at[3];
    signed char* const out = (signed char*)at[5];
    uint32_t i = 0;
    for (uint32_t row = 0; row < at[6]; ++row) {
      for (uint32_t x = 0; x < at[7]; ++x, ++i) {
        const int sum = in[i % at[2]] + constant[i % at[4]] + (int)at[9];
        out[row * at[8] + x] = (signed char)(unsigned char)(sum & 0xFF);
      }
    }
    return 10;
  }
  if (at[0] == 0x5d000020) {
    int (*const function)(uint16_t, word*) = (int (*)(uint16_t, word*))at[1];
    short* const in = (short*)at[3];
    for (int i = 0; i < 4; ++i) in[i] = (short)(2048 * (i - 1));
    if (function((uint16_t)at[2], (word*)at + 3) != 0) return 0;
    signed char* const add_to = (signed char*)at[9];
    const signed char* const from = (const signed char*)at[4];
    for (int i = 0; i < 4; ++i) {
      add_to[i] = (signed char)(unsigned char)((add_to[i] + from[i]) & 255);
    }
    return 10;
  }
  return 0;
}

int nrf_axon_run_cmd_buf_sync(command_buffer* buffer, int wait_mode, bool keep) {
  ++axon_standin.runs;
  axon_standin.wait_mode = wait_mode;
  axon_standin.kept = keep;
  if (axon_standin.fail_with != 0) return axon_standin.fail_with;
  for (uint32_t at = 2; at < buffer->length;) {
    const uint32_t length = step(buffer->words + at);
    if (length == 0) return -17;
    at += length;
  }
  return 0;
}
