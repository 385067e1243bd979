// SPDX-License-Identifier: Apache-2.0
// compare, maximum, minimum, logical_*, where, div and prelu, compared with docs/numerics.md: each
// pair of small broadcast shapes in random dimension orders, every pair of quantized values, other
// element types, and in-place calls.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tests/kernels/reference.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

/// Computes an output element from the operands' elements.
using Formula = std::function<int64_t(const std::vector<int64_t>& operands)>;

struct Trial {
  PteOp op;
  std::vector<DType> types;    // types of the operands
  std::vector<int32_t> words;  // attributes
  DType result;
  Formula formula;
};

int64_t number(Value& v, size_t at) {
  switch (v.dtype) {
    case DType::kI8:
      return v.as<int8_t>()[at];
    case DType::kI16:
      return v.as<int16_t>()[at];
    case DType::kI32:
      return v.as<int32_t>()[at];
    case DType::kI64:
      return v.as<int64_t>()[at];
    default:
      return v.as<uint8_t>()[at];
  }
}

/// Returns the memory position that an output index reads under numpy's broadcast rules.
size_t broadcast_at(const Value& v, const Sizes& index) {
  Sizes own(v.sizes.size());
  for (size_t d = 0; d < own.size(); ++d) {
    own[d] = v.sizes[d] == 1 ? 0 : index[index.size() - own.size() + d];
  }
  return v.at(own);
}

/// Random values in a small range, so that some are equal; bool: 0 and other bytes.
Value random_value(Random& random, DType dtype, const Sizes& sizes) {
  Value value = make(dtype, sizes, random_order(random, sizes.size()));
  value.fill(random);
  const int32_t count = value.count();
  for (int32_t i = 0; i < count; ++i) {
    const int32_t few = uniform(random, -2, 2);
    if (dtype == DType::kBool) value.as<uint8_t>()[i] = static_cast<uint8_t>(std::max(few, 0));
    if (dtype == DType::kI32) value.as<int32_t>()[i] = few << 29;
    if (dtype == DType::kI64) value.as<int64_t>()[i] = int64_t{few} << 40;
    if (dtype == DType::kI16) value.as<int16_t>()[i] = static_cast<int16_t>(few << 13);
  }
  return value;
}

Invocation invocation(Random& random, const Trial& trial, const std::vector<Sizes>& operands,
                      const Sizes& y) {
  Invocation call(trial.op);
  for (size_t i = 0; i < operands.size(); ++i) {
    call.add(random_value(random, trial.types[i], operands[i]));
  }
  if (!trial.words.empty()) call.add(attributes(trial.words));
  call.add(make(trial.result, y, random_order(random, y.size())));
  return call;
}

void expect_right(Invocation call, const Trial& trial) {
  ASSERT_NO_FATAL_FAILURE(call.run());
  Value& y = call.out();
  for (Sizes i; next(y.sizes, i);) {
    std::vector<int64_t> operands;
    for (size_t k = 0; k < trial.types.size(); ++k) {
      operands.push_back(number(call.value(k), broadcast_at(call.value(k), i)));
    }
    ASSERT_EQ(number(y, y.at(i)), trial.formula(operands)) << call.kernel->name;
  }
  call.record_equal();
}

using Operands = std::vector<int64_t>;

std::vector<Trial> choices(DType dtype) {
  std::vector<Trial> trials = {
      {PteOp::thimble_maximum,
       {dtype, dtype},
       {},
       dtype,
       [](const Operands& v) { return std::max(v[0], v[1]); }},
      {PteOp::thimble_minimum,
       {dtype, dtype},
       {},
       dtype,
       [](const Operands& v) { return std::min(v[0], v[1]); }},
      {PteOp::thimble_where,
       {DType::kBool, dtype, dtype},
       {},
       dtype,
       [](const Operands& v) { return v[0] != 0 ? v[1] : v[2]; }},
  };
  const std::function<bool(int64_t, int64_t)> relations[] = {
      std::equal_to<>(),   std::not_equal_to<>(), std::less<>(),
      std::less_equal<>(), std::greater<>(),      std::greater_equal<>()};
  for (int32_t i = 0; i < 6; ++i) {
    const auto relation = relations[i];
    trials.push_back(
        {PteOp::thimble_compare, {dtype, dtype}, {i}, DType::kBool, [=](const Operands& v) {
           return relation(v[0], v[1]) ? 1 : 0;
         }});
  }
  return trials;
}

