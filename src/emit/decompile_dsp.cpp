// SPDX-License-Identifier: Apache-2.0
// Decompiles convolution and linear packed for the DSP extension (abi/matmul_dsp.h).

#include <bit>

#include "abi/matmul_dsp.h"
#include "abi/params/window.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

/// SXTB16 unpacks four bytes: the quantized value k is in half word kOrder[k].
constexpr size_t kOrder[4] = {0, 2, 1, 3};

/// Appends mult and shift. `scale` is 2^(32-right).
void append_scale(int32_t mult, int32_t scale, UnpackedFilters* filters) {
  filters->mult.push_back(mult);
  const int bits = std::countr_zero(static_cast<uint32_t>(scale));
  filters->shift.push_back(std::clamp(bits, 1, 30) - 32);
}

/// Appends the first `depth` weights of filter a (`which` 0) or b (1) of a pair.
void append_weights(const std::vector<int16_t>& halves, int which, int64_t depth,
                    UnpackedFilters* filters) {
  for (size_t k = 0; k < static_cast<size_t>(depth); ++k) {
    const int16_t half = halves[k / 4 * 4 + kOrder[k % 4]];
    const auto a = static_cast<int8_t>(half);
    filters->weights.push_back(which == 0 ? a : static_cast<int8_t>((half - a) / 256));
  }
}

/// Appends two filters of `depth` weights from the pair's half words. `ends`: twice the bias of
/// filter b, then mult and scale of a, mult and scale of b (abi/matmul_dsp.h).
void append_pair(int32_t bias, const std::vector<int16_t>& halves, const int32_t* ends,
                 int64_t depth, UnpackedFilters* filters) {
  filters->bias.push_back(bias);
  filters->bias.push_back(ends[0] / 2);
  for (const int which : {0, 1}) {
    append_weights(halves, which, depth, filters);
    append_scale(ends[1 + 2 * which], ends[2 + 2 * which], filters);
  }
}

/// Reads pairs until there are `count` filters.
Status read_pairs(PackedReader* packed, int64_t count, int64_t depth, UnpackedFilters* filters) {
  while (static_cast<int64_t>(filters->bias.size()) < count) {
    THIMBLE_TRY(const std::vector<int32_t> bias, packed->array<int32_t>(1));
    THIMBLE_TRY(const std::vector<int16_t> halves, packed->array<int16_t>((depth + 3) / 4 * 4));
    THIMBLE_TRY(const std::vector<int32_t> ends, packed->array<int32_t>(5));
    append_pair(bias[0], halves, ends.data(), depth, filters);
  }
  return ok();
}

/// The words of two pairs alternate.
Result<UnpackedFilters> read_conv(const Bytes& bytes, int64_t count, int64_t depth) {
  PackedReader packed(bytes);
  UnpackedFilters filters;
  const int64_t words = (depth + 3) / 4 * 2;  // of the weights of a pair
  while (static_cast<int64_t>(filters.bias.size()) < count) {
    THIMBLE_TRY(const std::vector<int32_t> first, packed.array<int32_t>(2));
    THIMBLE_TRY(const std::vector<int32_t> weights, packed.array<int32_t>(2 * words));
    THIMBLE_TRY(const std::vector<int32_t> ends, packed.array<int32_t>(10));
    for (size_t pair = 0; pair < 2; ++pair) {
      std::vector<int16_t> halves;
      for (size_t i = pair; i < weights.size(); i += 2) {
        halves.push_back(static_cast<int16_t>(weights[i]));
        halves.push_back(static_cast<int16_t>(weights[i] >> 16));
      }
      std::vector<int32_t> own;
      for (size_t i = pair; i < ends.size(); i += 2) own.push_back(ends[i]);
      append_pair(first[pair], halves, own.data(), depth, &filters);
    }
  }
  return filters;
}

Result<UnpackedFilters> read_linear(const Bytes& bytes, int64_t count, int64_t depth) {
  if (depth % 4 != 0) return bad_input("its row length is not a multiple of 4");
  PackedReader packed(bytes);
  UnpackedFilters filters;
  while (static_cast<int64_t>(filters.bias.size()) + 3 <= count) {
    THIMBLE_TRY(const std::vector<int32_t> first, packed.array<int32_t>(2));
    THIMBLE_TRY(const std::vector<int16_t> halves, packed.array<int16_t>(2 * depth));
    THIMBLE_TRY(const std::vector<int32_t> ends, packed.array<int32_t>(10));
    for (size_t pair = 0; pair < 2; ++pair) {
      // The words of the two pairs alternate.
      std::vector<int16_t> own;
      for (size_t k = 2 * pair; k < halves.size(); k += 4) {
        own.push_back(halves[k]);
        own.push_back(halves[k + 1]);
      }
      append_pair(first[pair], own, &ends[5 * pair], depth, &filters);
    }
  }
  THIMBLE_CHECK(read_pairs(&packed, count, depth, &filters));
  return filters;
}

}  // namespace

Result<ValueId> decompile_conv2d_dsp(DecompilerCall* call) {
  return decompile_packed_conv(call, read_conv);
}

Result<ValueId> decompile_depthwise_dsp(DecompilerCall* call) {
  THIMBLE_TRY(const abi::WindowGeometry g, read_geometry(call, 1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  if (g.in_c != g.out_c || g.in_c % 4 != 0) return bad_input("its channels are not in fours");
  const int64_t taps = int64_t{g.kernel_h} * g.kernel_w;
  PackedReader packed(*bytes);
  UnpackedFilters filters;
  for (int64_t first = 0; first < g.in_c; first += 4) {
    THIMBLE_TRY(const std::vector<int32_t> bias, packed.array<int32_t>(4));
    THIMBLE_TRY(const std::vector<int16_t> twice,
                packed.array<int16_t>(4 * abi::dsp_depthwise_taps(g)));
    THIMBLE_TRY(const std::vector<int32_t> scales, packed.array<int32_t>(8));
    for (size_t i = 0; i < 4; ++i) {
      filters.bias.push_back(bias[i] / 2);
      for (size_t k = 0; k < static_cast<size_t>(taps); ++k) {
        filters.weights.push_back(static_cast<int8_t>(twice[4 * k + kOrder[i]] / 2));
      }
      append_scale(scales[i], scales[4 + i], &filters);
    }
  }
  return build_qconv2d(call, g, g.in_c, std::move(filters));
}

Result<ValueId> decompile_linear_dsp(DecompilerCall* call) {
  return decompile_packed_linear(call, read_linear);
}

}  // namespace thimble::emit
