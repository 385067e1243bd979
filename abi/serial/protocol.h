// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protocol between `thimble run --on serial:PORT` and examples/serial_runner. docs/boards.md
// describes the exchange.
//
//   frame:  A5 54  type  sequence  length (2 bytes)  payload (length bytes)  CRC-32 (4 bytes)
//
// Numbers are little-endian. The CRC is that of zlib, over type to payload. The host sends one
// request and waits for its reply, which has the same sequence number and the type | kReply. The
// board answers a repeated sequence number with the reply that it has already sent, so that the
// host may repeat any request.

#include <cstddef>
#include <cstdint>

namespace thimble::abi::serial {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr uint8_t kSync[] = {0xA5, 0x54};
inline constexpr size_t kHeaderBytes = 6, kCrcBytes = 4;
inline constexpr size_t kPayloadMax = 1040;  // of any frame; a board may have a smaller block
inline constexpr size_t kFrameMax = kHeaderBytes + kPayloadMax + kCrcBytes;

/// Types of frames. The comments list the payload of the request and that of the reply after its
/// status. u32 without another type.
enum Type : uint8_t {
  kHello = 1,   // - / Hello
  kLoad = 2,    // bytes, CRC of a model for RAM / -
  kBlock = 3,   // offset, data / -
  kInit = 4,    // Source, profile (0 or 1) / Facts
  kInput = 5,   // index, offset, data / -
  kRun = 6,     // - / -; kDone follows
  kResult = 7,  // - / Result, if kDone was lost
  kOutput = 8,  // index, offset, bytes / data
  kOps = 9,     // first instruction / cycles of the instructions from there on
  kReply = 0x80,
  // Sent by the board without a request:
  kBoot = 0x40,   // -, after each reset
  kDone = 0x41,   // status, Result
  kFault = 0x42,  // program counter, CFSR; the board then resets
  kBad = 0x43,    // -: a frame with a wrong CRC or length has arrived
};

/// First word of each reply.
enum ReplyStatus : uint32_t {
  kOk = 0,
  kNoModel = 1,      // a block, run or output without load or init: the board was reset
  kTooLarge = 2,     // needed bytes and available bytes follow
  kWrongBytes = 3,   // the loaded model does not have the CRC that kLoad has stated
  kBadRequest = 4,   // unknown type, wrong length, index or offset
  kRuntime = 5,      // a thimble_status follows
  kNoFlashModel = 6  // Source::kFlash without a model in flash
};

enum class Source : uint32_t { kRam = 0, kFlash = 1 };
enum class Counter : uint32_t { kDwt = 1, kSysTick = 2 };

/// The first word is the protocol version in every version.
struct Hello {
  uint32_t protocol_version;
  uint32_t kernel_layout;  // kKernelLayoutVersion of the runner
  uint32_t block_bytes;    // maximum payload of a frame
  uint32_t ram_bytes;      // for model, arena, state and inputs
  uint32_t clock_hz;
  uint32_t counter;                         // Counter
  uint32_t flash_bytes, flash_crc;          // of the model in flash; 0: none
  uint32_t ram_model_bytes, ram_model_crc;  // of the model that was loaded last; 0: none
  char core[16];                            // "cortex-m4", padded with zeros
  char board[24];                           // "mps2-an386", padded with zeros
};
static_assert(sizeof(Hello) == 80);

struct Facts {
  uint32_t arena_bytes, state_bytes, inputs, outputs, instructions;
};

/// Result of the last run.
struct Result {
  uint32_t cycles_low, cycles_high;
  uint32_t stack_bytes;  // high-water mark since the reset
};

/// CRC-32 of zlib. `crc`: result for the bytes before.
inline uint32_t crc32(const uint8_t* data, size_t bytes, uint32_t crc = 0) {
  constexpr uint32_t kTable[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                   0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                   0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                   0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) {
    crc ^= data[i];
    crc = (crc >> 4) ^ kTable[crc & 15];
    crc = (crc >> 4) ^ kTable[crc & 15];
  }
  return ~crc;
}

inline void store_u32(uint8_t* to, uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}
inline uint32_t load_u32(const uint8_t* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(from[i]) << (8 * i);
  return value;
}

/// Completes a frame whose payload starts at frame + kHeaderBytes. Returns its number of bytes.
inline size_t finish_frame(uint8_t* frame, uint8_t type, uint8_t sequence, size_t payload_bytes) {
  frame[0] = kSync[0];
  frame[1] = kSync[1];
  frame[2] = type;
  frame[3] = sequence;
  frame[4] = static_cast<uint8_t>(payload_bytes);
  frame[5] = static_cast<uint8_t>(payload_bytes >> 8);
  const size_t end = kHeaderBytes + payload_bytes;
  store_u32(frame + end, crc32(frame + 2, end - 2));
  return end + kCrcBytes;
}

/// Finds frames in a stream of bytes.
class FrameReader {
 public:
  enum class Event { kNone, kFrame, kBad };

  /// Takes one byte. After kFrame the accessors describe the frame, until the next call.
  Event take(uint8_t byte) {
    if (count_ == 0 && byte != kSync[0]) return Event::kNone;
    if (count_ == 1 && byte != kSync[1]) {
      count_ = byte == kSync[0] ? 1 : 0;
      return Event::kNone;
    }
    frame_[count_++] = byte;
    if (count_ < kHeaderBytes) return Event::kNone;
    if (payload_bytes() > kPayloadMax) {
      count_ = 0;
      return Event::kBad;
    }
    const size_t end = kHeaderBytes + payload_bytes();
    if (count_ < end + kCrcBytes) return Event::kNone;
    count_ = 0;
    return load_u32(frame_ + end) == crc32(frame_ + 2, end - 2) ? Event::kFrame : Event::kBad;
  }

  [[nodiscard]] uint8_t type() const { return frame_[2]; }
  [[nodiscard]] uint8_t sequence() const { return frame_[3]; }
  [[nodiscard]] size_t payload_bytes() const {
    return static_cast<size_t>(frame_[4] | frame_[5] << 8);
  }
  [[nodiscard]] const uint8_t* payload() const { return frame_ + kHeaderBytes; }

 private:
  uint8_t frame_[kFrameMax] = {};
  size_t count_ = 0;
};

}  // namespace thimble::abi::serial
