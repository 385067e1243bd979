// Operators packed for Helium -> IR (abi/matmul_mve.h).

#include "abi/matmul_mve.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::ValueId;

Result<UnpackedFilters> read_quads(const Bytes& bytes, int64_t channels, int64_t depth) {
  const auto count = static_cast<uint32_t>(channels);
  const auto deep = static_cast<uint32_t>(depth);
  if (channels < 1 || depth < 1 || depth > static_cast<int64_t>(bytes.size()) ||
      channels > static_cast<int64_t>(bytes.size()) ||
      static_cast<int64_t>(bytes.size()) < abi::matmul_bytes(count, deep)) {
    return bad_input("its weights end too early");
  }
  const std::byte* const weights =
      bytes.data() + abi::matmul_header_bytes(abi::matmul_quads(count));
  UnpackedFilters filters;
  for (uint32_t channel = 0; channel < count; ++channel) {
    abi::MatmulQuad quad;
    std::memcpy(&quad, bytes.data() + channel / 4 * sizeof quad, sizeof quad);
    filters.bias.push_back(quad.bias[channel % 4]);
    filters.mult.push_back(quad.mult[channel % 4]);
    filters.shift.push_back(quad.shift[channel % 4]);
    for (uint32_t k = 0; k < deep; ++k) {
      filters.weights.push_back(
          static_cast<int8_t>(weights[abi::matmul_weight_offset(channel, k, deep)]));
    }
  }
  return filters;
}

}  // namespace

Result<ValueId> decompile_mve(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::thimble_conv2d_mve:
      return decompile_packed_conv(call, read_quads);
    case PteOp::thimble_linear_mve:
      return decompile_packed_linear(call, read_quads);
    default:
      return unsupported("is not packed for Helium");
  }
}

}  // namespace thimble::emit