std::vector<Trial> logic() {
  constexpr DType kBool = DType::kBool;
  return {{PteOp::thimble_logical_and,
           {kBool, kBool},
           {},
           kBool,
           [](const Operands& v) { return v[0] != 0 && v[1] != 0; }},
          {PteOp::thimble_logical_or,
           {kBool, kBool},
           {},
           kBool,
           [](const Operands& v) { return v[0] != 0 || v[1] != 0; }},
          {PteOp::thimble_logical_not, {kBool}, {}, kBool, [](const Operands& v) {
             return v[0] == 0;
           }}};
}

int64_t quotient(int64_t a, int64_t b, const std::vector<int32_t>& p) {
  if (b == 0) return a > 0 ? p[6] : a < 0 ? p[5] : clamped(p[2], p[5], p[6]);
  const int64_t twice = 2 * std::abs(a) * (1 << 20);
  const int64_t magnitude = (twice / std::abs(b) + 1) / 2;
  const int64_t t = (a < 0) == (b < 0) ? magnitude : -magnitude;
  return clamped(requantized(t, p[3], p[4]) + p[2], p[5], p[6]);
}

Trial random_div(Random& random) {
  const std::vector<int32_t> p = {uniform(random, -128, 127), uniform(random, -128, 127),
                                  uniform(random, -128, 127), uniform(random, 1 << 30, INT32_MAX),
                                  uniform(random, -24, 3),    uniform(random, -128, -60),
                                  uniform(random, 60, 127),   0};
  return {PteOp::thimble_div, {DType::kI8, DType::kI8}, p, DType::kI8, [p](const Operands& v) {
            return quotient(v[0] - p[0], v[1] - p[1], p);
          }};
}

Trial random_prelu(Random& random) {
  const auto mult = [&] { return uniform(random, 1 << 30, INT32_MAX); };
  const auto zero_point = [&] { return uniform(random, -128, 127); };
  const std::vector<int32_t> p = {zero_point(),
                                  zero_point(),
                                  zero_point(),
                                  mult(),
                                  uniform(random, -6, 2),
                                  mult(),
                                  uniform(random, -14, -5),
                                  uniform(random, -128, -60),
                                  uniform(random, 60, 127),
                                  0};
  return {PteOp::thimble_prelu, {DType::kI8, DType::kI8}, p, DType::kI8, [p](const Operands& v) {
            const int64_t x = v[0] - p[0];
            const int64_t y =
                x >= 0 ? requantized(x, p[3], p[4]) : requantized(x * (v[1] - p[1]), p[5], p[6]);
            return static_cast<int64_t>(clamped(y + p[2], p[7], p[8]));
          }};
}

std::vector<Trial> all_trials(Random& random) {
  std::vector<Trial> trials = choices(DType::kI8);
  for (Trial& trial : logic()) trials.push_back(std::move(trial));
  trials.push_back(random_div(random));
  trials.push_back(random_prelu(random));
  return trials;
}

