// SPDX-License-Identifier: Apache-2.0
// A minimal product with one model: no semihosting, no printing, no file system. Its flash and RAM
// are the cost of Thimble. tests/firmware/application_test.py links it with a model, its kernels
// and the runtime without trace hook. The linker script sets the size of the model's memory.

#include <cstring>

#include "firmware/apps/application/application.h"
#include "firmware/common/stack.h"
#include "runtime/include/thimble.h"

extern "C" {
extern const uint8_t model_start[], model_end[];
extern uint8_t model_memory[], model_memory_end[];
const thimble_kernels* thimble_model_kernels(void);
}

namespace {
thimble_model model;
}

// Result of the product.
volatile uint32_t result;

int main() {
  thimble::firmware::stack_paint();
  thimble_status status = thimble_init(
      &model, model_start, static_cast<size_t>(model_end - model_start), thimble_model_kernels(),
      model_memory, static_cast<size_t>(model_memory_end - model_memory));
  thimble_view view;
  if (status == 0) status = thimble_input(&model, 0, &view);
  // Replaces the sensor, which writes the input into the arena.
  if (status == 0) std::memset(view.data, 1, view.bytes);
  if (status == 0) status = thimble_run(&model);
  if (status == 0) status = thimble_output(&model, 0, &view);
  if (status == 0) result = *static_cast<const uint8_t*>(view.data);
  application_done(status);
}
