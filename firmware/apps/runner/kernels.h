// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that differ between the images of the runner: its kernels and its NPU, if any.

#include <cstddef>
#include <cstdint>

#include "thimble.h"

namespace thimble::firmware {

/// Allocator for the board's largest RAM.
struct RamAllocator {
  void* user;
  /// Returns `bytes` bytes, 16-byte aligned. Ends the program if the memory is too small.
  uint8_t* (*take)(void* user, size_t bytes);
};

/// Reads the image's own words of the command line, from words[0] on. Returns their number.
uint32_t parse_words(const char** words, uint32_t count);

/// The kernel table for a file.
const thimble_kernels* kernels_for(const uint8_t* file, size_t file_bytes,
                                   const RamAllocator& memory);

/// Called with the model's memory before its first run.
void set_model_memory(uint8_t* memory, size_t arena_bytes);

/// Turns the fault of the NPU that the image's words name on or off. Returns false if they name
/// none. The weak default has no faults.
bool set_fault(bool on);

/// Writes the image's own lines to the report, after all runs.
void write_report_lines(void* report, void (*write)(void* report, const char* text));

}  // namespace thimble::firmware
