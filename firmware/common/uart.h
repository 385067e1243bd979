// SPDX-License-Identifier: Apache-2.0
#pragma once
// Prints to the board's UART, for applications that run without semihosting.

namespace thimble::firmware {

void uart_print(const char* text);

}  // namespace thimble::firmware
