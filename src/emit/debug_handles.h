// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `named_data` entry "thimble_debug", written on request (`compile --names`): the nodes of the
// export that each instruction computes. ExecuTorch's tools call such a reference a debug handle.
// Host tools read it; no runtime does. It is text, one fact per line, fields separated by tabs:
//
//   call                       the next instruction
//   node       conv2d          a node that it computes; the last one is the node of its result
//   result     relu  0.02  -4  name, scale and zero point of a result; scale 0: not quantized
//   operation  120             an operation inside a delegate call, by its word in the payload
//   node       conv2d          a node that this operation computes

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/layers.h"
#include "formats/pte/program.h"

namespace thimble::emit {

inline constexpr char kDebugKey[] = "thimble_debug";

struct DebugOperation {
  uint32_t word = 0;
  std::vector<std::string> nodes;

  bool operator==(const DebugOperation&) const = default;
};

struct DebugCall {
  std::vector<std::string> nodes;  // in the order of the export
  std::vector<InstructionResult> results;
  std::vector<DebugOperation> operations;

  bool operator==(const DebugCall&) const = default;
};

[[nodiscard]] formats::pte::NamedData debug_entry(const std::vector<DebugCall>& calls);

/// Returns one DebugCall per instruction of the first chain; empty if the file has no such entry.
[[nodiscard]] Result<std::vector<DebugCall>> read_debug(const formats::pte::Program& program);

/// Identifies an operation inside a delegate call: "000120". All ids have the same length, so that
/// none is a part of another one, which ExecuTorch's Inspector requires.
[[nodiscard]] std::string operation_id(uint32_t word);

}  // namespace thimble::emit
