// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear layers with weights of 4 bits (on the host the portable kernels),
// compared with the sum of docs/numerics.md over logical indices; and the bytes of all pairs of
// weights.

#include <gtest/gtest.h>

#include <cstring>

#include "abi/int4.h"
#include "abi/pte_ops.h"
#include "tests/kernels/int4_case.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

constexpr PteOp kInt4Ops[] = {PteOp::thimble_conv2d_dsp_int4,    PteOp::thimble_conv2d_mve_int4,
                              PteOp::thimble_conv2d_scalar_int4, PteOp::thimble_linear_dsp_int4,
                              PteOp::thimble_linear_mve_int4,    PteOp::thimble_linear_scalar_int4,
                              PteOp::thimble_conv2d_int4_group,  PteOp::thimble_linear_int4_group};

int8_t expected_at(const ConvCase& c, const int8_t* x, int32_t o, int32_t oy, int32_t ox) {
  int64_t acc = c.bias[static_cast<size_t>(o)];
  for (int32_t ky = 0; ky < c.kernel[0]; ++ky) {
    for (int32_t kx = 0; kx < c.kernel[1]; ++kx) {
      const int32_t iy = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
      const int32_t ix = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
      if (iy < 0 || iy >= c.in[0] || ix < 0 || ix >= c.in[1]) continue;
      for (int32_t i = 0; i < c.in_c; ++i) {
        acc += int64_t{x[(iy * c.in[1] + ix) * c.in_c + i] + c.x_offset} * c.weight(o, i, ky, kx);
      }
    }
  }
  const auto channel = static_cast<size_t>(o);
  return clamped(requantized(wrapped(acc), c.mult[channel], c.shift[channel]) + c.y_offset, c.min,
                 c.max);
}

void expect_right(PteOp op, uint32_t seed) {
  Random random(seed);
  const ConvCase c = int4_case(op, random);
  Invocation call = int4_call(op, c, random);
  ASSERT_NO_FATAL_FAILURE(call.run()) << c.text();
  const int8_t* const x = call.value(0).as<int8_t>();
  const int8_t* y = call.out().as<int8_t>();
  for (int32_t oy = 0; oy < c.out[0]; ++oy) {
    for (int32_t ox = 0; ox < c.out[1]; ++ox) {
      for (int32_t o = 0; o < c.out_c; ++o) {
        ASSERT_EQ(*y++, expected_at(c, x, o, oy, ox))
            << call.kernel->name << ' ' << c.text() << " at " << o << ',' << oy << ',' << ox
            << ", seed " << seed;
      }
    }
  }
  call.record_equal();
}

TEST(Int4, RandomCasesEqualTheFormula) {
  for (const PteOp op : kInt4Ops) {
    for (uint32_t seed = 0; seed < 300; ++seed) ASSERT_NO_FATAL_FAILURE(expect_right(op, seed));
  }
}

TEST(Int4, BytesStoreAllPairs) {
  for (int32_t low = -8; low <= 7; ++low) {
    for (int32_t high = -8; high <= 7; ++high) {
      const uint8_t pair = abi::int4_pair(low, high);
      EXPECT_EQ(abi::int4_low(pair), low);
      EXPECT_EQ(abi::int4_high(pair), high);
      const uint8_t offset = abi::int4_offset_pair(low, high);
      EXPECT_EQ(abi::int4_offset_low(offset), low);
      EXPECT_EQ(abi::int4_high(offset), high);
      EXPECT_EQ(static_cast<int8_t>(offset), 16 * high + low + 8);
    }
  }
}

/// Returns the call of the same layer with weights of 8 bits. A layer without 16-bit values: the
/// kernel with 8 bits is compared with the reference evaluator.
Invocation with_int8_weights(Invocation& call, bool lstm) {
  const size_t w_ih = lstm ? 3 : 2, shift = 7;
  const int32_t rows = (lstm ? 4 : 3) * call.out().sizes[2];
  Invocation wide(lstm ? PteOp::thimble_lstm : PteOp::thimble_gru);
  for (size_t i = 0; i + 1 < call.values.size(); ++i) {
    Value& from = call.value(i);
    Value to = make(from.dtype, from.sizes);
    std::memcpy(to.data.get(), from.data.get(), from.bytes);
    to.constant = from.constant;
    if (i == w_ih || i == w_ih + 1) {
      const int32_t terms = from.sizes[1];
      to = make(DType::kI8, {rows, terms});
      for (int32_t k = 0; k < rows * terms; ++k) {
        const int32_t row = k / terms;
        const uint8_t pair = from.as<uint8_t>()[row / 2 * terms + k % terms];
        const int32_t weight = row % 2 == 0 ? (pair & 15) - 8 : static_cast<int8_t>(pair) >> 4;
        to.as<int8_t>()[k] = static_cast<int8_t>(weight);
      }
    } else if (i == shift) {
      to = make(DType::kI32, from.sizes);
      for (int32_t k = 0; k < to.count(); ++k) to.as<int32_t>()[k] = from.as<int8_t>()[k];
      to.constant = true;
    }
    wide.add(std::move(to));
  }
  wide.add(make(call.out().dtype, call.out().sizes));
  return wide;
}

/// Makes biases and scales so small that the gates do not saturate and the weights matter.
void limit_gates(Invocation& call, bool lstm) {
  for (size_t i = lstm ? 5 : 4; i <= 5; ++i) {
    for (int32_t k = 0; k < call.value(i).count(); ++k) call.value(i).as<int32_t>()[k] %= 4000;
  }
  for (int32_t k = 0; k < call.value(6).count(); ++k) {
    call.value(6).as<int32_t>()[k] = (1 << 30) + k;
    call.value(7).as<int8_t>()[k] = static_cast<int8_t>(-k % 3);
  }
  if (!lstm) call.value(9).as<int32_t>()[4] = -7;  // h_shift
}

TEST(Int4, RecurrentLayersEqualThoseWithInt8Weights) {
  for (const PteOp op : {PteOp::thimble_gru_int4, PteOp::thimble_lstm_int4}) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      Invocation call = sample(op, random);
      limit_gates(call, op == PteOp::thimble_lstm_int4);
      Invocation wide = with_int8_weights(call, op == PteOp::thimble_lstm_int4);
      ASSERT_NO_FATAL_FAILURE(call.run());
      ASSERT_NO_FATAL_FAILURE(wide.run());
      ASSERT_EQ(call.out().bytes, wide.out().bytes);
      ASSERT_EQ(std::memcmp(call.out().data.get(), wide.out().data.get(), call.out().bytes), 0)
          << call.kernel->name << ", seed " << seed;
      call.record_equal();
    }
  }
}

TEST(Int4, ShortConstantsAreRefused) {
  for (const PteOp op : kInt4Ops) {
    Random random(7);
    Invocation call = int4_sample(op, random);
    const auto bytes = call.value(2).as<uint8_t>();
    call.value(2) = constant_bytes({bytes, bytes + call.value(2).bytes - 1});
    EXPECT_NE(call.check(), Status::kOk) << call.kernel->name;
  }
}

}  // namespace
}  // namespace thimble::kernels::test
