// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/cancel.h"
#include "base/folder.h"
#include "base/lines.h"
#include "base/serial_port.h"

namespace thimble::base {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Rate {
  int baud;
  speed_t speed;
};
constexpr Rate kRates[] = {
    {9600, B9600},     {19200, B19200},   {38400, B38400},
    {57600, B57600},   {115200, B115200}, {230400, B230400},
#ifdef B460800
    {460800, B460800},
#endif
#ifdef B921600
    {921600, B921600},
#endif
};

int descriptor(intptr_t handle) {
  return static_cast<int>(handle);
}

/// Waits for `events` in steps, so that a cancelled run ends soon. Returns the events that came.
Result<short> wait_for(int file, short events, std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  for (;;) {
    THIMBLE_CHECK(check_cancelled());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting = {file, events, 0};
    const auto step = std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 100);
    const int ready = poll(&waiting, 1, static_cast<int>(step));
    if (ready < 0 && errno != EINTR) return bad_input("poll: {}", std::strerror(errno));
    if (ready > 0) return waiting.revents;
    if (left.count() <= 0) return short{0};
  }
}

std::string first_line(const fs::path& path) {
  std::ifstream stream(path);
  char text[256];
  stream.read(text, sizeof text);
  const auto lines = lines_of({text, static_cast<size_t>(stream.gcount())});
  return lines.empty() ? std::string() : std::string(lines[0]);
}

/// Reads the facts of a USB device from `folder` or the closest parent with an idVendor.
void read_usb(fs::path folder, SerialPortFacts* facts) {
  for (int level = 0; level < 4 && folder.has_parent_path(); ++level) {
    if (std::error_code error; fs::exists(folder / "idVendor", error)) {
      facts->usb_id = first_line(folder / "idVendor") + ":" + first_line(folder / "idProduct");
      facts->product = first_line(folder / "product");
      return;
    }
    folder = folder.parent_path();
  }
}

}  // namespace

std::span<const int> baud_rates() {
  static const std::vector<int> kBauds = [] {
    std::vector<int> bauds;
    for (const Rate& rate : kRates) bauds.push_back(rate.baud);
    return bauds;
  }();
  return kBauds;
}

Result<SerialPort> SerialPort::open(const std::string& name, int baud) {
  const auto* const rate = std::ranges::find(kRates, baud, &Rate::baud);
  if (rate == std::end(kRates)) {
    return bad_input("{}: found baud rate {}, expected one of {}", name, baud,
                     fmt::join(baud_rates(), ", "));
  }
  const int file = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return bad_input("{}: cannot be opened: {}", name, std::strerror(errno));
  SerialPort port(file, name, baud);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return bad_input("{}: another program uses the port", name);
    return bad_input("{}: cannot be locked: {}", name, std::strerror(errno));
  }
  termios settings = {};
  if (tcgetattr(file, &settings) != 0) return bad_input("{}: is not a serial port", name);
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CSTOPB | CRTSCTS);
  cfsetispeed(&settings, rate->speed);
  cfsetospeed(&settings, rate->speed);
  if (tcsetattr(file, TCSANOW, &settings) != 0) {
    return bad_input("{}: {} baud: {}", name, baud, std::strerror(errno));
  }
  // tcsetattr() succeeds if one of the settings was made (POSIX, tcsetattr).
  termios made = {};
  if (tcgetattr(file, &made) != 0 || cfgetospeed(&made) != rate->speed) {
    return bad_input("{}: {} baud: the port does not support this rate", name, baud);
  }
  tcflush(file, TCIOFLUSH);
  return port;
}

SerialPort::~SerialPort() {
  if (handle_ != kNone) close(descriptor(handle_));
}

Status SerialPort::write(ByteView bytes, std::chrono::milliseconds limit) {
  const size_t all = bytes.size();
  const Clock::time_point end = Clock::now() + limit + line_time(all);
  while (!bytes.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return write_error(bytes.size(), all, limit);
    THIMBLE_TRY(const short events, wait_for(descriptor(handle_), POLLOUT, left));
    if (events == 0) return write_error(bytes.size(), all, limit);
    const ssize_t count = ::write(descriptor(handle_), bytes.data(), bytes.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return bad_input("{}: the line was closed", name_);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return ok();
}

Result<size_t> SerialPort::read(std::span<std::byte> buffer, std::chrono::milliseconds wait) {
  THIMBLE_TRY(const short events, wait_for(descriptor(handle_), POLLIN, wait));
  if (events == 0) return size_t{0};
  const ssize_t count = ::read(descriptor(handle_), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return size_t{0};
  if (count <= 0) return bad_input("{}: the line was closed", name_);
  return static_cast<size_t>(count);
}

std::vector<SerialPortFacts> list_serial_ports(const std::string& system_folder) {
  std::vector<SerialPortFacts> ports;
  std::error_code error;
  const auto entries = list_folder(fs::path(system_folder) / "class/tty");
  if (!entries.ok()) return ports;  // the folder is missing or cannot be read
  for (const fs::path& entry : *entries) {
    // Terminals and unused ports of the 8250 driver have no device, or the platform device.
    const fs::path device = fs::weakly_canonical(entry / "device", error);
    if (error || !fs::exists(device, error) || device.filename() == "serial8250") continue;
    SerialPortFacts facts = {"/dev/" + entry.filename().string(), "", ""};
    read_usb(device, &facts);
    const bool is_uart = facts.usb_id.empty() && first_line(entry / "type") == "0";
    if (!is_uart) ports.push_back(std::move(facts));
  }
#ifdef __APPLE__
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("cu.usb")) ports.push_back({entry.path().string(), "", ""});
  }
#endif
  std::ranges::sort(ports, {}, &SerialPortFacts::name);
  return ports;
}

}  // namespace thimble::base
#endif
