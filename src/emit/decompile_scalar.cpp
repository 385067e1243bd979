// SPDX-License-Identifier: Apache-2.0
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
    filters.shift.push_back(-std::clamp(channel.shift & 0xff, 1, abi::kScalarShiftMax));
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

/// Reads the filters of a linear layer: rows, or blocks of four outputs.
Result<UnpackedFilters> read_linear_scalar(const Bytes& bytes, int64_t count, int64_t depth) {
  PackedReader packed(bytes);
  THIMBLE_TRY(const std::vector<abi::ScalarChannel> channels,
              packed.array<abi::ScalarChannel>(count));
  if (channels.empty() || (channels[0].shift & abi::kScalarBlocks) == 0) {
    return read_rows(bytes, count, depth);
  }
  if (count % 4 != 0 || depth % 4 != 0) return bad_input("its sizes are not multiples of 4");
  THIMBLE_TRY(UnpackedFilters filters, read_scalar_channels(bytes, count, count * depth));
  std::vector<int8_t> weights;
  for (int64_t o = 0; o < count; ++o) {
    auto bias = static_cast<uint32_t>(filters.bias[static_cast<size_t>(o)]);
    for (int64_t k = 0; k < depth; ++k) {
      const auto at = static_cast<size_t>(abi::scalar_block_offset(o, k, depth));
      weights.push_back(static_cast<int8_t>(abi::scalar_block_weight(filters.weights[at], k)));
      bias += static_cast<uint32_t>(128 * weights.back());
    }
    filters.bias[static_cast<size_t>(o)] = static_cast<int32_t>(bias);
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
  return decompile_packed_linear(call, read_linear_scalar);
}

}  // namespace thimble::emit
