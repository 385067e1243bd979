// SPDX-License-Identifier: Apache-2.0
#pragma once
// A serial port of this machine. The implementation is serial_port_posix.cpp or
// serial_port_win32.cpp.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::base {

/// Baud rates that every system has, in ascending order.
[[nodiscard]] std::span<const int> baud_rates();

/// An open port: 8 data bits, no parity, one stop bit, no flow control.
class SerialPort {
 public:
  /// Opens the port for this process alone and discards bytes that wait in it.
  [[nodiscard]] static Result<SerialPort> open(const std::string& name, int baud);
  SerialPort(SerialPort&& other) noexcept
      : handle_(std::exchange(other.handle_, kNone)),
        name_(std::move(other.name_)),
        baud_(other.baud_) {}
  SerialPort& operator=(SerialPort&&) = delete;
  ~SerialPort();

  /// Writes all bytes. An error if the line is closed, or has not taken them after `limit` and the
  /// time that they need at the baud rate.
  [[nodiscard]] Status write(ByteView bytes, std::chrono::milliseconds limit);
  /// Waits at most `wait` for bytes. Returns the number of bytes read, 0 if none came. An error if
  /// the line is closed.
  [[nodiscard]] Result<size_t> read(std::span<std::byte> buffer, std::chrono::milliseconds wait);

 private:
  static constexpr intptr_t kNone = -1;
  SerialPort(intptr_t handle, std::string name, int baud)
      : handle_(handle), name_(std::move(name)), baud_(baud) {}
  /// Time of `bytes` bytes on the line: ten bits each.
  [[nodiscard]] std::chrono::milliseconds line_time(size_t bytes) const {
    return std::chrono::milliseconds(bytes * 10'000 / static_cast<size_t>(baud_));
  }
  [[nodiscard]] Error write_error(size_t left, size_t all, std::chrono::milliseconds limit) const {
    return bad_input("{}: the line has taken {} of {} B in {:g} s", name_, all - left, all,
                     static_cast<double>(limit.count()) / 1000);
  }
  intptr_t handle_;  // file descriptor, or HANDLE on Windows
  std::string name_;
  int baud_;
};

/// A serial port of the system.
struct SerialPortFacts {
  std::string name;     // "/dev/ttyACM0", "COM3"
  std::string usb_id;   // "0483:374b"; empty: no USB device, or unknown
  std::string product;  // "STM32 STLink"; empty: unknown
};

/// Lists the ports of this machine, by name. `system_folder` replaces /sys for tests; other systems
/// than Linux ignore it.
[[nodiscard]] std::vector<SerialPortFacts> list_serial_ports(
    const std::string& system_folder = "/sys");

}  // namespace thimble::base
