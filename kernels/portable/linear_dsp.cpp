// SPDX-License-Identifier: Apache-2.0
// linear_dsp on any core: computes the packed form of abi/matmul_dsp.h pair by pair. It is the
// reference for the fast variant and runs such files on the host.

#include "kernels/args/linear_dsp.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/packed_dsp.h"

namespace thimble::kernels {
namespace {

using abi::LinearGeometry;
using numerics::clamp;
using numerics::wrap_add;
using numerics::wrap_mul;
using numerics::wrap_sub;

/// Addresses of the constants of a pair of outputs. Depth k is half word k % 4 / 2 of word k % 2 in
/// its group of four.
struct Pair {
  const uint8_t* bias;
  const uint8_t* halves;
  uint32_t word, four;  // distance in bytes between words and between groups of four
  const uint8_t* ends;  // the five words at the end of a pair
};

/// `o` is the first output of the pair.
Pair pair_at(const LinearGeometry& g, const uint8_t* weights, uint32_t o) {
  const uint32_t bytes = 48 + 4 * g.in_features;
  const uint8_t* const at = weights + o / 4 * bytes;
  if (g.out_features - o / 4 * 4 < 3) return {at, at + 4, 4, 8, at + bytes / 2 - 20};
  const uint32_t second = o % 4 / 2;
  return {at + 4 * second, at + 8 + 4 * second, 8, 16, at + bytes - 40 + 20 * second};
}

void make_pair(const LinearGeometry& g, const int8_t* x, const Pair& at, int8_t* pair) {
  int32_t a = word_at(at.bias);
  int32_t both = a;
  for (uint32_t k = 0; k < g.in_features; ++k) {
    const uint8_t* const half = at.halves + k / 4 * at.four + k % 2 * at.word + k % 4 / 2 * 2;
    a = wrap_add(a, wrap_mul(x[k], static_cast<int8_t>(half[0])));
    both = wrap_add(both, wrap_mul(x[k], static_cast<int16_t>(half[1] << 8 | half[0])));
  }
  const int32_t twice[2] = {wrap_mul(a, 2), wrap_add(word_at(at.ends), wrap_sub(both, a) >> 7)};
  for (int32_t i = 0; i < 2; ++i) {
    const uint8_t* const mult = at.ends + 4 + 8 * i;
    const int32_t code = finish_dsp(twice[i], word_at(mult), word_at(mult + 4), g.y_zero_point);
    pair[i] = static_cast<int8_t>(clamp(code, g.min, g.max));
  }
}

void run(void* const* operands) {
  const LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* const weights = static_cast<const uint8_t*>(operands[2]);
  auto* y = static_cast<int8_t*>(operands[3]);
  int8_t pair[2] = {};
  for (uint32_t i = 0; i < g.rows; ++i, x += g.in_features) {
    for (uint32_t o = 0; o < g.out_features; ++o) {
      if (o % 2 == 0) make_pair(g, x, pair_at(g, weights, o), pair);
      *y++ = pair[o % 2];
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_dsp, check_linear_dsp, run);

}  // namespace thimble::kernels
