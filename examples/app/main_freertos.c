/* SPDX-License-Identifier: Apache-2.0 */
/* As main.c, in a task of FreeRTOS, while another task counts its turns: the model needs a stack of
 * its own, and nothing else of the operating system. */
#include <FreeRTOS.h>
#include <task.h>

#include "board.h"
#include "digit.h"
#include "digits.h"

/* The network needs the stack that `thimble compile` prints; the rest is for the calls of this
 * file and for what an interrupt saves. */
#define STACK_WORDS 512

static unsigned char memory[digits_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;
static StackType_t model_stack[STACK_WORDS], counter_stack[configMINIMAL_STACK_SIZE];
static StaticTask_t model_task, counter_task;
static volatile uint32_t turns;

static void count(void* unused) {
  (void)unused;
  for (;;) {
    turns = turns + 1;
    vTaskDelay(1);
  }
}

static int infer(void) {
  thimble_view y;
  thimble_status status =
      thimble_init(&model, digits_pte, digits_pte_bytes, digits_kernels(), memory, sizeof memory);
  if (status == 0) status = thimble_set_input(&model, 0, digit, sizeof digit);
  if (status == 0) status = thimble_run(&model);
  if (status == 0) status = thimble_output(&model, 0, &y);
  if (status != 0) {
    uart_text(thimble_status_text(status));
    uart_text("\n");
    return 1;
  }
  const float* score = y.data;
  int best = 0;
  for (int i = 1; i < y.sizes[1]; ++i) {
    if (score[i] > score[best]) best = i;
  }
  uart_text("digit ");
  uart_number(best);
  uart_text("\noutput ");
  uart_hex(y.data, (uint32_t)y.bytes);
  uart_text("\nstack ");
  uart_number((int32_t)((STACK_WORDS - uxTaskGetStackHighWaterMark(NULL)) * sizeof(StackType_t)));
  uart_text(" B\n");
  return 0;
}

static void run(void* unused) {
  (void)unused;
  const int failed = infer();
  while (turns < 3) vTaskDelay(1); /* the scheduler runs the other task */
  board_end(failed);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char* name) {
  (void)task;
  uart_text("stack overflow in ");
  uart_text(name);
  uart_text("\n");
  board_end(1);
}

int main(void) {
  xTaskCreateStatic(run, "model", STACK_WORDS, NULL, 1, model_stack, &model_task);
  xTaskCreateStatic(count, "count", configMINIMAL_STACK_SIZE, NULL, 2, counter_stack,
                    &counter_task);
  vTaskStartScheduler();
  return 1; /* the scheduler did not start */
}
