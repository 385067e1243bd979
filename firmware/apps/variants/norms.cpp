// SPDX-License-Identifier: Apache-2.0
// Cases of the norms: with and without factors and terms, rows of any length, planes and pixels.

#include "abi/params/norm.h"

#include <cstring>

#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

constexpr int32_t kTermMax = 1 << 30;

template <class Params>
Params common(Case& c) {
  Params p = {};
  p.int_eps = c.uniform(0, 2) == 0 ? 0 : c.uniform(0, 1 << c.uniform(1, 30));
  p.eps_shift = c.uniform(0, 30);
  p.y_zp = c.uniform(-128, 127);
  p.mult = c.uniform(1 << 30, INT32_MAX);
  p.shift = -c.one_of({0, 1, 5, 9, 10, 11, 12, 13, 20, 31});
  p.min = c.uniform(0, 1) == 0 ? -128 : c.uniform(-128, 0);
  p.max = c.uniform(0, 1) == 0 ? 127 : c.uniform(0, 127);
  return p;
}

/// Adds x, some of whose rows have equal or close values.
void add_x(Case& c, const int32_t* sizes, uint32_t rank, int32_t count) {
  int8_t* const x = c.input<int8_t>(count);
  c.shape(DType::kI8, sizes, rank);
  const int32_t spread = c.uniform(0, 9);
  for (int32_t i = 0; i < count; ++i) x[i] = static_cast<int8_t>(x[i] >> (spread > 7 ? 7 : spread));
}

void add_entries(Case& c, int32_t count, bool has_terms) {
  if (c.uniform(0, 3) == 0) {
    c.null();
  } else {
    c.input<int16_t>(count);
    c.shape(DType::kI16, &count, 1);
  }
  if (!has_terms) return;
  if (c.uniform(0, 3) == 0) {
    c.null();
    return;
  }
  auto* const terms = c.input<int32_t>(count);
  const int32_t most = c.uniform(0, 1) == 0 ? kTermMax : 1 << 16;
  for (int32_t i = 0; i < count; ++i) terms[i] = c.uniform(-most, most);
  c.shape(DType::kI32, &count, 1);
  c.constant();
}

template <class Params>
void add_params(Case& c, const Params& p) {
  std::memcpy(c.input<Params>(1), &p, sizeof p);
  const int32_t size = sizeof p;
  c.shape(DType::kU8, &size, 1);
}

void make_last_dims(Case& c, bool is_layer_norm) {
  const int32_t sizes[] = {c.uniform(1, 3), c.uniform(1, 5), c.uniform(1, 70)};
  const int32_t count = sizes[0] * sizes[1] * sizes[2];
  const int32_t dims = c.uniform(1, 2);
  const int32_t entries = dims == 1 ? sizes[2] : sizes[1] * sizes[2];
  add_x(c, sizes, 3, count);
  add_entries(c, entries, is_layer_norm);
  if (is_layer_norm) {
    auto p = common<abi::LayerNormParams>(c);
    p.last_dims = dims;
    add_params(c, p);
  } else {
    auto p = common<abi::RmsNormParams>(c);
    p.last_dims = dims;
    p.x_zp = c.uniform(-128, 127);
    add_params(c, p);
  }
  c.output(count);
  c.shape(DType::kI8, sizes, 3);
  c.text() << sizes[0] << "x" << sizes[1] << "x" << sizes[2] << ", last " << dims;
}

}  // namespace

void make_layer_norm(uint32_t, Case& c) {
  make_last_dims(c, true);
}

void make_rms_norm(uint32_t, Case& c) {
  make_last_dims(c, false);
}

void make_group_norm(uint32_t index, Case& c) {
  const int32_t groups = c.uniform(1, 4);
  const int32_t sizes[] = {c.uniform(1, 2), groups * c.uniform(1, 9), c.uniform(1, 6),
                           c.uniform(1, 9)};
  const int32_t count = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  const bool pixels = index % 2 == 0;
  add_x(c, sizes, 4, count);
  if (pixels) c.channels_last();
  add_entries(c, sizes[1], true);
  auto p = common<abi::GroupNormParams>(c);
  p.groups = groups;
  add_params(c, p);
  c.output(count);
  c.shape(DType::kI8, sizes, 4);
  if (pixels) c.channels_last();
  c.text() << groups << " groups, " << sizes[0] << "x" << sizes[1] << "x" << sizes[2] << "x"
           << sizes[3] << (pixels ? ", channels last" : "");
}

}  // namespace thimble::firmware
