// SPDX-License-Identifier: Apache-2.0
// thimble::mean.packed: the mean over dimensions that are adjacent in memory, int8; formula:
// docs/numerics.md, "Pools and reductions"; constant: abi/packed_ops.h.
//
// Operands: x, MeanRun constant, y.

#include "kernels/args/mean_run.h"
#include "abi/ops/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

[[gnu::noinline]] void add_columns(const int8_t* x, uint32_t count, uint32_t step,
                                   int32_t (&sums)[4]) {
  while (count != 0) {
    const uint32_t some = count < 256 ? count : 256;
    ColumnSums part;
    part.add(x, some, step);
    part.each([&](uint32_t k, uint32_t sum) {
      sums[k] += static_cast<int32_t>(sum) - static_cast<int32_t>(128 * some);
    });
    x += some * step;
    count -= some;
  }
}

void run(void* const* operands) {
  const abi::MeanRun& p = packed<abi::op_info::thimble_mean_run>(operands[1]);
  const int32_t offset = static_cast<int32_t>(p.count) * p.mean.x_offset;
  mean_runs(operands, add_columns, [&](int32_t sum) {
    const int32_t scaled = numerics::requantize(sum + offset, p.mean.mult, p.mean.shift);
    const int32_t mean = numerics::wrap_add(scaled, p.mean.y_offset);
    return static_cast<int8_t>(numerics::clamp(mean, p.mean.min, p.mean.max));
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_mean_run, check_mean_run, run);

}  // namespace thimble::kernels
