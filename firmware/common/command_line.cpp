// SPDX-License-Identifier: Apache-2.0
#include "firmware/common/command_line.h"

#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"

namespace thimble::firmware {

void usage_error(const char* message, const char* detail) {
  host_print("error: ");
  host_print(message);
  if (detail != nullptr) {
    host_print(" ");
    host_print(detail);
  }
  host_print("\n");
  host_exit(kExitUsage);
}

uint32_t split_command_line(char* buffer, size_t bytes, const char** words, uint32_t words_max) {
  if (!host_command_line(buffer, bytes)) usage_error("command line too long");
  uint32_t count = 0;
  for (char* at = buffer; *at != 0;) {
    while (*at == ' ') *at++ = 0;
    if (*at == 0) break;
    if (count == words_max) usage_error("too many arguments", at);
    words[count++] = at;
    while (*at != 0 && *at != ' ') ++at;
  }
  return count;
}

bool read_number(const char* word, uint32_t& number) {
  if (*word == 0) return false;
  number = 0;
  for (; *word >= '0' && *word <= '9'; ++word) {
    number = number * 10 + static_cast<uint32_t>(*word - '0');
  }
  return *word == 0;
}

}  // namespace thimble::firmware
