// SPDX-License-Identifier: Apache-2.0
#include "kernels/mve/unpacked_layer.h"

#if THIMBLE_HAS_MVE
#include "kernels/mve/requant.h"

namespace thimble::kernels::mve {

bool shifts_supported(const Requant& requant, int32_t channels) {
  const int32_t last = negative_rounding_correction(requant.y_offset, requant.min) != 0 ? -1 : 0;
  if (requant.shift_step == 0) channels = 1;
  const int8_t* shift = requant.shift;
  int32_t largest = *shift;
  for (int32_t o = channels; o != 0; --o) {
    largest = largest > *shift ? largest : *shift;
    shift += requant.shift_step;
  }
  return largest <= last;
}

UnpackedLayer::UnpackedLayer(const int8_t* weights, int32_t channels, uint32_t depth,
                             int32_t x_offset, const Requant& requant)
    : weights_(weights), channels_(channels), x_offset_(x_offset), requant_(requant) {
  block_.y_zero_point = requant.y_offset;
  block_.negative_rounding_correction = negative_rounding_correction(requant.y_offset, requant.min);
  block_.min = requant.min;
  block_.max = requant.max;
  block_.depth = depth;
}

bool UnpackedLayer::next_tile() {
  first_ += count_;
  if (first_ == channels_) return false;
  count_ = channels_ - first_ < kTileChannels ? channels_ - first_ : kTileChannels;
  if (count_ >= 4) {
    count_ &= ~3;
  } else {
    // The last channels are computed together with channels before them, a second time.
    first_ = channels_ - 4;
    count_ = 4;
  }
  const int8_t* w = weights_ + first_ * static_cast<int32_t>(block_.depth);
  for (int32_t i = 0; i < count_; ++i) {
    const int32_t o = first_ + i;
    abi::MatmulQuad& quad = quads_[i / 4];
    uint32_t bias = static_cast<uint32_t>(requant_.start(o));
    if (x_offset_ != 0) bias += static_cast<uint32_t>(x_offset_) * sum_of(w, block_.depth);
    quad.bias[i % 4] = static_cast<int32_t>(bias);
    quad.mult[i % 4] = requant_.mult[o * requant_.mult_step];
    quad.shift[i % 4] = requant_.shift[o * requant_.shift_step];
    w += block_.depth;
  }
  return true;
}

void UnpackedLayer::multiply(const UnpackedRow* rows, int8_t* const (&y)[3]) {
  for (int32_t i = 0; i < 3; ++i) block_.y[i] = y[i] + first_;
  block_.quads = quads_;
  block_.quads_end = quads_ + count_ / 4;
  block_.weights = weights_ + first_ * static_cast<int32_t>(block_.depth);
  block_.rows = rows;
  block_.row_step = -static_cast<int32_t>(-rows->bytes % 16);
  multiply_unpacked(&block_);
}

}  // namespace thimble::kernels::mve
#endif
