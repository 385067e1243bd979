// SPDX-License-Identifier: Apache-2.0
// thimble::adaptive_avg_pool2d; operands and memory: kernels/args/adaptive.h; formula:
// docs/numerics.md, "Pools and reductions".

#include "abi/ops/pool.h"
#include "kernels/args/adaptive.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::AdaptiveAvgPool2dParams;

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_adaptive_pool(call, sizeof(AdaptiveAvgPool2dParams)));
  const AdaptiveAvgPool2dParams& p =
      params<abi::op_info::thimble_adaptive_avg_pool2d>(tensor(call, 1));
  const bool wide = tensor(call, 0).dtype == DType::kI16;
  const bool bounds = wide ? are_bounds16(p.min, p.max) : are_bounds(p.min, p.max);
  if (!bounds) return Status::kBadParameter;
  int64_t taps = 1;
  for (uint32_t side = 0; side < 2; ++side) {
    const AdaptiveAxis axis = adaptive_axis(call, side);
    const int32_t most = axis.in / axis.out + 2;
    taps *= most < axis.in ? most : axis.in;
  }
  // Upper bound of the sum plus half the count for rounding.
  return taps * (wide ? 32768 : 128) + taps / 2 <= INT32_MAX ? Status::kOk : Status::kBadShape;
}

template <class Code>
struct Patch {
  const Code* x;
  int32_t rows, columns, x_row, x_column;
};

template <class Code>
int32_t sum(const Patch<Code>& patch, int32_t channel) {
  int32_t total = 0;
  for (int32_t row = 0; row < patch.rows; ++row) {
    const Code* const x = patch.x + channel + row * patch.x_row;
    for (int32_t column = 0; column < patch.columns; ++column) total += x[column * patch.x_column];
  }
  return total;
}

template <class Code>
void pool(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const AdaptiveAvgPool2dParams& p =
      params<abi::op_info::thimble_adaptive_avg_pool2d>(tensor(call, 1));
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
        const int32_t start = ((n * down.in + rows.first) * across.in + columns.first) * channels;
        const Patch<Code> patch = {image + start, rows.last - rows.first,
                                   columns.last - columns.first, across.in * channels, channels};
        const int32_t count = patch.rows * patch.columns;
        for (int32_t c = 0; c < channels; ++c) {
          const int32_t total = sum(patch, c);
          const int32_t mean = (total + (total >= 0 ? count / 2 : -(count / 2))) / count;
          *y++ = static_cast<Code>(numerics::clamp(mean, p.min, p.max));
        }
      }
    }
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? pool<int8_t>(call) : pool<int16_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_adaptive_avg_pool2d, check, run);

}  // namespace thimble::kernels
