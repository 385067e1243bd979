// SPDX-License-Identifier: Apache-2.0
extern "C" {
#include "board.h"
}
#include "digit.h"
#include "digits.h"
#include "thimble.hpp"

namespace {
alignas(16) unsigned char memory[digits_MEMORY_BYTES];
thimble::Network network;
}  // namespace

int main() {
  if (network.init(digits_pte, digits_pte_bytes, digits_kernels(), memory, sizeof memory) != 0) {
    return 1;
  }
  if (network.set_input(0, digit) != 0 || network.run() != 0) return 1;
  const thimble::Elements<const float> y = network.output<float>(0);
  if (y.size() != 10 || network.output<double>(0).size() != 0) return 1;
  uart_text("output ");
  uart_hex(y.begin(), static_cast<uint32_t>(y.size() * sizeof(float)));
  uart_text("\n");
  return 0;
}
