// SPDX-License-Identifier: Apache-2.0
// The board's side of a serial line: the requests that examples/serial_runner receives. Its
// main.cpp is part of this file, with memory and functions of the board that the fuzzer provides.

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "examples/serial_runner/board.h"
#include "examples/serial_runner/uart.h"
#include "tests/fuzz/targets.h"

namespace {

alignas(16) uint8_t board_ram[64 << 10];
constexpr uint8_t kNoModelInFlash[1] = {};

}  // namespace

#define BAUD 115200
#define BOARD_CLOCK_HZ 100'000'000
#define BOARD_CORE "cortex-m4"
#define BOARD_NAME "fuzzer"
#define ram_start board_ram
#define ram_end (board_ram + sizeof board_ram)
#define flash_model kNoModelInFlash
#define flash_model_bytes \
  uint32_t {              \
    0                     \
  }
#define main serial_runner_main
int serial_runner_main();
#include "examples/serial_runner/main.cpp"
#undef main
#undef flash_model_bytes
#undef flash_model
#undef ram_end
#undef ram_start

namespace {

thimble::ByteView received;  // what the host still sends
std::jmp_buf line_end;
FrameReader host;  // reads what the board sends
bool any_ok, any_done;

}  // namespace

namespace runner {

void board_start() {}
void counter_start() {}
bool counter_is_dwt() {
  return true;
}
uint64_t counter_read() {
  static uint32_t count = 0;
  return ++count;
}
uint32_t stack_high_water() {
  return 0;
}
void board_reset() {
  std::longjmp(line_end, 1);
}
void line_start(uint32_t) {}
void uart_drain() {}

uint8_t line_read() {
  if (received.empty()) std::longjmp(line_end, 1);
  const auto byte = std::to_integer<uint8_t>(received[0]);
  received = received.subspan(1);
  return byte;
}

/// Aborts if the board sends a frame that a host cannot read.
void uart_write(uint8_t byte) {
  const auto event = host.take(byte);
  if (event == FrameReader::Event::kBad) std::abort();
  if (event != FrameReader::Event::kFrame || host.payload_bytes() < 4) return;
  const bool is_ok = load_u32(host.payload()) == kOk;
  any_ok = any_ok || ((host.type() & kReply) != 0 && is_ok);
  any_done = any_done || (host.type() == kDone && is_ok);
}

}  // namespace runner

namespace thimble::fuzz {
namespace {

struct Frame {
  uint8_t type = 0, sequence = 0;
  Bytes payload;
};

std::vector<Frame> frames_of(ByteView bytes) {
  std::vector<Frame> frames;
  FrameReader frame;
  for (const std::byte byte : bytes) {
    if (frame.take(std::to_integer<uint8_t>(byte)) != FrameReader::Event::kFrame) continue;
    const auto payload = std::as_bytes(std::span(frame.payload(), frame.payload_bytes()));
    frames.push_back({frame.type(), frame.sequence(), copy_of(payload)});
  }
  return frames;
}

Bytes bytes_of(const std::vector<Frame>& frames) {
  Bytes bytes;
  for (const Frame& frame : frames) {
    uint8_t made[kFrameMax];
    const size_t size = std::min(frame.payload.size(), kPayloadMax);
    std::ranges::copy(std::as_bytes(std::span(frame.payload)).first(size),
                      reinterpret_cast<std::byte*>(made + kHeaderBytes));
    const size_t end = finish_frame(made, frame.type, frame.sequence, size);
    append(bytes, std::as_bytes(std::span(made, end)));
  }
  return bytes;
}

uint32_t word_of(const Frame& frame, size_t at) {
  return frame.payload.size() < at + 4 ? 0 : load_le<uint32_t>(frame.payload, at);
}

/// Stores the CRC of the blocks that follow in each request to load a model.
Bytes repair_session(Bytes bytes) {
  std::vector<Frame> frames = frames_of(bytes);
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].type != kLoad || frames[i].payload.size() < 8) continue;
    const uint32_t size = word_of(frames[i], 0);
    if (size > sizeof board_ram) continue;
    std::vector<uint8_t> model_bytes(size);
    for (size_t k = i + 1; k < frames.size() && frames[k].type != kLoad; ++k) {
      const uint32_t offset = word_of(frames[k], 0);
      if (frames[k].type != kBlock || frames[k].payload.size() < 4 || offset > size) continue;
      const ByteView data = ByteView(frames[k].payload).subspan(4);
      std::ranges::copy(data.first(std::min<size_t>(data.size(), size - offset)),
                        std::as_writable_bytes(std::span(model_bytes)).begin() + offset);
    }
    const uint32_t crc = crc32(model_bytes.data(), model_bytes.size());
    std::memcpy(frames[i].payload.data() + 4, &crc, sizeof crc);
  }
  return bytes_of(frames);
}

/// Changes, removes, repeats or exchanges requests. CRCs are correct again.
Bytes mutate_session(Bytes bytes, const Bytes& other, Random& random) {
  std::vector<Frame> frames = frames_of(bytes);
  if (frames.empty()) return mutate(std::move(bytes), other, random);
  for (size_t left = 1 + below(random, 3); left > 0 && !frames.empty(); --left) {
    const size_t at = below(random, frames.size());
    const auto place = frames.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 8) {
      case 0:
        frames.erase(place);
        break;
      case 1:
        frames.insert(place, frames[below(random, frames.size())]);
        break;
      case 2:
        std::swap(*place, frames[below(random, frames.size())]);
        break;
      case 3:
        place->type = static_cast<uint8_t>(below(random, 12));
        break;
      case 4:
        place->sequence = static_cast<uint8_t>(random());
        break;
      case 5:
        if (place->payload.size() >= 4) {
          const size_t word = 4 * below(random, std::min<size_t>(place->payload.size() / 4, 3));
          const uint32_t value = mutate_word(word_of(*place, word), 32, random);
          std::memcpy(place->payload.data() + word, &value, sizeof value);
        }
        break;
      default:
        place->payload = mutate(std::move(place->payload), other, random);
    }
  }
  return repair_session(bytes_of(frames));
}

/// Returns the board to the state after its reset.
void reset_board() {
  std::memset(board_ram, 0xA5, sizeof board_ram);
  reader = {};
  host = {};
  has_reply = has_model = ram_model_complete = any_ok = any_done = false;
  ram = {board_ram};
  ram_model = nullptr;
  ram_model_bytes = ram_model_crc = run_status = 0;
  op_cycles = nullptr;
  op_start = 0;
  result = {};
}

Outcome talk_to_board(ByteView bytes) {
  reset_board();
  received = bytes;
  if (setjmp(line_end) == 0) (void)serial_runner_main();
  return any_done ? Outcome::kExecuted : any_ok ? Outcome::kAccepted : Outcome::kRejected;
}

bool has_request(ByteView bytes) {
  return !frames_of(bytes).empty();
}

}  // namespace

std::vector<Target> serial_board_targets() {
  return {{"serial_board", talk_to_board, mutate_session, has_request, nullptr, repair_session}};
}

}  // namespace thimble::fuzz
