// Kernels that copy quantized values without change.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {

void copy(const KernelArgs& work) {
  const View& a = work.record.operands[0];
  loops_over(a, work.record.output, 0, a.rank)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        const int8_t* const from = work.a + at[0];
        int8_t* const to = work.y + at[1];
        if (steps[0] == 1 && steps[1] == 1) {
          memcpy(to, from, count);
          return;
        }
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          to[k * steps[1]] = from[k * steps[0]];
        }
      });
}

void pad(const KernelArgs& work) {
  const View& outside = work.record.outside;
  const auto fill = static_cast<int8_t>(work.record.fill);
  loops_over(outside, 0, outside.rank)
      .for_rows([&](const int32_t(&at)[1], uint32_t count, const int32_t(&steps)[1]) {
        int8_t* const to = work.outside + at[0];
        if (steps[0] == 1) {
          memset(to, static_cast<uint8_t>(fill), count);
          return;
        }
        for (uint32_t i = 0; i < count; ++i) to[static_cast<int32_t>(i) * steps[0]] = fill;
      });
  copy(work);
}

namespace {

/// Returns the position that is mirrored at `position`; the first and last element do not repeat.
int32_t mirrored(int32_t position, int32_t size) {
  if (position < 0) return -position;
  return position < size ? position : 2 * (size - 1) - position;
}

}  // namespace

void mirror_pad(const KernelArgs& work) {
  const View& a = work.record.operands[0];
  const View& y = work.record.output;
  const uint8_t* const before = work.constants(work.record.data);
  uint32_t position[kRankMax] = {};
  int32_t to = 0;
  for (;;) {
    int32_t from = 0;
    for (uint32_t k = 0; k < a.rank; ++k) {
      const int32_t inner = static_cast<int32_t>(position[k]) - int_at(before, k);
      from += mirrored(inner, static_cast<int32_t>(a.dims[k])) * a.strides[k];
    }
    work.y[to] = work.a[from];
    uint32_t k = y.rank;
    for (;;) {
      if (k == 0) return;
      --k;
      if (++position[k] < y.dims[k]) {
        to += y.strides[k];
        break;
      }
      position[k] = 0;
      to -= static_cast<int32_t>(y.dims[k] - 1) * y.strides[k];
    }
  }
}

}  // namespace thimble::neutron::model
