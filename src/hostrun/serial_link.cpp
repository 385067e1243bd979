// SPDX-License-Identifier: Apache-2.0
#include "hostrun/serial_link.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "abi/kernel_layout.h"

namespace thimble::hostrun {

namespace serial = abi::serial;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRepeatsPerPatience = 6;
/// Maximum number of damaged frames, in both directions, and of old replies for one request.
constexpr int kDamagedMax = 8, kOldMax = 64;

const uint8_t* data_of(ByteView bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

}  // namespace

Status SerialLink::send(uint8_t type, ByteView payload) {
  std::array<uint8_t, serial::kFrameMax> frame;
  std::ranges::copy(std::span(data_of(payload), payload.size()),
                    frame.begin() + serial::kHeaderBytes);
  const size_t bytes = serial::finish_frame(frame.data(), type, sequence_, payload.size());
  return port_.write(std::as_bytes(std::span(frame.data(), bytes)), patience_);
}

Status SerialLink::flush_board() {
  return port_.write(Bytes(serial::kFrameMax), patience_);
}

/// Returns the next frame, of the type kBad for a damaged one.
Result<SerialLink::Frame> SerialLink::receive(Clock::time_point end) {
  for (;;) {
    while (!waiting_.empty()) {
      size_t taken = 0;
      auto event = serial::FrameReader::Event::kNone;
      while (taken < waiting_.size() && event == serial::FrameReader::Event::kNone) {
        event = reader_.take(static_cast<uint8_t>(waiting_[taken++]));
      }
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken));
      stray_bytes_ += taken;
      if (event == serial::FrameReader::Event::kBad) return Frame{serial::kBad, 0, {}};
      if (event == serial::FrameReader::Event::kFrame) {
        stray_bytes_ = 0;
        const ByteView payload =
            std::as_bytes(std::span(reader_.payload(), reader_.payload_bytes()));
        return Frame{reader_.type(), reader_.sequence(), Bytes(payload.begin(), payload.end())};
      }
    }
    const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
    if (left.count() <= 0) return Frame();
    waiting_.resize(4096);
    Result<size_t> count = port_.read(waiting_, left);
    waiting_.resize(count.ok() ? *count : 0);
    if (!count) return count.take_failure();
  }
}

Error SerialLink::silence(const std::string& what) const {
  if (stray_bytes_ != 0 && !greeted_) {
    return bad_input(
        "{}: {} bytes received, but no frame of examples/serial_runner: check the baud rate and "
        "the firmware",
        name_, stray_bytes_);
  }
  if (!greeted_) {
    return bad_input(
        "{}: no answer for {} s: check the port, the baud rate, and that the board runs "
        "examples/serial_runner",
        name_, std::chrono::duration<double>(patience_).count());
  }
  return bad_input("{}: the board has sent no frame for {} s after {}", name_,
                   std::chrono::duration<double>(patience_).count(), what);
}

/// An error if the frame reports a reset or a fault.
Status SerialLink::check_event(const Frame& frame) const {
  if (frame.type == serial::kFault && frame.payload.size() == 8) {
    return bad_input("{}: the board has faulted at pc 0x{:08x}, cfsr 0x{:08x}, and was reset",
                     name_, serial::load_u32(data_of(frame.payload)),
                     serial::load_u32(data_of(frame.payload) + 4));
  }
  if (frame.type == serial::kBoot && greeted_) {
    return bad_input("{}: the board was reset during the run", name_);
  }
  return ok();
}

Result<Bytes> SerialLink::call(serial::Type type, ByteView payload) {
  ++sequence_;
  THIMBLE_CHECK(send(type, payload));
  const auto interval = patience_ / kRepeatsPerPatience;
  Clock::time_point last_frame = Clock::now();
  Clock::time_point repeat = last_frame + interval;
  int damaged = 0, old = 0;
  for (;;) {
    THIMBLE_TRY(Frame frame, receive(repeat));
    const Clock::time_point now = Clock::now();
    if (frame.type == (type | serial::kReply) && frame.sequence == sequence_) {
      return std::move(frame.payload);
    }
    THIMBLE_CHECK(check_event(frame));
    if (frame.type == serial::kBad) {
      if (++damaged > kDamagedMax) {
        return bad_input("{}: {} damaged frames for one request: check the line and the baud rate",
                         name_, damaged);
      }
    } else if (frame.type != 0) {
      if (++old > kOldMax) return bad_input("{}: replies to other requests only", name_);
      last_frame = now;
      continue;
    }
    if (now - last_frame >= patience_) return silence(fmt::format("request {}", int{type}));
    if (frame.type == 0) THIMBLE_CHECK(flush_board());
    THIMBLE_CHECK(send(type, payload));
    repeat = now + interval;
  }
}