TEST(Choice, EverySmallBroadcast) {
  Random random(1);
  // Rank 3: each dimension has extent 1..3 in y; each operand has that extent or 1.
  for (Sizes extent; next({3, 3, 3}, extent);) {
    for (Sizes keep; next({2, 2, 2, 2, 2, 2}, keep);) {
      Sizes a, b, y;
      for (size_t d = 0; d < 3; ++d) {
        a.push_back(keep[d] == 0 ? extent[d] + 1 : 1);
        b.push_back(keep[3 + d] == 0 ? extent[d] + 1 : 1);
        y.push_back(std::max(a[d], b[d]));
      }
      for (const Trial& trial : all_trials(random)) {
        std::vector<Sizes> operands = {a, b, a[0] == 1 ? Sizes{a[1], a[2]} : y};
        operands.resize(trial.types.size());
        const bool alone = operands.size() == 1;
        const bool follows_first = trial.op == PteOp::thimble_prelu;
        if (follows_first) operands[0] = y;
        ASSERT_NO_FATAL_FAILURE(
            expect_right(invocation(random, trial, operands, alone ? a : y), trial));
      }
    }
  }
}

TEST(Choice, AllPairsOfInt8Values) {
  Random random(2);
  for (int round = 0; round < 10; ++round) {
    std::vector<Trial> trials = {random_div(random), random_prelu(random)};
    if (round == 0) trials = all_trials(random);
    for (const Trial& trial : trials) {
      if (trial.types.size() != 2 || trial.types[0] != DType::kI8) continue;
      const bool follows_first = trial.op == PteOp::thimble_prelu;
      Value a = make(DType::kI8, follows_first ? Sizes{256, 256} : Sizes{256, 1});
      Value b = make(DType::kI8, {1, 256});
      for (int i = 0; i < a.count(); ++i) {
        const int code = follows_first ? i / 256 : i;
        a.as<int8_t>()[i] = static_cast<int8_t>(code - 128);
      }
      for (int i = 0; i < 256; ++i) b.as<int8_t>()[i] = static_cast<int8_t>(i - 128);
      Invocation call(trial.op);
      call.add(std::move(a)).add(std::move(b));
      if (!trial.words.empty()) call.add(attributes(trial.words));
      call.add(make(trial.result, {256, 256}));
      ASSERT_NO_FATAL_FAILURE(expect_right(std::move(call), trial));
    }
  }
}

TEST(Choice, ScalarsAndRankSix) {
  Random random(3);
  for (const Trial& trial : all_trials(random)) {
    const size_t count = trial.types.size();
    const auto expect = [&](std::vector<Sizes> operands, const Sizes& y) {
      operands.resize(count);
      if (trial.op == PteOp::thimble_prelu || count == 1) operands[0] = y;
      expect_right(invocation(random, trial, operands, y), trial);
    };
    expect({{}, {}, {}}, {});
    expect({{2, 3}, {}, {3}}, {2, 3});
    expect({{2, 1, 3, 1, 2, 3}, {2, 3, 1, 2, 3}, {}}, {2, 2, 3, 1, 2, 3});
  }
}

TEST(Choice, OtherElementTypes) {
  Random random(4);
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kBool}) {
    for (const Trial& trial : choices(dtype)) {
      std::vector<Sizes> operands = {{2, 3, 4}, {3, 1}, {2, 1, 1}};
      operands.resize(trial.types.size());
      if (trial.types.size() == 3) operands[1] = {2, 3, 4};
      expect_right(invocation(random, trial, operands, {2, 3, 4}), trial);
    }
  }
  // `where` moves elements of any type. Comparison of floats is not supported.
  Trial floats = choices(DType::kI32)[2];
  Invocation call = invocation(random, floats, {{4}, {4}, {1}}, {4});
  for (const size_t i : {1U, 2U, 3U}) call.value(i).dtype = DType::kF32;
  EXPECT_EQ(call.check(), Status::kOk);
  for (const size_t i : {0U, 3U}) {
    const Trial trial = choices(DType::kI32)[i];
    Invocation refused = invocation(random, trial, {{4}, {4}}, {4});
    refused.value(0).dtype = refused.value(1).dtype = DType::kF32;
    if (i == 0) refused.out().dtype = DType::kF32;
    EXPECT_EQ(refused.check(), Status::kBadDType);
  }
}

