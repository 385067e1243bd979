// SPDX-License-Identifier: Apache-2.0
// Executes the requests of `thimble run --on serial:PORT` (abi/serial/protocol.h).
// Nothing here waits for anything but the next byte, so the host decides about time limits.

#include <cstring>

#include "abi/kernel_layout.h"
#include "abi/serial/protocol.h"
#include "board.h"
#include "thimble.h"
#include "thimble_trace.h"
#include "uart.h"

namespace {

using namespace thimble::abi::serial;

/// A RAM range that is handed out from its start.
struct Ram {
  uint8_t* next;

  uint8_t* take(size_t bytes) {
    const size_t rounded = (bytes + 15) & ~size_t{15};
    if (rounded < bytes || rounded > left()) return nullptr;
    uint8_t* const memory = next;
    next += rounded;
    return memory;
  }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(ram_end - next); }
};

FrameReader reader;
uint8_t reply[kFrameMax];  // kept: a repeated request is answered with it
size_t reply_bytes;
bool has_reply;

Ram ram = {ram_start};
uint8_t* ram_model;
uint32_t ram_model_bytes, ram_model_crc;
bool ram_model_complete;

thimble_model model;
bool has_model;
uint32_t* op_cycles;  // null: no profile
uint64_t op_start;
Result result;
uint32_t run_status;

void send(const uint8_t* frame, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) runner::uart_write(frame[i]);
}

/// Sends a frame that answers no request.
void send_event(uint8_t type, const uint32_t* words, size_t count) {
  uint8_t frame[kHeaderBytes + 16 + kCrcBytes];
  for (size_t i = 0; i < count; ++i) store_u32(frame + kHeaderBytes + 4 * i, words[i]);
  send(frame, finish_frame(frame, type, 0, 4 * count));
}

/// The payload of the reply, written word by word.
class Reply {
 public:
  Reply& operator<<(uint32_t word) {
    store_u32(reply + kHeaderBytes + bytes_, word);
    bytes_ += 4;
    return *this;
  }
  void add(const void* data, size_t bytes) {
    std::memcpy(reply + kHeaderBytes + bytes_, data, bytes);
    bytes_ += bytes;
  }
  void send_as(uint8_t type, uint8_t sequence) {
    reply_bytes = finish_frame(reply, static_cast<uint8_t>(type | kReply), sequence, bytes_);
    has_reply = true;
    send(reply, reply_bytes);
  }

 private:
  size_t bytes_ = 0;
};

/// The payload of the request.
struct Request {
  const uint8_t* data;
  size_t bytes;
  [[nodiscard]] uint32_t word(size_t index) const {
    return 4 * index + 4 <= bytes ? load_u32(data + 4 * index) : 0;
  }
};

void hello(Reply& out) {
  Hello words = {};
  words.protocol_version = kProtocolVersion;
  words.kernel_layout = thimble::abi::kKernelLayoutVersion;
  words.block_bytes = kPayloadMax;
  words.ram_bytes = static_cast<uint32_t>(ram_end - ram_start);
  words.clock_hz = BOARD_CLOCK_HZ;
  words.counter =
      static_cast<uint32_t>(runner::counter_is_dwt() ? Counter::kDwt : Counter::kSysTick);
  words.flash_bytes = flash_model_bytes;
  words.flash_crc = flash_model_bytes == 0 ? 0 : crc32(flash_model, flash_model_bytes);
  if (ram_model_complete) {
    words.ram_model_bytes = ram_model_bytes;
    words.ram_model_crc = ram_model_crc;
  }
  std::strncpy(words.core, BOARD_CORE, sizeof words.core - 1);
  std::strncpy(words.board, BOARD_NAME, sizeof words.board - 1);
  out << kOk;
  out.add(&words, sizeof words);
}

void load(const Request& request, Reply& out) {
  if (request.bytes != 8) return void(out << kBadRequest);
  has_model = ram_model_complete = false;
  ram = {ram_start};
  ram_model_bytes = request.word(0);
  ram_model_crc = request.word(1);
  const size_t available = ram.left();
  ram_model = ram.take(ram_model_bytes);
  if (ram_model == nullptr) {
    out << kTooLarge << ram_model_bytes << static_cast<uint32_t>(available);
  } else {
    out << kOk;
  }
}

