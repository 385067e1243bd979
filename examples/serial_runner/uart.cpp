// SPDX-License-Identifier: Apache-2.0
// The receive buffer. The host sends one frame at a time (abi/serial/protocol.h), and the buffer is
// longer than a frame. If it overflows, the frame's CRC is wrong and the host repeats the frame.

#include "uart.h"

namespace runner {
namespace {

constexpr uint32_t kBytes = 2048;  // a power of two
volatile uint8_t buffer[kBytes];
volatile uint32_t head, tail;  // counts of bytes received and read

volatile uint32_t& reg(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}

}  // namespace

void line_start(uint32_t baud) {
  uart_start(baud);
  reg(0xE000E100 + 4 * (BOARD_UART_IRQ / 32)) = 1U << (BOARD_UART_IRQ % 32);  // NVIC_ISER
}

uint8_t line_read() {
  __asm__ volatile("cpsid i" ::: "memory");
  while (head == tail) {
    // An interrupt that is masked wakes the core; it is taken between cpsie and cpsid.
    __asm__ volatile("wfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
  }
  __asm__ volatile("cpsie i" ::: "memory");
  const uint8_t byte = buffer[tail % kBytes];
  tail = tail + 1;
  return byte;
}

}  // namespace runner

extern "C" void uart_handler() {
  uint8_t byte = 0;
  while (runner::uart_receive(byte)) {
    if (runner::head - runner::tail == runner::kBytes) continue;
    runner::buffer[runner::head % runner::kBytes] = byte;
    runner::head = runner::head + 1;
  }
}
