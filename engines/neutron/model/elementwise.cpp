// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {
namespace {

/// Computes y = f(a) for every element.
template <class F>
void unary(const KernelArgs& args, F f) {
  const View& a = args.record.operands[0];
  loops_over(a, args.record.output, 0, a.rank)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        const int8_t* x = args.a + at[0];
        int8_t* y = args.y + at[1];
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          y[k * steps[1]] = f(x[k * steps[0]]);
        }
      });
}

/// Computes y = f(a, b) for every element.
template <class F>
void binary(const KernelArgs& args, F f) {
  const KernelRecord& record = args.record;
  loops_over(record.operands[0], record.operands[1], record.output)
      .for_rows([&](const int32_t(&at)[3], uint32_t count, const int32_t(&steps)[3]) {
        const int8_t* a = args.a + at[0];
        const int8_t* b = args.b + at[1];
        int8_t* y = args.y + at[2];
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          y[k * steps[2]] = f(a[k * steps[0]], b[k * steps[1]]);
        }
      });
}

}  // namespace

/// Both operands are converted to a common scale with 20 additional bits. For a subtraction, the
/// second operand is negated before that.
void add_or_subtract(const KernelArgs& args) {
  constexpr int32_t kSpare = 20;
  const KernelRecord& record = args.record;
  const OutputStage finish(args);
  const Multiplier of_a = args.multiplier(0);
  const Multiplier of_b = args.multiplier(1);
  const Multiplier of_y = args.multiplier(2);
  const bool single = args.rounds_once();
  const int32_t sign = record.kernel == Kernel::kSub ? -1 : 1;
  binary(args, [=](int32_t a, int32_t b) {
    const int32_t wide_a = (a - record.a_zero_point) * (1 << kSpare);
    const int32_t wide_b = sign * (b - record.b_zero_point) * (1 << kSpare);
    const int32_t sum = wrapping_add(scaled(wide_a, of_a, single), scaled(wide_b, of_b, single));
    return finish(scaled(sum, of_y, single));
  });
}

void multiply(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const OutputStage finish(args);
  const Multiplier factor = args.multiplier(2);
  const bool single = args.rounds_once();
  binary(args, [=](int32_t a, int32_t b) {
    const int32_t product = (a - record.a_zero_point) * (b - record.b_zero_point);
    return finish(scaled(product, factor, single));
  });
}

void maximum_or_minimum(const KernelArgs& args) {
  const OutputStage finish(args);
  const bool least = args.record.kernel == Kernel::kMinimum;
  binary(args,
         [=](int32_t a, int32_t b) { return finish.clamp_and_map((a < b) == least ? a : b); });
}

void prelu(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const OutputStage finish(args);
  const Multiplier above = args.multiplier(2);
  const Multiplier below = args.multiplier(1);
  const bool single = args.rounds_once();
  binary(args, [=](int32_t x, int32_t slope) {
    const int32_t value = x - record.a_zero_point;
    if (value >= 0) return finish(scaled(value, above, single));
    return finish(scaled(value * (slope - record.b_zero_point), below, single));
  });
}

void table(const KernelArgs& args) {
  const auto* const entries =
      reinterpret_cast<const int8_t*>(args.constants(args.record.table)) + 128;
  unary(args, [=](int32_t x) { return entries[x]; });
}

void rescale(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const OutputStage finish(args);
  const Multiplier factor = args.multiplier(2);
  const bool single = args.rounds_once();
  unary(args, [=](int32_t x) { return finish(scaled(x - record.a_zero_point, factor, single)); });
}

}  // namespace thimble::neutron::model