TEST(Choice, InPlace) {
  Random random(5);
  for (const Trial& trial : all_trials(random)) {
    for (size_t over = 0; over < trial.types.size(); ++over) {
      if (over == 1 && trial.op == PteOp::thimble_prelu) continue;  // never shared with the output
      std::vector<Sizes> operands(trial.types.size(), {3, 1, 2});
      operands[over] = {3, 4, 2};
      if (trial.op == PteOp::thimble_prelu) operands[0] = {3, 4, 2};
      Invocation call = invocation(random, trial, operands, {3, 4, 2});
      call.out() = make(trial.result, {3, 4, 2}, call.value(over).order);
      call.run();
      const std::vector<uint8_t> y(call.out().data.get(), call.out().data.get() + call.out().bytes);
      call.value(over).dtype = trial.types[over];
      Value& shared = call.value(over);
      std::vector<uint8_t> result(y.size());
      // The output, with its own type, shares the operand's bytes.
      Value out = make(trial.result, shared.sizes, shared.order);
      std::memcpy(out.data.get(), shared.data.get(), shared.bytes);
      Arg args[5];
      ASSERT_EQ(call.check(), Status::kOk);
      std::copy(call.args.begin(), call.args.end(), args);
      args[over].tensor.data = out.data.get();
      args[call.args.size() - 1].tensor.data = out.data.get();
      Call raw;
      raw.args = args;
      call.kernel->run(raw);
      EXPECT_EQ(std::memcmp(out.data.get(), y.data(), y.size()), 0) << call.kernel->name;
    }
  }
}

TEST(Choice, RefusesInvalidArguments) {
  Random random(6);
  const auto status = [&](PteOp op, auto change) {
    Invocation call = sample(op, random);
    change(call);
    return call.check();
  };
  const auto word = [&](PteOp op, size_t i, int32_t value) {
    return status(op, [=](Invocation& c) { c.value(2).as<int32_t>()[i] = value; });
  };
  EXPECT_EQ(word(PteOp::thimble_compare, 0, 6), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_compare, 0, -1), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_div, 4, 4), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_div, 4, -32), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_div, 7, 1), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_prelu, 4, 31), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_prelu, 5, -1), Status::kBadParameter);
  EXPECT_EQ(word(PteOp::thimble_prelu, 9, 1), Status::kBadParameter);
  for (const PteOp op : {PteOp::thimble_div, PteOp::thimble_prelu}) {
    for (const size_t zero_point : {0U, 1U, 2U}) {
      EXPECT_EQ(word(op, zero_point, 128), Status::kBadParameter);
      EXPECT_EQ(word(op, zero_point, INT32_MIN), Status::kBadParameter);
    }
    EXPECT_EQ(status(op,
                     [](Invocation& c) {
                       c.value(2) = attributes({1, 2, 3});
                     }),
              Status::kBadParameter);
  }
  for (const PteOp op : {PteOp::thimble_maximum, PteOp::thimble_where, PteOp::thimble_logical_or}) {
    EXPECT_EQ(status(op,
                     [](Invocation& c) {
                       c.out() = make(c.out().dtype, {7, 7, 7, 7, 7});
                     }),
              Status::kBadShape);
    EXPECT_EQ(status(op, [](Invocation& c) { c.value(1).dtype = DType::kU8; }), Status::kBadDType);
  }
  // The slopes must not make the result's shape larger.
  Invocation wide(PteOp::thimble_prelu);
  wide.add(make(DType::kI8, {2, 1})).add(make(DType::kI8, {3}));
  wide.add(attributes({0, 0, 0, 1 << 30, 0, 1 << 30, 0, -128, 127, 0}));
  wide.add(make(DType::kI8, {2, 3}));
  EXPECT_EQ(wide.check(), Status::kBadShape);
}

}  // namespace
}  // namespace thimble::kernels::test
