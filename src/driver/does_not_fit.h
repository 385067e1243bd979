// SPDX-License-Identifier: Apache-2.0
#pragma once
// The refusal of a program that is too large for a memory: how much is missing, where the arena is
// fullest, and which options or parts would hold it.

#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"

namespace thimble::driver {

/// Bytes of RAM where the arena is stored: arena, state of the runtime, variables, stack.
[[nodiscard]] int64_t ram_bytes(const CompileReport& report);
/// Bytes of flash: program and code; the program alone if the code is not known.
[[nodiscard]] int64_t flash_bytes(const CompileReport& report);

/// Returns the first memory that is too small; null if the program fits.
[[nodiscard]] const MemoryUse* first_overflow(const CompileReport& report);

/// Returns the bytes of the inputs that the application holds. No sum of a memory has them.
[[nodiscard]] int64_t application_input_bytes(const CompileReport& report);

/// Returns true if the program fits into the SRAM but not together with these inputs.
[[nodiscard]] bool inputs_too_large(const CompileReport& report);

/// Returns a note if inputs_too_large(); else an empty text.
[[nodiscard]] std::string inputs_note(const CompileReport& report);

/// Returns true if the memories are large enough and a placement in them was found, if one is
/// needed.
[[nodiscard]] bool fits(const CompileReport& report);

/// Another way to compile the same network.
struct Alternative {
  std::string how;  // "with --optimize size", "on nrf52840"
  CompileReport result;
};
struct Alternatives {
  std::vector<Alternative> compiled;
  std::vector<std::string> not_tried;  // beyond the limit of the search
};

/// `over` is a memory of the report.
[[nodiscard]] Error does_not_fit(const CompileReport& report, const MemoryUse& over,
                                 const Alternatives& alternatives);

/// `reason`: the refusal of an engine, or of a placement in several memories.
[[nodiscard]] Error does_not_fit(const CompileReport& report, const Error& reason,
                                 const Alternatives& alternatives);

/// Returns the refusal of a program that needs `needed` bytes of a memory with `available` bytes.
[[nodiscard]] Error memory_refusal(std::string message, std::string_view memory, int64_t needed,
                                   int64_t available);

}  // namespace thimble::driver