void block(const Request& request, Reply& out) {
  if (ram_model == nullptr || ram_model_complete) return void(out << kNoModel);
  const uint32_t offset = request.word(0);
  if (request.bytes < 5 || offset > ram_model_bytes ||
      request.bytes - 4 > ram_model_bytes - offset) {
    return void(out << kBadRequest);
  }
  std::memcpy(ram_model + offset, request.data + 4, request.bytes - 4);
  out << kOk;
}

/// Called before and after each operator of a profile.
void trace(void*, uint32_t instruction, const char*, int after) {
  const uint64_t now = runner::counter_read();
  if (after != 0) {
    // A delegate that works in the background is reported at its start and at its wait.
    op_cycles[instruction] += static_cast<uint32_t>(now - op_start);
  }
  op_start = runner::counter_read();
}

/// Allocates and sets the buffers of inputs that have no place in the arena.
thimble_status place_inputs(Ram& from, bool& fits) {
  for (uint32_t i = 0; i < thimble_input_count(&model); ++i) {
    thimble_view view;
    thimble_status status = thimble_input(&model, i, &view);
    if (status != 0) return status;
    if (view.data != nullptr) continue;
    uint8_t* const buffer = from.take(view.bytes);
    if (buffer == nullptr) {
      fits = false;
      return 0;
    }
    std::memset(buffer, 0, view.bytes);
    status = thimble_set_input(&model, i, buffer, view.bytes);
    if (status != 0) return status;
  }
  return 0;
}

void init(const Request& request, Reply& out) {
  has_model = false;
  op_cycles = nullptr;
  const bool in_flash = request.word(0) == static_cast<uint32_t>(Source::kFlash);
  if (in_flash && flash_model_bytes == 0) return void(out << kNoFlashModel);
  if (!in_flash && ram_model == nullptr) return void(out << kNoModel);
  if (!in_flash && !ram_model_complete) {
    ram_model_complete = crc32(ram_model, ram_model_bytes) == ram_model_crc;
    if (!ram_model_complete) return void(out << kWrongBytes);
  }
  const uint8_t* const pte = in_flash ? flash_model : ram_model;
  const size_t bytes = in_flash ? flash_model_bytes : ram_model_bytes;
  Ram rest = ram;
  thimble_needs needs;
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_status status = thimble_size(pte, bytes, kernels, &needs);
  if (status != 0) return void(out << kRuntime << static_cast<uint32_t>(status));
  const size_t memory_bytes = needs.arena_bytes + needs.state_bytes;
  uint8_t* const memory = rest.take(memory_bytes);
  if (memory == nullptr) {
    return void(out << kTooLarge << static_cast<uint32_t>(memory_bytes)
                    << static_cast<uint32_t>(rest.left()));
  }
  status = thimble_init(&model, pte, bytes, kernels, memory, memory_bytes);
  bool fits = true;
  if (status == 0) status = place_inputs(rest, fits);
  const uint32_t instructions = status == 0 ? thimble_instruction_count(&model) : 0;
  if (status == 0 && fits && request.word(1) != 0) {
    op_cycles = reinterpret_cast<uint32_t*>(rest.take(4 * instructions));
    fits = op_cycles != nullptr;
    if (fits) status = thimble_set_trace(&model, trace, nullptr);
  }
  if (status != 0) return void(out << kRuntime << static_cast<uint32_t>(status));
  if (!fits) {
    return void(out << kTooLarge << static_cast<uint32_t>(memory_bytes + 4 * instructions)
                    << static_cast<uint32_t>(ram.left()));
  }
  has_model = true;
  out << kOk << static_cast<uint32_t>(needs.arena_bytes) << static_cast<uint32_t>(needs.state_bytes)
      << thimble_input_count(&model) << thimble_output_count(&model) << instructions;
}

void input(const Request& request, Reply& out) {
  thimble_view view;
  if (!has_model) return void(out << kNoModel);
  if (request.bytes < 8 || thimble_input(&model, request.word(0), &view) != 0) {
    return void(out << kBadRequest);
  }
  const uint32_t offset = request.word(1);
  const size_t bytes = request.bytes - 8;
  if (offset > view.bytes || bytes > view.bytes - offset) return void(out << kBadRequest);
  std::memcpy(static_cast<uint8_t*>(view.data) + offset, request.data + 8, bytes);
  out << kOk;
}

