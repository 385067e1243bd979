// SPDX-License-Identifier: Apache-2.0
#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <algorithm>

#include "base/cancel.h"
#include "base/serial_port.h"

namespace thimble::base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRates[] = {9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600};

HANDLE handle_of(intptr_t handle) {
  return reinterpret_cast<HANDLE>(handle);
}

/// Time limit of one call, so that a cancelled run ends soon.
void set_time_limit(HANDLE port, DWORD milliseconds) {
  COMMTIMEOUTS limits = {};
  // With these two values a read returns as soon as there is a byte.
  limits.ReadIntervalTimeout = MAXDWORD;
  limits.ReadTotalTimeoutMultiplier = MAXDWORD;
  limits.ReadTotalTimeoutConstant = milliseconds;
  limits.WriteTotalTimeoutConstant = milliseconds;
  SetCommTimeouts(port, &limits);
}

DWORD step_of(std::chrono::milliseconds left) {
  return static_cast<DWORD>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 1, 100));
}

}  // namespace

std::span<const int> baud_rates() {
  return kRates;
}

Result<SerialPort> SerialPort::open(const std::string& name, int baud) {
  if (std::ranges::find(kRates, baud) == std::end(kRates)) {
    return bad_input("{}: found baud rate {}, expected one of {}", name, baud,
                     fmt::join(baud_rates(), ", "));
  }
  // The prefix is required from COM10 on.
  const HANDLE file = CreateFileA((R"(\\.\)" + name).c_str(), GENERIC_READ | GENERIC_WRITE, 0,
                                  nullptr, OPEN_EXISTING, 0, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const auto error = static_cast<unsigned long>(GetLastError());
    if (error == ERROR_ACCESS_DENIED) return bad_input("{}: another program uses the port", name);
    return bad_input("{}: cannot be opened: error {}", name, error);
  }
  SerialPort port(reinterpret_cast<intptr_t>(file), name, baud);
  DCB settings = {};
  settings.DCBlength = sizeof settings;
  if (!GetCommState(file, &settings)) return bad_input("{}: is not a serial port", name);
  settings = {};
  settings.DCBlength = sizeof settings;
  settings.BaudRate = static_cast<DWORD>(baud);
  settings.ByteSize = 8;
  settings.Parity = NOPARITY;
  settings.StopBits = ONESTOPBIT;
  settings.fBinary = TRUE;
  settings.fDtrControl = DTR_CONTROL_ENABLE;
  if (!SetCommState(file, &settings)) {
    return bad_input("{}: {} baud: error {}", name, baud,
                     static_cast<unsigned long>(GetLastError()));
  }
  PurgeComm(file, PURGE_RXCLEAR | PURGE_TXCLEAR);
  return port;
}

SerialPort::~SerialPort() {
  if (handle_ != kNone) CloseHandle(handle_of(handle_));
}

Status SerialPort::write(ByteView bytes, std::chrono::milliseconds limit) {
  const size_t all = bytes.size();
  const Clock::time_point end = Clock::now() + limit + line_time(all);
  while (!bytes.empty()) {
    THIMBLE_CHECK(check_cancelled());
    if (Clock::now() >= end) return write_error(bytes.size(), all, limit);
    set_time_limit(handle_of(handle_), step_of(limit));
    DWORD count = 0;
    if (!WriteFile(handle_of(handle_), bytes.data(), static_cast<DWORD>(bytes.size()), &count,
                   nullptr)) {
      return bad_input("{}: the line was closed", name_);
    }
    bytes = bytes.subspan(count);
  }
  return ok();
}

Result<size_t> SerialPort::read(std::span<std::byte> buffer, std::chrono::milliseconds wait) {
  const Clock::time_point end = Clock::now() + wait;
  for (;;) {
    THIMBLE_CHECK(check_cancelled());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    set_time_limit(handle_of(handle_), step_of(left));
    DWORD count = 0;
    if (!ReadFile(handle_of(handle_), buffer.data(), static_cast<DWORD>(buffer.size()), &count,
                  nullptr)) {
      return bad_input("{}: the line was closed", name_);
    }
    if (count != 0 || left.count() <= 0) return static_cast<size_t>(count);
  }
}

std::vector<SerialPortFacts> list_serial_ports(const std::string&) {
  std::vector<SerialPortFacts> ports;
  for (int number = 1; number <= 256; ++number) {
    const std::string name = fmt::format("COM{}", number);
    char target[512];
    if (QueryDosDeviceA(name.c_str(), target, sizeof target) != 0) ports.push_back({name, "", ""});
  }
  return ports;
}

}  // namespace thimble::base
#endif
