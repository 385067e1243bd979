// SPDX-License-Identifier: Apache-2.0
// Decompiles convolution and linear packed for Helium (abi/matmul_mve.h).

#include <cstring>

#include "abi/matmul_mve.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

Result<UnpackedFilters> read_quads(const Bytes& bytes, int64_t count, int64_t depth) {
  const auto channels32 = static_cast<uint32_t>(count);
  const auto depth32 = static_cast<uint32_t>(depth);
  if (count < 1 || depth < 1 || depth > static_cast<int64_t>(bytes.size()) ||
      count > static_cast<int64_t>(bytes.size()) ||
      static_cast<int64_t>(bytes.size()) < abi::matmul_bytes(channels32, depth32)) {
    return bad_input("its weights end too early");
  }
  const std::byte* const weights =
      bytes.data() + abi::matmul_header_bytes(abi::matmul_quads(channels32));
  UnpackedFilters filters;
  for (uint32_t channel = 0; channel < channels32; ++channel) {
    abi::MatmulQuad quad;
    std::memcpy(&quad, bytes.data() + channel / 4 * sizeof quad, sizeof quad);
    filters.bias.push_back(quad.bias[channel % 4]);
    filters.mult.push_back(quad.mult[channel % 4]);
    filters.shift.push_back(quad.shift[channel % 4]);
    for (uint32_t k = 0; k < depth32; ++k) {
      filters.weights.push_back(
          static_cast<int8_t>(weights[abi::matmul_weight_offset(channel, k, depth32)]));
    }
  }
  return filters;
}

}  // namespace

Result<ValueId> decompile_conv2d_mve(DecompilerCall* call) {
  return decompile_packed_conv(call, read_quads);
}

Result<ValueId> decompile_linear_mve(DecompilerCall* call) {
  return decompile_packed_linear(call, read_quads);
}

}  // namespace thimble::emit
