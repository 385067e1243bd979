// SPDX-License-Identifier: Apache-2.0
#include "kernels/dsp/unpacked_layer.h"

#if THIMBLE_HAS_DSP

namespace thimble::kernels::dsp {
namespace {

/// Products are at most 255 * 128 with the offset of x.
constexpr int32_t kDepthMax = 1 << 14;
constexpr int32_t kBiasMax = 1 << 29;

}  // namespace

bool requant_supported(const Requant& requant, int32_t channels, int32_t depth) {
  if (depth > kDepthMax) return false;
  const int8_t* shift = requant.shift;
  for (int32_t o = 0; o < channels; ++o, shift += requant.shift_step) {
    const int32_t bias = requant.start(o);
    if (*shift > -2 || bias > kBiasMax || bias < -kBiasMax) return false;
  }
  return true;
}

int32_t sum_of(const int8_t* weights, int32_t count) {
  const uint32_t ones = 0x00010001;
  int32_t sum = 0;
  const int8_t* const end = weights + count;
#pragma GCC unroll 2
  for (const int8_t* const fours = weights + (count & ~3); weights != fours; weights += 4) {
    uint32_t word;
    __builtin_memcpy(&word, weights, sizeof word);
    uint32_t pair;
    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(pair), "r"(ones));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(pair), "r"(ones));
  }
  while (weights != end) sum += *weights++;
  return sum;
}

UnpackedLayer::UnpackedLayer(const int8_t* weights, int32_t channels, int32_t depth,
                             int32_t x_offset, const Requant& requant)
    : weights_(weights),
      channels_(channels),
      depth_(depth),
      x_offset_(x_offset),
      requant_(requant) {}

bool UnpackedLayer::next_tile() {
  first_ += count_;
  if (first_ == channels_) return false;
  count_ = channels_ - first_ < kTileChannels ? channels_ - first_ : kTileChannels;
  if (count_ >= 2) {
    count_ &= ~1;
  } else {
    // The last channel is computed together with the one before it, a second time.
    first_ = channels_ - 2;
    count_ = 2;
  }
  const int8_t* w = weights_ + first_ * depth_;
  for (int32_t i = 0; i < count_; ++i, w += depth_) {
    const int32_t o = first_ + i;
    int32_t bias = requant_.start(o);
    if (x_offset_ != 0) bias = numerics::wrap_add(bias, x_offset_ * sum_of(w, depth_));
    tile_[i] = {bias, requant_.mult[o * requant_.mult_step], scale_of(requant_, o)};
  }
  return true;
}

void UnpackedLayer::multiply(const UnpackedRow* rows, int8_t* const (&y)[2]) {
  UnpackedBlock block = {
      {y[0] + first_, y[1] + first_}, weights_ + first_ * depth_, tile_, tile_ + count_, rows,
      static_cast<uint32_t>(depth_),  requant_.y_offset};
  multiply_unpacked(&block);
}

}  // namespace thimble::kernels::dsp
#endif
