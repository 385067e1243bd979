// SPDX-License-Identifier: Apache-2.0
// linear, stock (bias, kernel_sum or neither) and native, compared with the sum of
// docs/numerics.md.

#include <gtest/gtest.h>

#include "abi/params/linear.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

struct LinearCase {
  Sizes leading;
  int32_t in = 1, out = 1;
  int32_t x_offset = 0, y_offset = 0, min = -128, max = 127;
  std::vector<int32_t> bias, mult, shift;
  std::vector<int8_t> weights;

  LinearCase(Random& random, Sizes rows, int32_t in_features, int32_t out_features,
             bool per_channel)
      : leading(std::move(rows)), in(in_features), out(out_features) {
    weights.resize(static_cast<size_t>(in * out));
    for (int8_t& w : weights) w = static_cast<int8_t>(random());
    for (int32_t o = 0; o < out; ++o) {
      const bool fresh = o == 0 || per_channel;
      mult.push_back(fresh ? uniform(random, 1 << 30, INT32_MAX) : mult[0]);
      shift.push_back(fresh ? uniform(random, -12, -3) : shift[0]);
      bias.push_back(uniform(random, -30000, 30000));
    }
    x_offset = uniform(random, -127, 128);
    y_offset = uniform(random, -128, 127);
    min = uniform(random, -128, -50);
    max = uniform(random, 50, 127);
  }

  Sizes shape(int32_t last) const {
    Sizes sizes = leading;
    sizes.push_back(last);
    return sizes;
  }

  std::vector<int32_t> kernel_sum() const {
    std::vector<int32_t> sums = bias;
    for (int32_t o = 0; o < out; ++o) {
      for (int32_t i = 0; i < in; ++i) {
        sums[static_cast<size_t>(o)] += x_offset * weights[static_cast<size_t>(o * in + i)];
      }
    }
    return sums;
  }

  enum Form { kBias, kKernelSum, kNeither };
  Invocation stock(Random& random, Form form, bool lists_per_channel) const {
    Value w = make(DType::kI8, {out, in});
    std::copy(weights.begin(), weights.end(), w.as<int8_t>());
    w.constant = true;
    Value sum = form == kKernelSum ? constant_words(kernel_sum()) : absent();
    if (form == kKernelSum && uniform(random, 0, 1) == 0) {
      sum.sizes = {1, out};
      sum.order = contiguous(2);
    }
    Invocation call(PteOp::cortex_m_quantized_linear);
    call.add(random_codes(random, shape(in))).add(std::move(w));
    call.add(form == kBias ? constant_words(bias) : absent()).add(std::move(sum));
    call.add(int64_t{x_offset}).add(int64_t{0}).add(int64_t{y_offset});
    if (lists_per_channel) {
      call.add(mult).add(shift);
    } else {
      call.add(std::vector<int32_t>{mult[0]}).add(std::vector<int32_t>{shift[0]});
    }
    call.add(int64_t{max}).add(int64_t{min}).add(make(DType::kI8, shape(out)));
    return call;
  }

  /// Returns the native call, with one scale for all outputs or one per output.
  Invocation native(Random& random, bool one_scale = false) const {
    const size_t scales = one_scale ? 1 : static_cast<size_t>(out);
    const abi::LinearParams header = {in,  out, static_cast<int32_t>(scales), x_offset, y_offset,
                                      min, max};
    std::vector<uint8_t> bytes;
    append(bytes, &header, 1);
    append_packed(bytes, bias, {mult.begin(), mult.begin() + static_cast<int>(scales)},
                  {shift.begin(), shift.begin() + static_cast<int>(scales)}, weights);
    Invocation call(PteOp::thimble_linear);
    call.add(random_codes(random, shape(in))).add(constant_bytes(bytes));
    call.add(make(DType::kI8, shape(out)));
    return call;
  }

  void expect(Invocation call, bool with_bias) const {
    ASSERT_NO_FATAL_FAILURE(call.run());
    const int8_t* x = call.value(0).as<int8_t>();
    const int8_t* y = call.out().as<int8_t>();
    for (int32_t k = 0; k < call.out().count(); ++k) {
      const size_t o = static_cast<size_t>(k % out);
      int64_t acc = with_bias ? bias[o] : 0;
      for (int32_t i = 0; i < in; ++i) {
        acc += int64_t{x[k / out * in + i] + x_offset} *
               weights[o * static_cast<size_t>(in) + static_cast<size_t>(i)];
      }
      ASSERT_EQ(y[k], clamped(requantized(wrapped(acc), mult[o], shift[o]) + y_offset, min, max))
          << call.kernel->name << " in " << in << " out " << out << " at " << k;
    }
    call.record_equal();
  }
};

void expect_stock_forms(const LinearCase& c, Random& random, bool lists_per_channel) {
  for (const auto form : {LinearCase::kBias, LinearCase::kKernelSum, LinearCase::kNeither}) {
    c.expect(c.stock(random, form, lists_per_channel), form != LinearCase::kNeither);
  }
}

