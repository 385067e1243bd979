// SPDX-License-Identifier: Apache-2.0
#pragma once
// The semihosting command line as words.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

/// Prints "error: MESSAGE DETAIL" and ends the program with kExitUsage.
[[noreturn]] void usage_error(const char* message, const char* detail = nullptr);

/// Reads the command line into `buffer` and splits it at its spaces. Returns the number of words,
/// of which the first is the name of the program. Ends the program if there are more than
/// `words_max`.
uint32_t split_command_line(char* buffer, size_t bytes, const char** words, uint32_t words_max);

/// Returns false if the word is not a decimal number.
bool read_number(const char* word, uint32_t& number);

}  // namespace thimble::firmware
