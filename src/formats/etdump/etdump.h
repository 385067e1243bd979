// SPDX-License-Identifier: Apache-2.0
#pragma once
// An ETDump as plain structs: the times of instructions and the values of tensors during runs of a
// program. ExecuTorch's Inspector reads it. The bytes of tensors are in a second file, the debug
// buffer. docs/formats/devtools.md describes both.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "formats/pte/program.h"

namespace thimble::formats::etdump {

/// An event that belongs to no instruction has this number.
inline constexpr int32_t kNoInstruction = -1;

/// The file does not name the unit of the times. Instructions have one unit, nanoseconds or cycles.
/// Operations inside a delegate call have cycles of the NPU if its clock is not known.
struct ProfileEvent {
  std::string name;
  int32_t instruction = kNoInstruction;  // in the first chain
  std::string delegate_id;               // not empty: an operation inside a delegate call
  std::string metadata;                  // text about that operation
  uint64_t start = 0, end = 0;
  bool operator==(const ProfileEvent&) const = default;
};

/// The value of a tensor, contiguous in logical order.
struct DebugEvent {
  int32_t instruction = kNoInstruction;
  pte::ScalarType scalar_type = pte::ScalarType::kFloat;
  std::vector<int64_t> sizes;
  uint64_t offset = 0;  // in the debug buffer
  bool is_output = false;
  bool operator==(const DebugEvent&) const = default;
};

using Event = std::variant<ProfileEvent, DebugEvent>;

struct Run {
  std::string name;            // the Inspector groups runs of the same name and events
  int32_t bundled_input = -1;  // index of the test case of a bundled program
  std::vector<Event> events;
  bool operator==(const Run&) const = default;
};

[[nodiscard]] Bytes write(const std::vector<Run>& runs);

}  // namespace thimble::formats::etdump
