// SPDX-License-Identifier: Apache-2.0
// The smallest program that loads and runs a model: measures the flash that the runtime adds to a
// product. It has no kernels, no model and no semihosting, but includes start-up code. It is never
// executed.

#include "kernels/kernels.h"
#include "runtime/include/thimble.h"

extern "C" const uint8_t model_file[];
extern "C" const uint32_t model_bytes;

namespace {
alignas(16) uint8_t memory[4096];
alignas(4) uint8_t input[64];
thimble_model model;
const thimble::kernels::KernelTable no_kernels = {nullptr, 0};
}  // namespace

// Result of the product.
volatile uint32_t result;

int main() {
  const auto* kernels = reinterpret_cast<const thimble_kernels*>(&no_kernels);
  thimble_status status =
      thimble_init(&model, model_file, model_bytes, kernels, memory, sizeof memory);
  if (status == 0) status = thimble_set_input(&model, 0, input, sizeof input);
  if (status == 0) status = thimble_run(&model);
  thimble_view view;
  if (status == 0) status = thimble_output(&model, 0, &view);
  if (status == 0) result = *static_cast<const uint8_t*>(view.data);
  return status;
}
