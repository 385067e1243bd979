// Elementwise kernels.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {
namespace {

/// Computes y = f(a) for every element.
template <class F>
void unary(const KernelArgs& work, F f) {
  const View& a = work.record.operands[0];
  loops_over(a, work.record.output, 0, a.rank)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        const int8_t* x = work.a + at[0];
        int8_t* y = work.y + at[1];
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          y[k * steps[1]] = f(x[k * steps[0]]);
        }
      });
}

/// Computes y = f(a, b) for every element.
template <class F>
void binary(const KernelArgs& work, F f) {
  const KernelRecord& record = work.record;
  loops_over(record.operands[0], record.operands[1], record.output)
      .for_rows([&](const int32_t(&at)[3], uint32_t count, const int32_t(&steps)[3]) {
        const int8_t* a = work.a + at[0];
        const int8_t* b = work.b + at[1];
        int8_t* y = work.y + at[2];
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          y[k * steps[2]] = f(a[k * steps[0]], b[k * steps[1]]);
        }
      });
}

}  // namespace

/// Both operands are converted to a common scale with 20 additional bits. For a subtraction, the
/// second operand is negated before that.
void add(const KernelArgs& work) {
  constexpr int32_t kSpare = 20;
  const KernelRecord& record = work.record;
  const OutputStage finish(work);
  const Factor of_a = work.factor(0);
  const Factor of_b = work.factor(1);
  const Factor of_y = work.factor(2);
  const bool single = work.single();
  const int32_t sign = record.kernel == Kernel::kSub ? -1 : 1;
  binary(work, [=](int32_t a, int32_t b) {
    const int32_t wide_a = (a - record.a_zero_point) * (1 << kSpare);
    const int32_t wide_b = sign * (b - record.b_zero_point) * (1 << kSpare);
    const int32_t sum = wrapping_add(scaled(wide_a, of_a, single), scaled(wide_b, of_b, single));
    return finish(scaled(sum, of_y, single));
  });
}

void multiply(const KernelArgs& work) {
  const KernelRecord& record = work.record;
  const OutputStage finish(work);
  const Factor factor = work.factor(2);
  const bool single = work.single();
  binary(work, [=](int32_t a, int32_t b) {
    const int32_t product = (a - record.a_zero_point) * (b - record.b_zero_point);
    return finish(scaled(product, factor, single));
  });
}

void maximum(const KernelArgs& work) {
  const OutputStage finish(work);
  const bool least = work.record.kernel == Kernel::kMinimum;
  binary(work, [=](int32_t a, int32_t b) { return finish.code((a < b) == least ? a : b); });
}

void prelu(const KernelArgs& work) {
  const KernelRecord& record = work.record;
  const OutputStage finish(work);
  const Factor above = work.factor(2);
  const Factor below = work.factor(1);
  const bool single = work.single();
  binary(work, [=](int32_t x, int32_t slope) {
    const int32_t value = x - record.a_zero_point;
    if (value >= 0) return finish(scaled(value, above, single));
    return finish(scaled(value * (slope - record.b_zero_point), below, single));
  });
}

void table(const KernelArgs& work) {
  const auto* const entries =
      reinterpret_cast<const int8_t*>(work.constants(work.record.table)) + 128;
  unary(work, [=](int32_t x) { return entries[x]; });
}

void rescale(const KernelArgs& work) {
  const KernelRecord& record = work.record;
  const OutputStage finish(work);
  const Factor factor = work.factor(2);
  const bool single = work.single();
  unary(work, [=](int32_t x) { return finish(scaled(x - record.a_zero_point, factor, single)); });
}

}  // namespace thimble::neutron::model
