// SPDX-License-Identifier: Apache-2.0
// Convolutions and batch norms of ATen in float32, compared with their formulas over logical
// indices.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

float& element(Value& value, const Sizes& index) {
  return value.as<float>()[value.at(index)];
}

/// Numbers of which all products and sums below are exact in float32.
void fill_with_small_integers(Value& value, Random& random) {
  for (int32_t i = 0; i < value.count(); ++i) {
    value.as<float>()[i] = static_cast<float>(uniform(random, -8, 8));
  }
}

double expected_convolution(Invocation& call, const Sizes& index) {
  Value &x = call.value(0), &w = call.value(1), &bias = call.value(2);
  const bool transposed = call.args[6].integer != 0;
  const auto groups = static_cast<int32_t>(call.args[8].integer);
  const int32_t o = index[1], group_in = x.sizes[1] / groups;
  const int32_t group_out = call.out().sizes[1] / groups;
  double sum = bias.null ? 0 : bias.as<float>()[o];
  const Sizes window(w.sizes.begin() + 2, w.sizes.end());
  for (int32_t i = 0; i < group_in; ++i) {
    const int32_t channel = o / group_out * group_in + i;
    for (Sizes tap; next(window, tap);) {
      Sizes from = {index[0], channel};
      bool inside = true;
      for (size_t axis = 0; axis < window.size(); ++axis) {
        const int32_t stride = call.args[3].ints.items[axis], pad = call.args[4].ints.items[axis];
        int32_t position = 0;
        if (transposed) {
          // The input element whose tap is written to this output element.
          const int32_t scaled = index[2 + axis] + pad - tap[axis];
          inside = inside && scaled % stride == 0;
          position = scaled / stride;
          inside = inside && scaled >= 0;
        } else {
          position = index[2 + axis] * stride - pad + tap[axis];
        }
        inside = inside && position >= 0 && position < x.sizes[2 + axis];
        from.push_back(position);
      }
      if (!inside) continue;
      Sizes weight = transposed ? Sizes{channel, o % group_out} : Sizes{o, i};
      weight.insert(weight.end(), tap.begin(), tap.end());
      sum += static_cast<double>(element(x, from)) * static_cast<double>(element(w, weight));
    }
  }
  return sum;
}

TEST(AtenFloat, Convolutions) {
  Random random(21);
  for (int i = 0; i < 500; ++i) {
    Invocation call = sample(PteOp::aten_convolution, random);
    for (const size_t operand : {0U, 1U, 2U}) {
      if (!call.value(operand).null) fill_with_small_integers(call.value(operand), random);
    }
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes index; next(call.out().sizes, index);) {
      ASSERT_EQ(static_cast<double>(element(call.out(), index)), expected_convolution(call, index))
          << i;
    }
    call.record_equal();
  }
}

TEST(AtenFloat, BatchNorms) {
  Random random(22);
  for (int i = 0; i < 200; ++i) {
    Invocation call = sample(PteOp::aten_batch_norm, random);
    Value& variance = call.value(4);
    for (int32_t c = 0; c < variance.count(); ++c) {
      variance.as<float>()[c] = static_cast<float>(uniform(random, 1, 16));
    }
    for (const size_t operand : {0U, 1U, 2U, 3U})
      fill_with_small_integers(call.value(operand), random);
    ASSERT_NO_FATAL_FAILURE(call.run());
    Value& y = call.value(7);
    for (Sizes index; next(y.sizes, index);) {
      const int32_t c = index[1];
      const auto of = [&](size_t operand) {
        return static_cast<double>(call.value(operand).as<float>()[c]);
      };
      const double x = static_cast<double>(element(call.value(0), index));
      const double expected = (x - of(3)) / std::sqrt(of(4) + 1e-5) * of(1) + of(2);
      ASSERT_NEAR(static_cast<double>(element(y, index)), expected,
                  1e-5 * std::max(1.0, std::abs(expected)))
          << i;
    }
    call.record_equal();
  }
}

}  // namespace
}  // namespace thimble::kernels::test
