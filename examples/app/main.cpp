// SPDX-License-Identifier: Apache-2.0
// As main.c, in C++17 with thimble.hpp.
#include "board.h"
#include "digit.h"
#include "digits.h"
#include "thimble.hpp"

namespace {

alignas(16) unsigned char memory[digits_MEMORY_BYTES];
thimble::Network network;

int failed(const char* what, thimble_status status) {
  uart_text(what);
  uart_text(": ");
  uart_text(thimble_status_text(status));
  uart_text("\n");
  return 1;
}

}  // namespace

int main() {
  thimble_status status =
      network.init(digits_pte, digits_pte_bytes, digits_kernels(), memory, sizeof memory);
  if (status != 0) return failed("init", status);
  status = network.set_input(0, digit);
  if (status != 0) return failed("set_input", status);
  status = network.run();
  if (status != 0) return failed("run", status);
  const thimble::Elements<const float> scores = network.output<float>(0);

  int best = 0;
  for (int i = 1; i < static_cast<int>(scores.size()); ++i) {
    if (scores.begin()[i] > scores.begin()[best]) best = i;
  }
  uart_text("digit ");
  uart_number(best);
  uart_text("\noutput ");
  uart_hex(scores.begin(), static_cast<uint32_t>(scores.size() * sizeof(float)));
  uart_text("\n");
  return 0;
}