TEST(Linear, EverySmallShape) {
  Random random(1);
  for (int32_t rows = 1; rows <= 3; ++rows) {
    for (int32_t in = 1; in <= 9; ++in) {
      for (int32_t out = 1; out <= 9; ++out) {
        const LinearCase per_tensor(random, {rows}, in, out, false);
        ASSERT_NO_FATAL_FAILURE(expect_stock_forms(per_tensor, random, false));
        ASSERT_NO_FATAL_FAILURE(per_tensor.expect(per_tensor.native(random, true), true));
        const LinearCase c(random, {rows}, in, out, true);
        if (out <= 8) {
          ASSERT_NO_FATAL_FAILURE(expect_stock_forms(c, random, true));
        }
        ASSERT_NO_FATAL_FAILURE(c.expect(c.native(random), true));
      }
    }
  }
}

TEST(Linear, LeadingDimensionsAreRows) {
  Random random(2);
  for (const Sizes& leading : {Sizes{}, Sizes{1, 1, 5}, Sizes{2, 3}, Sizes{2, 1, 3, 2, 1}}) {
    const LinearCase c(random, leading, 33, 7, true);
    ASSERT_NO_FATAL_FAILURE(c.expect(c.native(random), true));
    ASSERT_NO_FATAL_FAILURE(expect_stock_forms(c, random, true));
  }
}

TEST(Linear, RandomLarger) {
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const LinearCase c(random, {uniform(random, 1, 4)}, uniform(random, 1, 300),
                       uniform(random, 1, 70), true);
    ASSERT_NO_FATAL_FAILURE(c.expect(c.native(random), true));
  }
}

TEST(Linear, RefusesInvalidArguments) {
  Random random(4);
  const LinearCase c(random, {2}, 6, 5, true);
  const auto status = [&](auto change) {
    Invocation call = c.stock(random, LinearCase::kBias, true);
    change(call);
    return call.check();
  };
  const auto words = [](int n) {
    return constant_words(std::vector<int32_t>(static_cast<size_t>(n)));
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  EXPECT_EQ(status([](Invocation& i) { i.args[5].integer = 1; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[4].integer = 129; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[6].integer = 128; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[6].integer = int64_t{1} << 32; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[9].integer = -129; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { std::swap(i.args[9].integer, i.args[10].integer); }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[7].ints.count = 3; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[8].ints.count = 0; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[8].ints.items[4] = 31; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[8].ints.items[4] = 256; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[7].ints.items[4] = -1; }), Status::kBadParameter);
  EXPECT_EQ(status([&](Invocation& i) { i.value(3) = words(5); }), Status::kBadParameter);
  EXPECT_EQ(status([&](Invocation& i) { i.value(2) = words(4); }), Status::kBadShape);
  EXPECT_EQ(status([&](Invocation& i) { i.value(2) = make(DType::kF32, {5}); }), Status::kBadDType);
  EXPECT_EQ(status([&](Invocation& i) {
              i.value(1) = make(DType::kI8, {5, 7});
            }),
            Status::kBadShape);
  EXPECT_EQ(status([&](Invocation& i) {
              i.value(1) = make(DType::kI8, {5, 6}, {1, 0});
            }),
            Status::kBadDimOrder);
  EXPECT_EQ(status([&](Invocation& i) {
              i.value(0) = make(DType::kI8, {2, 6}, {1, 0});
            }),
            Status::kBadDimOrder);
  EXPECT_EQ(status([&](Invocation& i) { i.out() = make(DType::kI8, {3, 5}); }), Status::kBadShape);
  EXPECT_EQ(status([&](Invocation& i) { i.out() = make(DType::kU8, {2, 5}); }), Status::kBadDType);
}

TEST(Linear, RefusesABlobOfAnotherSize) {
  Random random(5);
  const LinearCase c(random, {2}, 6, 5, true);
  const auto with_bytes = [&](int change) {
    Invocation call = c.native(random);
    std::vector<uint8_t> bytes(call.value(1).as<uint8_t>(),
                               call.value(1).as<uint8_t>() + call.value(1).bytes);
    bytes.resize(static_cast<size_t>(static_cast<int>(bytes.size()) + change));
    call.value(1) = constant_bytes(bytes);
    return call.check();
  };
  EXPECT_EQ(with_bytes(0), Status::kOk);
  EXPECT_EQ(with_bytes(15), Status::kOk);
  EXPECT_EQ(with_bytes(16), Status::kBadParameter);
  EXPECT_EQ(with_bytes(-1), Status::kBadParameter);
  EXPECT_EQ(with_bytes(-90), Status::kBadParameter);
  Invocation call = c.native(random);
  call.value(1).constant = false;
  EXPECT_EQ(call.check(), Status::kBadParameter);
  call.value(1).constant = true;
  for (const int32_t scales : {0, 2, 4, 6, -1}) {
    call.value(1).as<abi::LinearParams>()->scales = scales;
    EXPECT_EQ(call.check(), Status::kBadParameter);
  }
  call.value(1).as<abi::LinearParams>()->in_features = 7;
  EXPECT_EQ(call.check(), Status::kBadShape);
}

}  // namespace
}  // namespace thimble::kernels::test
