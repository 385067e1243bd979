// SPDX-License-Identifier: Apache-2.0
#pragma once
// The payload of a delegate call of ExecuTorch's EthosUBackend, as a struct. Its bytes and the
// checked reader that the runtime has: engines/ethos_u/container/payload.h,
// docs/formats/ethos-u-payload.md.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::ethos_u {

/// An input or output of the delegate, and its location in scratch memory.
struct PayloadTensor {
  std::vector<int64_t> shape;  // at most six dimensions
  int64_t element_bytes = 1;
  int64_t offset = 0;  // in bytes from the start of scratch
  int64_t region = 1;  // 1 = scratch; ExecuTorch's runtime assumes 1 for all of them
  bool operator==(const PayloadTensor&) const = default;
};

struct EthosUPayload {
  Bytes commands;  // "COP1" or "COP2" and the data after it
  Bytes weights;   // weights, scales, tables: region 0
  /// Keys of the program's named data that hold the commands and weights, if not stored above.
  std::optional<std::string> commands_key, weights_key;
  int64_t scratch_bytes = 0;
  std::vector<PayloadTensor> inputs, outputs;  // in the order of the call's arguments
  bool operator==(const EthosUPayload&) const = default;
};

/// Returns an error for numbers that do not fit the format.
[[nodiscard]] Result<Bytes> write_payload(const EthosUPayload& payload);
/// Returned shapes have six dimensions. `bytes` may be unaligned.
[[nodiscard]] Result<EthosUPayload> read_payload(ByteView bytes);

/// Returns the key of data stored outside the payload: the SHA-256, in hexadecimal, of the tag, one
/// zero byte and the data. `tag` names the file in which ExecuTorch stores the data.
[[nodiscard]] std::string external_key(std::string_view tag, ByteView data);

}  // namespace thimble::formats::ethos_u
