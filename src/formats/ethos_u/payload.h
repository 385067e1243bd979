#pragma once
// The payload of a delegate call of ExecuTorch's EthosUBackend as a struct. The byte format, and
// the checked reader shared with the runtime: abi/ethos_u_payload.h,
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

/// Input or output tensor of the delegate and its offset in scratch.
struct PayloadTensor {
  std::vector<int64_t> shape;  // at most six dimensions
  int64_t element_bytes = 1;
  int64_t offset = 0;  // relative to the start of scratch
  int64_t region = 1;  // 1 = scratch, which ExecuTorch's runtime assumes for all tensors
  bool operator==(const PayloadTensor&) const = default;
};

struct EthosUPayload {
  Bytes commands;  // driver payload: "COP1" or "COP2" and what follows
  Bytes weights;   // weights, scales and lookup tables: region 0
  /// Key of the commands or weights in the program's named data, used instead of the bytes above.
  std::optional<std::string> commands_key, weights_key;
  int64_t scratch_bytes = 0;
  std::vector<PayloadTensor> inputs, outputs;  // in the order of the call's arguments
  bool operator==(const EthosUPayload&) const = default;
};

/// Returns an error for numbers that do not fit in the format.
[[nodiscard]] Result<Bytes> write_payload(const EthosUPayload& payload);
/// Returns shapes with six dimensions. `bytes` may be unaligned.
[[nodiscard]] Result<EthosUPayload> read_payload(ByteView bytes);

/// Returns the key of external data: the SHA-256 of tag, one zero and the data, in hexadecimal.
/// `tag` is the name of the file in which ExecuTorch stores the data.
[[nodiscard]] std::string external_key(std::string_view tag, ByteView data);

}  // namespace thimble::formats::ethos_u
