// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/rows_case.h"

#include <cmath>

#include "abi/params/arithmetic.h"
#include "numerics/multiplier.h"
#include "numerics/softmax16.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {

abi::LoopNest nest_of(const std::vector<TestAxis>& axes) {
  abi::LoopNest nest = {};
  for (uint32_t& extent : nest.extent) extent = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t at = abi::LoopNest::kAxes - axes.size() + i;
    nest.extent[at] = axes[i].extent;
    nest.step[0][at] = axes[i].first;
    nest.step[1][at] = axes[i].second;
  }
  return nest;
}

abi::SoftmaxRows softmax_constant(double x_scale, uint32_t rows, uint32_t length, bool wide) {
  const double real = std::min(x_scale * 0x1p26, 0x1p31 - 1);
  const numerics::Multiplier m = numerics::quantize_multiplier(real);
  const auto diff_min = -static_cast<int32_t>(31 * 0x1p26 / std::exp2(m.shift));
  abi::SoftmaxRows p = {rows, length, m.mult, m.shift, diff_min, {}, wide ? 1U : 0U};
  const numerics::Softmax softmax = {m.mult, m.shift, diff_min};
  for (int32_t k = 0; k < 256; ++k) {
    if (length == 2) {
      const int8_t x[] = {127, static_cast<int8_t>(127 - k)};
      int8_t y[2];
      int16_t y_wide[2];
      softmax.row(x, 2, y);
      numerics::softmax16_row(softmax, x, 2, y_wide);
      const auto larger = static_cast<uint16_t>(wide ? y_wide[0] : y[0]);
      const auto other = static_cast<uint16_t>(wide ? y_wide[1] : y[1]);
      p.exp[k] = larger | uint32_t{other} << 16;
    } else if (-k >= diff_min) {
      p.exp[k] = static_cast<uint32_t>(softmax.exp(-k));
    }
  }
  return p;
}

abi::AddTable add_constant(const abi::AddParams& params, const abi::LoopNest& nest) {
  abi::AddTable p = {nest, params, {}, {}};
  for (int32_t code = -128; code <= 127; ++code) {
    const int64_t a = int64_t{code + params.a_offset} << 20;
    const int64_t b =
        int64_t{params.b_negate != 0 ? -(code + params.b_offset) : code + params.b_offset} *
        (1 << 20);
    p.a[code & 255] = static_cast<int32_t>(2 * requantized(a, params.a_mult, params.a_shift));
    p.b[code & 255] = static_cast<int32_t>(2 * requantized(b, params.b_mult, params.b_shift));
  }
  return p;
}

}  // namespace thimble::kernels::test
