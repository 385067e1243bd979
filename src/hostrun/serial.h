// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a `.pte` on a board that is connected by a serial line and executes examples/serial_runner.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

struct SerialOptions {
  std::string port;
  int baud = 115200;
  bool profile = false;                          // also cycles of each operator
  std::chrono::milliseconds patience{30000};     // silence of the line after which a request fails
  std::chrono::milliseconds time_limit{300000};  // of one call of the model
};

/// Parses the text after `serial:`, PORT or PORT:BAUD.
[[nodiscard]] Result<SerialOptions> parse_serial_port(std::string_view text);

struct SerialFacts {
  std::string board;    // "mps2-an386"
  std::string core;     // "cortex-m4"
  std::string counter;  // "DWT" or "SysTick"
  double clock_mhz = 0;
  std::string model_in;     // "flash", "RAM", or "RAM, sent before"
  int64_t sent_bytes = 0;   // of the model; 0: the board had it
  double sent_seconds = 0;  // time of sending the model
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;
  int64_t stack_bytes = 0;         // high-water mark of the whole firmware
  int64_t cycles = 0;              // of all calls, measured on the board
  std::vector<int64_t> op_cycles;  // with `profile`: by instruction, of all calls
};

struct SerialRun {
  std::vector<std::vector<ir::Tensor>> outputs;  // [call][output]
  SerialFacts facts;
};

/// Sends the model unless the board has it in RAM or flash, and runs it once per call.
[[nodiscard]] Result<SerialRun> run_on_serial(ByteView pte, std::string_view label,
                                              const Interface& interface,
                                              std::span<const std::vector<ir::Tensor>> calls,
                                              const SerialOptions& options);

}  // namespace thimble::hostrun
