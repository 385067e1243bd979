/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies ten kinds of texture on the Neutron NPU of an i.MX RT700. */
#include <string.h>

#include "NeutronDriver.h"
#include "board_init.h"
#include "cifarnet.h"
#include "fsl_debug_console.h"
#include "inputs.h"
#include "thimble_neutron.h"
#include "timer.h"

/* The NPU does not read flash: the file is copied to SRAM before it is loaded. */
static unsigned char file[cifarnet_PTE_BYTES] __attribute__((aligned(16)));
static unsigned char memory[cifarnet_MEMORY_BYTES] __attribute__((aligned(16)));
static thimble_model model;

static int32_t error; /* error code of the driver */
const thimble_neutron thimble_neutron_npu = {.gates_clock = 1, .error = &error};

static int failed(const char* what, thimble_status status) {
  if (status != 0) {
    PRINTF("%s: %s, driver error 0x%x\r\n", what, thimble_status_text(status), (unsigned)error);
  }
  return status != 0;
}

static int largest(const int8_t* scores) {
  int best = 0;
  for (int i = 1; i < 10; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

/* Returns the class of one image, or -1. */
static int classify(const int8_t* picture) {
  thimble_view y;
  int before = TIMER_GetTimeInUS();
  if (failed("input", thimble_set_input(&model, 0, picture, INPUT_SIZE))) return -1;
  if (failed("run", thimble_run(&model)) || failed("output", thimble_output(&model, 0, &y))) {
    return -1;
  }
  const int8_t* scores = y.data;
  int best = largest(scores);
  /* Softmax output in int8: -128 is 0, one step is 1/256. */
  PRINTF("class %d, %d of 256; %d us", best, scores[best] + 128, TIMER_GetTimeInUS() - before);
  return best;
}

static int run(void) {
  int right = 0;
  memcpy(file, cifarnet_pte, sizeof file);
  if (failed("init",
             thimble_init(&model, file, sizeof file, cifarnet_kernels(), memory, sizeof memory))) {
    return 1;
  }
  PRINTF("%u bytes of program, %u of memory\r\n", (unsigned)sizeof file, (unsigned)sizeof memory);
  for (int i = 0; i < INPUT_COUNT; ++i) {
    PRINTF("%d: ", i);
    int best = classify(inputs[i]);
    if (best < 0) return 1;
    PRINTF(", was %d\r\n", labels[i]);
    right += best == labels[i];
  }
  PRINTF("%d of %d correct\r\n", right, INPUT_COUNT);
  return 0;
}

int main(void) {
  BOARD_Init();
  TIMER_Init();
  NeutronError started = neutronInit();
  if (started != 0) {
    PRINTF("NPU initialization failed: 0x%x\r\n", (unsigned)started);
    return 1;
  }
  int result = run();
  neutronDeinit();
  return result;
}
