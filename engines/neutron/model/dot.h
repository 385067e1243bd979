// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dot products: the inner loop, which takes most of a network's time.

#include <stdint.h>

namespace thimble::neutron::model {

/// Number of output channels that are summed together; each input element is loaded once for all.
inline constexpr uint32_t kChannelsTogether = 4;

/// Adds (x - zero_point) * w over `count` elements to the sum of each lane. The weights of a lane
/// are contiguous; those of the next lane begin `lane_step` further.
template <uint32_t kCount>
inline void add_products(const int8_t* x, const int8_t* w, uint32_t lane_step, uint32_t count,
                         int32_t zero_point, uint32_t (&sums)[kChannelsTogether]) {
  uint32_t local[kCount];
  for (uint32_t lane = 0; lane < kCount; ++lane) local[lane] = sums[lane];
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t value = x[i] - zero_point;
    for (uint32_t lane = 0; lane < kCount; ++lane) {
      local[lane] += static_cast<uint32_t>(value * w[lane * lane_step + i]);
    }
  }
  for (uint32_t lane = 0; lane < kCount; ++lane) sums[lane] = local[lane];
}

/// As add_products(), with input elements `x_step` bytes apart.
template <uint32_t kCount>
inline void add_products_strided(const int8_t* x, int32_t x_step, const int8_t* w,
                                 uint32_t lane_step, uint32_t count, int32_t zero_point,
                                 uint32_t (&sums)[kChannelsTogether]) {
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t value = x[static_cast<int32_t>(i) * x_step] - zero_point;
    for (uint32_t lane = 0; lane < kCount; ++lane) {
      sums[lane] += static_cast<uint32_t>(value * w[lane * lane_step + i]);
    }
  }
}

/// Chooses the function for `lanes` lanes and for the input's step.
inline void dot(const int8_t* x, int32_t x_step, const int8_t* w, uint32_t lane_step,
                uint32_t count, int32_t zero_point, uint32_t lanes,
                uint32_t (&sums)[kChannelsTogether]) {
  if (x_step == 1 && lanes == kChannelsTogether) {
    return add_products<kChannelsTogether>(x, w, lane_step, count, zero_point, sums);
  }
  if (lanes == kChannelsTogether) {
    return add_products_strided<kChannelsTogether>(x, x_step, w, lane_step, count, zero_point,
                                                   sums);
  }
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t one[kChannelsTogether] = {sums[lane]};
    const int8_t* const of_lane = w + lane * lane_step;
    if (x_step == 1) {
      add_products<1>(x, of_lane, 0, count, zero_point, one);
    } else {
      add_products_strided<1>(x, x_step, of_lane, 0, count, zero_point, one);
    }
    sums[lane] = one[0];
  }
}

}  // namespace thimble::neutron::model
