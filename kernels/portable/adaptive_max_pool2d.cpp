// SPDX-License-Identifier: Apache-2.0
// thimble::adaptive_max_pool2d, int8 or int16; operands and memory: kernels/args/adaptive.h;
// formula: docs/numerics.md, "Pools and reductions". Each tap updates the maxima of all channels in
// the output.

#include "abi/ops/pool.h"
#include "kernels/args/adaptive.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  return check_adaptive_pool(call, sizeof(abi::AdaptiveMaxPool2dParams));
}

template <class Code>
void fold(const Code* x, int32_t channels, Code* y) {
  for (int32_t c = 0; c < channels; ++c) y[c] = x[c] > y[c] ? x[c] : y[c];
}

template <class Code, int32_t kLowest>
void pool(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const AdaptiveAxis down = adaptive_axis(call, 0);
  const AdaptiveAxis across = adaptive_axis(call, 1);
  const int32_t channels = x.sizes[1];
  const Code* const image = static_cast<const Code*>(x.data);
  Code* y = static_cast<Code*>(tensor(call, 2).data);
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t oy = 0; oy < down.out; ++oy) {
      const InputRange rows = down.input_range(oy);
      for (int32_t ox = 0; ox < across.out; ++ox) {
        const InputRange columns = across.input_range(ox);
        for (int32_t c = 0; c < channels; ++c) y[c] = kLowest;
        for (int32_t row = rows.first; row < rows.last; ++row) {
          for (int32_t column = columns.first; column < columns.last; ++column) {
            fold(image + ((n * down.in + row) * across.in + column) * channels, channels, y);
          }
        }
        y += channels;
      }
    }
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? pool<int8_t, INT8_MIN>(call)
                                      : pool<int16_t, INT16_MIN>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_adaptive_max_pool2d, check, run);

}  // namespace thimble::kernels
