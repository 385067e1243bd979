// SPDX-License-Identifier: Apache-2.0
// Answers of a board on a serial line: run_on_serial() talks to a pseudo-terminal, and the input
// says what the other end sends. The input is a list of entries, one per answer:
//
//   0 u8 flags   1 u8 type   2 u8 sequence   3 u8 length   4.. payload
//   flags: 1 the bytes of the payload without a frame, 2 a wrong CRC, 4 the type is that of the
//          reply to the last request, 8 the sequence number is relative to the last request,
//          16 the payload begins with status 0 and the versions of this program

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "abi/kernel_layout.h"
#include "abi/serial/protocol.h"
#include "formats/pte/read.h"
#include "hostrun/serial.h"
#include "tests/folders.h"
#include "tests/fuzz/read_file.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

namespace serial = abi::serial;

enum Flag : uint8_t { kRaw = 1, kWrongCrc = 2, kIsReply = 4, kIsRelative = 8, kIsHello = 16 };

struct Entry {
  uint8_t flags = 0, type = 0, sequence = 0;
  std::vector<uint8_t> payload;
};

std::vector<Entry> entries_of(ByteView bytes) {
  constexpr size_t kEntriesMax = 24, kHeaderBytes = 4;
  std::vector<Entry> entries;
  size_t at = 0;
  const auto byte = [&](size_t i) { return std::to_integer<uint8_t>(bytes[i]); };
  while (entries.size() < kEntriesMax && bytes.size() - at >= kHeaderBytes) {
    Entry entry{byte(at), byte(at + 1), byte(at + 2), {}};
    const size_t length = std::min<size_t>(byte(at + 3), bytes.size() - at - kHeaderBytes);
    at += kHeaderBytes;
    for (size_t i = 0; i < length; ++i) entry.payload.push_back(byte(at + i));
    at += length;
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The other end of the line, in a thread of its own.
class Board {
 public:
  Board(int line, std::vector<Entry> entries) : line_(line), entries_(std::move(entries)) {}

  void run() {
    bool wait = true;
    for (const Entry& entry : entries_) {
      if (wait && !wait_for_request()) break;
      send(entry);
      // After anything that is no answer the host waits for more: it gets the next entry at once.
      const bool is_answer = entry.flags == (kIsReply | kIsRelative) ||
                             entry.flags == (kIsReply | kIsRelative | kIsHello);
      wait = (is_answer && entry.sequence == 0 && type_ != serial::kRun) ||
             (entry.flags == 0 && entry.type == serial::kDone);
    }
    // The host reads everything before the line closes.
    if (wait) (void)wait_for_request();
    if (!wait) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    close(line_);
  }

 private:
  /// Returns false if no request comes, or the host has closed the line.
  bool wait_for_request() {
    std::array<uint8_t, 512> bytes;
    for (;;) {
      pollfd waiting = {line_, POLLIN, 0};
      if (poll(&waiting, 1, static_cast<int>(serial_patience.count())) <= 0) return false;
      const ssize_t count = read(line_, bytes.data(), bytes.size());
      if (count <= 0) return false;
      bool request = false;
      for (ssize_t i = 0; i < count; ++i) {
        if (reader_.take(bytes[static_cast<size_t>(i)]) != serial::FrameReader::Event::kFrame) {
          continue;
        }
        type_ = reader_.type();
        sequence_ = reader_.sequence();
        request = true;
      }
      if (request) return true;
    }
  }

  void send(const Entry& entry) {
    std::vector<uint8_t> payload = entry.payload;
    if ((entry.flags & kIsHello) != 0 && payload.size() >= 12) {
      serial::store_u32(payload.data(), 0);
      serial::store_u32(payload.data() + 4, serial::kProtocolVersion);
      serial::store_u32(payload.data() + 8, abi::kKernelLayoutVersion);
    }
    if ((entry.flags & kRaw) == 0) {
      const size_t bytes = payload.size();
      payload.insert(payload.begin(), serial::kHeaderBytes, 0);
      payload.resize(payload.size() + serial::kCrcBytes);
      const auto type =
          static_cast<uint8_t>((entry.flags & kIsReply) != 0 ? type_ | serial::kReply : entry.type);
      const auto sequence =
          static_cast<uint8_t>(entry.sequence + ((entry.flags & kIsRelative) != 0 ? sequence_ : 0));
      const size_t size = serial::finish_frame(payload.data(), type, sequence, bytes);
      if ((entry.flags & kWrongCrc) != 0) payload[size - 1] ^= 0x55;
    }
    [[maybe_unused]] const ssize_t written = write(line_, payload.data(), payload.size());
  }

  int line_;
  std::vector<Entry> entries_;
  serial::FrameReader reader_;
  uint8_t type_ = 0, sequence_ = 0;  // of the last request
};

/// The model of all runs.
struct Model {
  Bytes pte;
  hostrun::Interface interface;
  std::vector<std::vector<ir::Tensor>> calls;
};

const Model& model() {
  static const Model made = [] {
    Model result;
    result.pte = read_file(test::source_folder() / "tests/fuzz/corpus/pte/hello_sin_cortex-m4.pte");
    const auto program = formats::pte::read(result.pte, "x.pte");
    if (!program.ok()) std::abort();
    auto interface = hostrun::read_interface(*program, "x.pte");
    if (!interface.ok()) std::abort();
    result.interface = std::move(*interface);
    std::vector<ir::Tensor>& inputs = result.calls.emplace_back();
    for (const hostrun::Port& port : result.interface.inputs) {
      inputs.push_back(ir::zeros(port.dtype, port.shape));
    }
    return result;
  }();
  return made;
}

Outcome talk_to_host(ByteView bytes) {
  const Model& sent = model();
  const int line = posix_openpt(O_RDWR | O_NOCTTY);
  if (line < 0 || grantpt(line) != 0 || unlockpt(line) != 0) std::abort();
  std::array<char, 64> name;
  if (ptsname_r(line, name.data(), name.size()) != 0) std::abort();
  hostrun::SerialOptions options;
  options.port = name.data();
  options.profile = true;
  options.patience = serial_patience;
  options.time_limit = serial_patience;
  Board board(line, entries_of(bytes));
  std::thread other_end([&] { board.run(); });
  const auto run = hostrun::run_on_serial(sent.pte, "x.pte", sent.interface, sent.calls, options);
  other_end.join();
  return run.ok() ? Outcome::kExecuted : Outcome::kRejected;
}

/// The host's and the board's reader of frames.
Outcome read_frames(ByteView bytes) {
  serial::FrameReader reader;
  Outcome outcome = Outcome::kRejected;
  for (const std::byte byte : bytes) {
    if (reader.take(std::to_integer<uint8_t>(byte)) != serial::FrameReader::Event::kFrame) continue;
    if (reader.payload_bytes() > serial::kPayloadMax) std::abort();
    outcome = Outcome::kAccepted;
  }
  return outcome;
}

/// Changes type, number and payload of the frames, whose CRCs are correct again.
Bytes mutate_frames(Bytes bytes, const Bytes& other, Random& random) {
  constexpr size_t kContentAt = 2, kPayloadAt = 4;  // after the sync; in the content
  Bytes changed;
  serial::FrameReader reader;
  for (const std::byte byte : bytes) {
    if (reader.take(std::to_integer<uint8_t>(byte)) != serial::FrameReader::Event::kFrame) continue;
    const uint8_t* const begin = reader.payload() - kPayloadAt;
    Bytes content =
        mutate(copy_of(std::as_bytes(std::span(begin, kPayloadAt + reader.payload_bytes()))), other,
               random);
    content.resize(std::clamp(content.size(), kPayloadAt, kPayloadAt + serial::kPayloadMax));
    std::array<uint8_t, serial::kFrameMax> frame;
    std::memcpy(frame.data() + kContentAt, content.data(), content.size());
    const size_t size =
        serial::finish_frame(frame.data(), frame[2], frame[3], content.size() - kPayloadAt);
    append(changed, std::as_bytes(std::span(frame).first(size)));
  }
  return changed.empty() ? mutate(std::move(bytes), other, random) : changed;
}

bool has_frame(ByteView bytes) {
  return read_frames(bytes) == Outcome::kAccepted;
}

}  // namespace

std::vector<Target> serial_targets() {
  return {{"serial", talk_to_host}, {"serial_frames", read_frames, mutate_frames, has_frame}};
}

}  // namespace thimble::fuzz
