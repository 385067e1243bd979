// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/delegate/stream_scan.h"

#include <string.h>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::runtime::ethos_u {
namespace {

using thimble::ethos_u::Operation;
using thimble::ethos_u::Reg0;

/// Registers that select the regions which operations read and write.
struct Registers {
  uint32_t ifm = 0, ifm2 = 0, ofm = 0, weights = 0, scales = 0;
  uint32_t ifm_precision = 0, ifm2_precision = 0, ofm_precision = 0;
  uint32_t broadcast2 = 0;
  uint32_t dma_source = 0, dma_destination = 0, dma_index = 0;

  void set(uint32_t code, uint32_t value);
};

void Registers::set(uint32_t code, uint32_t value) {
  switch (static_cast<Reg0>(code)) {
    case Reg0::IFM_REGION:
      ifm = value;
      break;
    case Reg0::IFM2_REGION:
      ifm2 = value;
      break;
    case Reg0::OFM_REGION:
      ofm = value;
      break;
    case Reg0::WEIGHT_REGION:
      weights = value;
      break;
    case Reg0::SCALE_REGION:
      scales = value;
      break;
    case Reg0::IFM_PRECISION:
      ifm_precision = value;
      break;
    case Reg0::IFM2_PRECISION:
      ifm2_precision = value;
      break;
    case Reg0::OFM_PRECISION:
      ofm_precision = value;
      break;
    case Reg0::IFM2_BROADCAST:
      broadcast2 = value;
      break;
    case Reg0::DMA0_SRC_REGION:
      dma_source = value;
      break;
    case Reg0::DMA0_DST_REGION:
      dma_destination = value;
      break;
    case Reg0::DMA0_IDX_REGION:
      dma_index = value;
      break;
    default:
      break;
  }
}

constexpr uint32_t kRegionMask = 7;

class StreamScanner {
 public:
  StreamScanner(bool is_u85, StreamFacts& facts) : is_u85_(is_u85), facts_(facts) {}

  void take(uint32_t word) {
    const uint32_t code = word & thimble::ethos_u::kOpcodeMask;
    const uint32_t value = word >> 16;
    switch (static_cast<Operation>(code)) {
      case Operation::CONV:
      case Operation::DEPTHWISE:
        read_weights(code == static_cast<uint32_t>(Operation::CONV) && (value & 1) != 0);
        kernel();
        break;
      case Operation::POOL:
        read_scales();
        kernel();
        break;
      case Operation::ELEMENTWISE:
        read_scales();
        second();
        kernel();
        break;
      case Operation::RESIZE:
        kernel();
        break;
      case Operation::DMA_START:
        dma();
        break;
      default:
        if (code >= kFirstRegister) registers_.set(code, value);
    }
  }

 private:
  static constexpr uint32_t kFirstRegister = 0x100;

  /// Returns the bit of a feature map's region; 0 for a map in a chaining buffer and for no map.
  [[nodiscard]] uint32_t map_of(uint32_t region, uint32_t precision) const {
    const uint32_t storage = is_u85_ ? precision >> 14 & 3 : 0;
    return storage >= 2 ? 0 : 1U << (region & kRegionMask);
  }
  void kernel() {
    facts_.reads |= map_of(registers_.ifm, registers_.ifm_precision);
    facts_.writes |= map_of(registers_.ofm, registers_.ofm_precision);
  }
  /// Adds the region of IFM2, unless IFM2 is a scalar. An operation without IFM2 keeps the value of
  /// an earlier operation in the register, so its region is already among those in use.
  void second() {
    constexpr uint32_t kConstant556 = 1U << 7;
    constexpr uint32_t kScalar85 = 8;
    const bool scalar = is_u85_ ? (registers_.broadcast2 & 15) == kScalar85
                                : (registers_.broadcast2 & kConstant556) != 0;
    if (!scalar) facts_.reads |= map_of(registers_.ifm2, registers_.ifm2_precision);
  }
  void read_weights(bool from_map) {
    if (from_map) {
      second();
    } else {
      facts_.reads |= 1U << (registers_.weights & kRegionMask);
    }
    read_scales();
  }
  /// Adds the region of the scales, unless one scale applies to all channels.
  void read_scales() {
    constexpr uint32_t kGlobal = 1U << 8;
    if ((registers_.ofm_precision & kGlobal) == 0) {
      facts_.reads |= 1U << (registers_.scales & kRegionMask);
    }
  }
  void dma() {
    constexpr uint32_t kInternal = 1U << 8;
    constexpr uint32_t kIndexed = 1U << 11;
    const uint32_t source = registers_.dma_source;
    const uint32_t destination = registers_.dma_destination;
    if ((source & kInternal) == 0) facts_.reads |= 1U << (source & kRegionMask);
    if ((destination & kInternal) == 0) facts_.writes |= 1U << (destination & kRegionMask);
    if (is_u85_ && ((source | destination) & kIndexed) != 0) {
      facts_.reads |= 1U << (registers_.dma_index & kRegionMask);
    }
  }

  bool is_u85_;
  StreamFacts& facts_;
  Registers registers_;
};

}  // namespace

Status scan_stream(const Bytes& stream, bool is_u85, StreamFacts& facts) {
  StreamScanner walk(is_u85, facts);
  const uint32_t count = stream.bytes / 4;
  bool stopped = false;
  for (uint32_t at = 0; at < count; ++at) {
    uint32_t word;
    memcpy(&word, stream.data + 4 * at, sizeof word);
    const uint32_t control = word & thimble::ethos_u::kControlMask;
    if ((word & thimble::ethos_u::kReservedMask) != 0) return Status::kBadPayload;
    if (control == thimble::ethos_u::kControlPayload) {
      if (++at == count) return Status::kBadPayload;
      stopped = false;
      continue;
    }
    if (control != 0) return Status::kBadPayload;
    walk.take(word);
    stopped = thimble::ethos_u::opcode_of(word) == static_cast<uint16_t>(Operation::STOP);
  }
  return stopped ? Status::kOk : Status::kBadPayload;
}

}  // namespace thimble::runtime::ethos_u
