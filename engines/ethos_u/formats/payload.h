#pragma once
// The payload of a delegate call of ExecuTorch's EthosUBackend, as a struct. Its bytes and the
// checked reader that the runtime has: engines/ethos_u/container/payload.h, docs/formats/ethos-u-payload.md.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::ethos_u {

/// A tensor of the delegate's interface, where the network finds or leaves it in scratch.
struct PayloadTensor {
  std::vector<int64_t> shape;  // at most six dimensions
  int64_t element_bytes = 1;
  int64_t offset = 0;  // from the start of scratch
  int64_t region = 1;  // 1 = scratch: where ExecuTorch's runtime takes all of them to be
  bool operator==(const PayloadTensor&) const = default;
};

struct EthosUPayload {
  Bytes commands;  // "COP1" or "COP2" and what follows
  Bytes weights;   // weights, scales, tables: region 0
  /// Instead of the bytes above, the key under which the program's named data has them.
  std::optional<std::string> commands_key, weights_key;
  int64_t scratch_bytes = 0;
  std::vector<PayloadTensor> inputs, outputs;  // in the order of the call's arguments
  bool operator==(const EthosUPayload&) const = default;
};

/// Refuses numbers that the format has no room for.
[[nodiscard]] Result<Bytes> write_payload(const EthosUPayload& payload);
/// Shapes come back with six dimensions. `bytes` may lie at any address.
[[nodiscard]] Result<EthosUPayload> read_payload(ByteView bytes);

/// The key of data that lies outside: the SHA-256 of tag, one zero and the data, in hexadecimal.
/// `tag` names the file that ExecuTorch puts it in.
[[nodiscard]] std::string external_key(std::string_view tag, ByteView data);

}  // namespace thimble::formats::ethos_u