void add_result(Reply& out) {
  if (run_status != 0) {
    out << kRuntime << run_status;
  } else {
    out << kOk << result.cycles_low << result.cycles_high << result.stack_bytes;
  }
}

/// Runs the model after the reply has acknowledged the request.
void run() {
  const bool is_dwt = runner::counter_is_dwt();
  const uint64_t start = runner::counter_read();
  if (op_cycles != nullptr) std::memset(op_cycles, 0, 4 * thimble_instruction_count(&model));
  run_status = static_cast<uint32_t>(thimble_run(&model));
  const uint64_t end = runner::counter_read();
  const uint64_t cycles =
      is_dwt ? static_cast<uint32_t>(end) - static_cast<uint32_t>(start) : end - start;
  result = {static_cast<uint32_t>(cycles), static_cast<uint32_t>(cycles >> 32),
            runner::stack_high_water()};
  const uint32_t words[] = {run_status == 0 ? uint32_t{kOk} : uint32_t{kRuntime},
                            run_status == 0 ? result.cycles_low : run_status, result.cycles_high,
                            result.stack_bytes};
  send_event(kDone, words, 4);
}

void output(const Request& request, Reply& out) {
  thimble_view view;
  if (!has_model) return void(out << kNoModel);
  if (request.bytes != 12 || thimble_output(&model, request.word(0), &view) != 0) {
    return void(out << kBadRequest);
  }
  const uint32_t offset = request.word(1), bytes = request.word(2);
  if (offset > view.bytes || bytes > view.bytes - offset || bytes > kPayloadMax - 4) {
    return void(out << kBadRequest);
  }
  out << kOk;
  out.add(static_cast<const uint8_t*>(view.data) + offset, bytes);
}

void ops(const Request& request, Reply& out) {
  if (!has_model || op_cycles == nullptr) return void(out << kNoModel);
  constexpr uint32_t kAtOnce = (kPayloadMax - 4) / 4;
  const uint32_t count = thimble_instruction_count(&model), first = request.word(0);
  if (first > count) return void(out << kBadRequest);
  out << kOk;
  for (uint32_t i = first; i < count && i - first < kAtOnce; ++i) out << op_cycles[i];
}

void answer(uint8_t type, uint8_t sequence, const Request& request) {
  Reply out;
  bool runs = false;
  switch (type) {
    case kHello:
      hello(out);
      break;
    case kLoad:
      load(request, out);
      break;
    case kBlock:
      block(request, out);
      break;
    case kInit:
      init(request, out);
      break;
    case kInput:
      input(request, out);
      break;
    case kRun:
      runs = has_model;
      out << (has_model ? kOk : kNoModel);
      break;
    case kResult:
      if (has_model) {
        add_result(out);
      } else {
        out << kNoModel;
      }
      break;
    case kOutput:
      output(request, out);
      break;
    case kOps:
      ops(request, out);
      break;
    default:
      out << kBadRequest;
  }
  out.send_as(type, sequence);
  if (runs) run();
}

}  // namespace

[[noreturn]] void runner::send_fault(uint32_t program_counter, uint32_t cause) {
  const uint32_t words[] = {program_counter, cause};
  send_event(kFault, words, 2);
  uart_drain();
  board_reset();
}

int main() {
  runner::board_start();
  runner::counter_start();
  runner::line_start(BAUD);
  send_event(kBoot, nullptr, 0);
  for (;;) {
    switch (reader.take(runner::line_read())) {
      case FrameReader::Event::kNone:
        break;
      case FrameReader::Event::kBad:
        send_event(kBad, nullptr, 0);
        break;
      case FrameReader::Event::kFrame: {
        const uint8_t type = reader.type(), sequence = reader.sequence();
        if (has_reply && type != kHello && reply[2] == (type | kReply) && reply[3] == sequence) {
          send(reply, reply_bytes);
        } else {
          answer(type, sequence, {reader.payload(), reader.payload_bytes()});
        }
      }
    }
  }
}
