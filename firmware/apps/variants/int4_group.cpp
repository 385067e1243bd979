// SPDX-License-Identifier: Apache-2.0
// Linear layers and 1x1 convolutions with weights of 4 bits in groups (abi/int4_group.h).

#include <cstring>

#include "abi/int4_group.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

void pack(Case& c, uint32_t channels, uint32_t depth) {
  const auto bytes = static_cast<int32_t>(abi::int4_group_bytes(channels, depth));
  auto* w = reinterpret_cast<uint8_t*>(c.input<int32_t>(bytes / 4));
  int32_t least = 9;  // avoids results that are all 0 or all at the bounds
  for (uint32_t sum = depth; sum > 16; sum /= 4) ++least;
  for (uint32_t channel = 0; channel < channels; channel += 4) {
    abi::Int4Quad quad = {};
    for (int32_t k = 0; k < 4; ++k) {
      quad.bias[k] = c.uniform(-20000, 20000);
      quad.mult[k] = static_cast<int32_t>(0x40000000U + (c.next() >> 2));
      quad.shift[k] = static_cast<int8_t>(-c.uniform(least, least + 3));
    }
    std::memcpy(w, &quad, sizeof quad);
    w += sizeof quad;
    for (uint32_t first = 0; first < depth; first += abi::kInt4Group) {
      for (int32_t k = 0; k < 4; ++k) w[k] = static_cast<uint8_t>(c.uniform(0, 15));
      const uint32_t rest = depth - first;
      w += 4 + 2 * (rest < abi::kInt4Group ? rest : abi::kInt4Group);
    }
  }
}

template <class Geometry>
void set_bounds(Case& c, Geometry& g) {
  g.x_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.min = static_cast<int16_t>(c.uniform(0, 2) == 0 ? g.y_zero_point : -128);
  g.max = static_cast<int16_t>(c.uniform(0, 2) == 0 ? c.uniform(g.min, 127) : 127);
}

}  // namespace

void make_linear_int4_group(uint32_t index, Case& c) {
  abi::LinearGeometry g = {};
  g.rows = static_cast<uint32_t>(index % 2 == 0 ? 1 : c.uniform(1, 6));
  g.in_features = static_cast<uint32_t>(4 * c.uniform(1, 40));
  g.out_features = static_cast<uint32_t>(c.uniform(1, 14));
  set_bounds(c, g);
  c.text() << "rows " << g.rows << ", in " << g.in_features << ", out " << g.out_features;
  c.input<int8_t>(static_cast<int32_t>(g.rows * g.in_features));
  *c.input<abi::LinearGeometry>(1) = g;
  pack(c, g.out_features, g.in_features);
  c.scratch(static_cast<int32_t>(abi::int4_group_scratch_bytes(g.in_features)));
  c.output(static_cast<int32_t>(g.rows * g.out_features));
}

void make_conv2d_int4_group(uint32_t, Case& c) {
  abi::WindowGeometry g = {};
  g.in_h = g.out_h = static_cast<uint16_t>(c.uniform(1, 3));
  g.in_w = g.out_w = static_cast<uint16_t>(c.uniform(1, 4));
  g.in_c = static_cast<uint16_t>(4 * c.uniform(1, 30));
  g.out_c = static_cast<uint16_t>(c.uniform(1, 14));
  g.kernel_h = g.kernel_w = g.stride_h = g.stride_w = g.dilation_h = g.dilation_w = 1;
  set_bounds(c, g);
  c.text() << g.in_h << "x" << g.in_w << "x" << g.in_c << " to " << g.out_c;
  c.input<int8_t>(g.in_h * g.in_w * g.in_c);
  std::memcpy(c.input<abi::WindowGeometry>(1), &g, sizeof g);
  pack(c, g.out_c, g.in_c);
  c.scratch(static_cast<int32_t>(abi::int4_group_scratch_bytes(g.in_c)));
  c.output(g.out_h * g.out_w * g.out_c);
}

}  // namespace thimble::firmware
