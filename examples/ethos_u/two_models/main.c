/* SPDX-License-Identifier: Apache-2.0 */
/* Runs two networks in turn on one NPU. Both tables of kernels refer to the object thimble_npu; the
 * delegate resets the NPU before each stream, so the networks need not know of each other. */
#include "board.h"
#include "digit.h"
#include "digits_cnn.h"
#include "hello_sin.h"
#include "npu.h"

static unsigned char digits_memory[digits_cnn_MEMORY_BYTES] __attribute__((aligned(16)));
static unsigned char sin_memory[hello_sin_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model digits, sin_model;
static const float angle[1] = {1.0f};

static int run(thimble_model* model, const void* input, size_t bytes) {
  thimble_view y;
  thimble_status status = thimble_set_input(model, 0, input, bytes);
  if (status == 0) status = thimble_run(model);
  if (status == 0) status = thimble_output(model, 0, &y);
  if (status != 0) {
    uart_text(thimble_status_text(status));
    uart_text("\n");
    return 1;
  }
  uart_text("output ");
  uart_hex(y.data, (uint32_t)y.bytes);
  uart_text("\n");
  return 0;
}

int main(void) {
  const npu_memory memories[] = {{digits_cnn_pte, digits_cnn_pte_bytes, 1},
                                 {digits_memory, sizeof digits_memory, 0},
                                 {hello_sin_pte, hello_sin_pte_bytes, 1},
                                 {sin_memory, sizeof sin_memory, 0}};
  if (npu_start(memories, 4) != 0) {
    uart_text("npu_start failed\n");
    return 1;
  }
  if (thimble_init(&digits, digits_cnn_pte, digits_cnn_pte_bytes, digits_cnn_kernels(),
                   digits_memory, sizeof digits_memory) != 0 ||
      thimble_init(&sin_model, hello_sin_pte, hello_sin_pte_bytes, hello_sin_kernels(), sin_memory,
                   sizeof sin_memory) != 0) {
    uart_text("init failed\n");
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    if (run(&digits, digit, sizeof digit) != 0) return 1;
    if (run(&sin_model, angle, sizeof angle) != 0) return 1;
  }
  return 0;
}
