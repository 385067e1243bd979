#pragma once
// What differs between the images of the runner: which kernels there are, and whether an NPU is.

#include <cstddef>
#include <cstdint>

#include "thimble.h"

namespace thimble::firmware {

/// The board's big memory.
struct BigMemory {
  void* user;
  /// Bytes at a multiple of 16; ends the program if there are not so many.
  uint8_t* (*take)(void* user, size_t bytes);
};

/// Words of the command line that are for the image, from words[0] on; answers how many it took.
uint32_t take_words(const char** words, uint32_t count);

/// The table for a file.
const thimble_kernels* kernels_for(const uint8_t* file, size_t file_bytes, const BigMemory& memory);

/// The memory that the model got; before its first run.
void memory_is(uint8_t* memory, size_t arena_bytes);

/// Writes to the report what the image has to say when all runs are over.
void add_lines(void* report, void (*write)(void* report, const char* text));

}  // namespace thimble::firmware
