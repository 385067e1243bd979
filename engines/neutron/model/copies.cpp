// SPDX-License-Identifier: Apache-2.0
// Kernels that copy quantized values without change.

#include "engines/neutron/container/window.h"
#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {

void copy(const KernelArgs& args) {
  const View& a = args.record.operands[0];
  loops_over(a, args.record.output, 0, a.rank)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        const int8_t* const from = args.a + at[0];
        int8_t* const to = args.y + at[1];
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

void pad(const KernelArgs& args) {
  const View& padded = args.record.padded;
  const auto fill = static_cast<int8_t>(args.record.fill);
  loops_over(padded, 0, padded.rank)
      .for_rows([&](const int32_t(&at)[1], uint32_t count, const int32_t(&steps)[1]) {
        int8_t* const to = args.padded + at[0];
        if (steps[0] == 1) {
          memset(to, static_cast<uint8_t>(fill), count);
          return;
        }
        for (uint32_t i = 0; i < count; ++i) to[static_cast<int32_t>(i) * steps[0]] = fill;
      });
  copy(args);
}

void mirror_pad(const KernelArgs& args) {
  const View& a = args.record.operands[0];
  const View& y = args.record.output;
  const uint8_t* const before = args.constants(args.record.data);
  uint32_t position[kRankMax] = {};
  int32_t to = 0;
  for (;;) {
    int32_t from = 0;
    for (uint32_t k = 0; k < a.rank; ++k) {
      const int32_t inner = static_cast<int32_t>(position[k]) - int_at(before, k);
      from += mirrored(inner, static_cast<int32_t>(a.dims[k])) * a.strides[k];
    }
    args.y[to] = args.a[from];
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
