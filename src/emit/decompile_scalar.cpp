// Decompiles convolution and linear packed for cores without SIMD instructions
// (abi/matmul_scalar.h).

#include "abi/matmul_scalar.h"
#include "abi/params/window.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

/// Reads `count` channel records, then `weights` weights in the stored order.
Result<UnpackedFilters> read_scalar_channels(const Bytes& bytes, int64_t count, int64_t weights) {
  PackedReader packed(bytes);
  UnpackedFilters filters;
  THIMBLE_TRY(const std::vector<abi::ScalarChannel> channels,
              packed.array<abi::ScalarChannel>(count));
  for (const abi::ScalarChannel& channel : channels) {
    filters.bias.push_back(channel.bias);
    filters.mult.push_back(channel.mult);
    // Stored as a right shift; in the IR a left shift is positive. Clamped because a damaged file
    // may hold any number.
    filters.shift.push_back(-std::clamp(channel.shift, 1, abi::kScalarShiftMax));
  }
  THIMBLE_TRY(filters.weights, packed.array<int8_t>(weights));
  return filters;
}

/// Reads filters of `depth` weights and drops the padding of each row.
Result<UnpackedFilters> read_rows(const Bytes& bytes, int64_t count, int64_t depth) {
  const int64_t row = abi::scalar_row(depth);
  THIMBLE_TRY(UnpackedFilters filters, read_scalar_channels(bytes, count, count * row));
  std::vector<int8_t> weights;
  for (int64_t o = 0; o < count; ++o) {
    const auto begin = filters.weights.begin() + o * row;
    weights.insert(weights.end(), begin, begin + depth);
  }
  filters.weights = std::move(weights);
  return filters;
}

}  // namespace

Result<ValueId> decompile_conv2d_scalar(DecompilerCall* call) {
  return decompile_packed_conv(call, read_rows);
}

Result<ValueId> decompile_depthwise_scalar(DecompilerCall* call) {
  THIMBLE_TRY(const abi::WindowGeometry g, read_geometry(call, 1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  const int64_t taps = int64_t{g.kernel_h * g.kernel_w};
  THIMBLE_TRY(UnpackedFilters filters, read_scalar_channels(*bytes, g.out_c, g.out_c * taps));
  const ir::Tensor by_tap = ir::make_i8({taps, g.out_c}, filters.weights);
  const ir::Tensor by_channel = ir::permuted(by_tap, std::vector<int64_t>{1, 0});
  const std::span<const int8_t> weights = by_channel.data<int8_t>();
  filters.weights.assign(weights.begin(), weights.end());
  return build_qconv2d(call, g, g.in_c, filters);
}

Result<ValueId> decompile_linear_scalar(DecompilerCall* call) {
  return decompile_packed_linear(call, read_rows);
}

}  // namespace thimble::emit
