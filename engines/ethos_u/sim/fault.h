// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors of a stream.

#include <stdint.h>

namespace thimble::ethos_u::sim {

enum class FaultKind : uint8_t {
  kNone,
  kUnknownCommand,  // not a command of this generation, or reserved bits are set
  kTruncated,       // the stream ends inside a command or without STOP
  kOutOfRange,      // an access outside its region
  kMisaligned,
  kBadRegister,  // a value without a meaning in the hardware
  kBadWeights,   // a weight or scale stream that does not decode
  kWorkspace,    // the workspace is too small
  kCostLimit,    // more work, or more repeated words, than the job allows
  kHazard,       // only with a hazard checker: `word` conflicts with `other_word`
};

struct [[nodiscard]] Fault {
  FaultKind kind = FaultKind::kNone;
  uint32_t word = 0;        // offset of the command in the stream, in words
  uint32_t other_word = 0;  // of the command with which it conflicts
  const char* detail = "";  // one fixed sentence
  uint64_t address = 0;     // of the access, if the fault has one
  uint8_t region = 0;

  [[nodiscard]] bool none() const { return kind == FaultKind::kNone; }
};

/// Returns a fault of the command that is being decoded or executed. The main loop sets its word.
[[nodiscard]] inline Fault fault_of(FaultKind kind, const char* detail) {
  Fault fault;
  fault.kind = kind;
  fault.detail = detail;
  return fault;
}

}  // namespace thimble::ethos_u::sim
