// SPDX-License-Identifier: Apache-2.0
// Reductions of the last dimensions: mean, sum, maximum, minimum.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {
namespace {

/// Calls `each(x, y)` for every output element: `x` is the offset of its first operand element.
template <class Each>
void for_results(const KernelArgs& args, uint32_t kept, Each each) {
  loops_over(args.record.operands[0], args.record.output, 0, kept)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          each(at[0] + k * steps[0], at[1] + k * steps[1]);
        }
      });
}

template <class Join>
int32_t reduced(const KernelArgs& args, const Loops<1>& loops, int32_t x, int32_t first,
                Join join) {
  int32_t value = first;
  loops.for_rows([&](const int32_t(&at)[1], uint32_t count, const int32_t(&steps)[1]) {
    const int8_t* const row = args.a + x + at[0];
    for (uint32_t i = 0; i < count; ++i) {
      value = join(value, row[static_cast<int32_t>(i) * steps[0]]);
    }
  });
  return value;
}

template <class Join, class End>
void reduce(const KernelArgs& args, int32_t first, Join join, End end) {
  const View& a = args.record.operands[0];
  const uint32_t kept = a.rank - args.record.reduced;
  const Loops<1> loops = loops_over(a, kept, a.rank);
  for_results(args, kept,
              [&](int32_t x, int32_t y) { args.y[y] = end(reduced(args, loops, x, first, join)); });
}

}  // namespace

void mean(const KernelArgs& args) {
  const OutputStage finish(args);
  const int32_t zero_point = args.record.a_zero_point;
  const Multiplier factor = args.multiplier(2);
  const bool single = args.rounds_once();
  reduce(
      args, 0, [=](int32_t sum, int32_t x) { return wrapping_add(sum, x - zero_point); },
      [=](int32_t sum) { return finish(scaled(sum, factor, single)); });
}

void reduce_max_min(const KernelArgs& args) {
  const OutputStage finish(args);
  const auto end = [=](int32_t value) { return finish.clamp_and_map(value); };
  if (args.record.kernel == Kernel::kReduceMax) {
    return reduce(
        args, -128, [](int32_t most, int32_t x) { return x > most ? x : most; }, end);
  }
  reduce(
      args, 127, [](int32_t least, int32_t x) { return x < least ? x : least; }, end);
}

}  // namespace thimble::neutron::model
