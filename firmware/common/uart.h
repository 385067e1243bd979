#pragma once
// Printing over the board's serial line, for applications that run without semihosting.

namespace thimble::firmware {

void uart_print(const char* text);

}  // namespace thimble::firmware