Result<Bytes> SerialLink::run(std::chrono::milliseconds limit) {
  ++sequence_;
  THIMBLE_CHECK(send(serial::kRun, {}));
  const Clock::time_point end = Clock::now() + limit;
  const auto interval = patience_ / kRepeatsPerPatience;
  Clock::time_point repeat = Clock::now() + interval;
  const Clock::time_point accepted_end = Clock::now() + patience_;
  bool accepted = false, lost = false;
  for (;;) {
    THIMBLE_TRY(Frame frame, receive(accepted ? end : std::min(repeat, end)));
    if (frame.type == serial::kDone) return std::move(frame.payload);
    THIMBLE_CHECK(check_event(frame));
    const Clock::time_point now = Clock::now();
    if (frame.type == (serial::kRun | serial::kReply) && frame.sequence == sequence_) {
      if (frame.payload.size() < 4 || serial::load_u32(data_of(frame.payload)) != serial::kOk) {
        return std::move(frame.payload);
      }
      accepted = true;
    } else if (frame.type == serial::kBad && accepted) {
      lost = true;  // the damaged frame can only be kDone
      break;
    } else if (!accepted && (frame.type == 0 || frame.type == serial::kBad)) {
      if (frame.type == 0) THIMBLE_CHECK(flush_board());
      THIMBLE_CHECK(send(serial::kRun, {}));
      repeat = now + interval;
    }
    if (now >= (accepted ? end : accepted_end)) break;
  }
  if (lost) return call(serial::kResult, {});
  if (!accepted) return silence("the start of a run");
  return bad_input("{}: the run has not ended after {} s", name_,
                   std::chrono::duration<double>(limit).count());
}

/// Repeats the request more often than others: a board that starts loses what it does not expect.
Result<Bytes> SerialLink::say_hello() {
  const Clock::time_point end = Clock::now() + patience_;
  do {
    ++sequence_;
    THIMBLE_CHECK(send(serial::kHello, {}));
    const Clock::time_point repeat = std::min(end, Clock::now() + std::chrono::seconds(1));
    while (Clock::now() < repeat) {
      THIMBLE_TRY(Frame frame, receive(repeat));
      // Any of the answers will do.
      if (frame.type == (serial::kHello | serial::kReply)) return std::move(frame.payload);
      if (frame.type == 0) break;
      THIMBLE_CHECK(check_event(frame));
    }
    THIMBLE_CHECK(flush_board());
  } while (Clock::now() < end);
  return silence("the first request");
}

Result<SerialLink> SerialLink::open(const std::string& port, int baud,
                                    std::chrono::milliseconds patience) {
  THIMBLE_TRY(base::SerialPort opened, base::SerialPort::open(port, baud));
  SerialLink link(std::move(opened), port, patience);
  THIMBLE_TRY(const Bytes payload, link.say_hello());
  link.greeted_ = true;
  const uint32_t version =
      payload.size() >= 8 ? serial::load_u32(data_of(payload) + 4) : 0;  // after the status
  if (version != serial::kProtocolVersion) {
    return bad_input(
        "{}: the board's runner has protocol version {}, expected {}: build and flash "
        "examples/serial_runner of this Thimble",
        port, version, serial::kProtocolVersion);
  }
  if (payload.size() != 4 + sizeof(serial::Hello)) {
    return bad_input("{}: a first answer of {} bytes, expected {}", port, payload.size(),
                     4 + sizeof(serial::Hello));
  }
  std::memcpy(&link.hello_, payload.data() + 4, sizeof link.hello_);
  serial::Hello& hello = link.hello_;
  hello.core[sizeof hello.core - 1] = hello.board[sizeof hello.board - 1] = 0;
  if (hello.kernel_layout != abi::kKernelLayoutVersion) {
    return bad_input(
        "{}: the board's runner has kernels of layout version {}, expected {}: build and flash "
        "examples/serial_runner of this Thimble",
        port, hello.kernel_layout, abi::kKernelLayoutVersion);
  }
  if (hello.block_bytes < 64 || hello.block_bytes > serial::kPayloadMax || hello.clock_hz == 0) {
    return bad_input("{}: the first answer has blocks of {} bytes and a clock of {} Hz", port,
                     hello.block_bytes, hello.clock_hz);
  }
  return link;
}

}  // namespace thimble::hostrun
