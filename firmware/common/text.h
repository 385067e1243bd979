// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formats text into a fixed buffer. Text that does not fit is dropped; the terminator always fits.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

class Text {
 public:
  Text(char* buffer, size_t bytes) : buffer_(buffer), bytes_(bytes) { buffer_[0] = 0; }

  Text& operator<<(const char* text) {
    while (*text != 0) put(*text++);
    return *this;
  }
  Text& operator<<(uint32_t number) {
    char digits[10];
    uint32_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count != 0) put(digits[--count]);
    return *this;
  }
  Text& hex(uint32_t number) {
    *this << "0x";
    for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[(number >> shift) & 15]);
    return *this;
  }

  const char* text() const { return buffer_; }
  size_t length() const { return length_; }

 private:
  void put(char letter) {
    if (length_ + 1 >= bytes_) return;
    buffer_[length_++] = letter;
    buffer_[length_] = 0;
  }

  char* buffer_;
  size_t bytes_;
  size_t length_ = 0;
};

}  // namespace thimble::firmware
