// thimble::mean_run: the mean over dimensions that stand side by side in memory, of codes; formula:
// docs/numerics.md, "Pools and reductions"; constant: abi/packed_rows.h.
//
// Operands: x, MeanRun constant, y.

#include "kernels/args/mean_run.h"

#include "kernels/args/column_sums.h"
#include "kernels/args/nest.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

void add_columns(const int8_t* x, uint32_t count, uint32_t step, int32_t (&sums)[4]) {
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
  const abi::MeanRun& p = packed<abi::MeanRun>(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  const int32_t offset = static_cast<int32_t>(p.count) * p.mean.x_offset;
  const auto code = [&](int32_t sum) {
    const int32_t scaled = numerics::requantize(sum + offset, p.mean.mult, p.mean.shift);
    const int32_t mean = numerics::wrap_add(scaled, p.mean.y_offset);
    return static_cast<int8_t>(numerics::clamp(mean, p.mean.min, p.mean.max));
  };
  const bool words = whole_words(x, p.inner);
  for (uint32_t o = 0; o < p.outer; ++o) {
    uint32_t i = 0;
    if (words) {
      for (; i < p.inner; i += 4) {
        int32_t sums[4] = {};
        add_columns(x + i, p.count, p.inner, sums);
        for (uint32_t k = 0; k < 4; ++k) y[i + k] = code(sums[k]);
      }
    }
    for (; i < p.inner; ++i) y[i] = code(column_sum(x + i, p.count, p.inner));
    x += p.count * p.inner;
    y += p.inner;
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_mean_run, check_mean_run, run);

}  // namespace thimble::kernels
