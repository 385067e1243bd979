// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and quantize and dequantize, which can change the memory order:
// every small shape, in all or in random dimension orders, compared by logical index.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

const DType kTypes[] = {DType::kI8, DType::kI16, DType::kF32, DType::kI64, DType::kBool};

Value random_value(Random& random, DType dtype, const Sizes& sizes, Order order = {}) {
  Value value = make(dtype, sizes, std::move(order));
  value.fill(random);
  return value;
}

Sizes random_sizes(Random& random, size_t rank) {
  Sizes sizes;
  for (size_t d = 0; d < rank; ++d) sizes.push_back(uniform(random, 1, 4));
  return sizes;
}

bool same_element(const Value& a, const Sizes& i, const Value& b, const Sizes& k) {
  const uint32_t size = bytes_of(a.dtype);
  return std::memcmp(a.data.get() + a.at(i) * size, b.data.get() + b.at(k) * size, size) == 0;
}

/// Checks that y[i] equals x[source(i)] for every index.
template <class Source>
void expect_moved(Invocation& call, Value& x, Source source) {
  for (Sizes i; next(call.out().sizes, i);) {
    ASSERT_TRUE(same_element(call.out(), i, x, source(i))) << call.kernel->name;
  }
  call.record_equal();
}

Invocation clone(Value x, std::vector<int32_t> order, Value y) {
  Invocation call(PteOp::dim_order_clone);
  call.add(std::move(x)).add(int64_t{0}).add(order).add(std::move(y));
  return call;
}

TEST(Clone, EveryPairOfOrdersUpToRankFour) {
  Random random(1);
  for (size_t rank = 0; rank <= 4; ++rank) {
    Order from = contiguous(rank);
    do {
      Order to = contiguous(rank);
      do {
        const DType dtype = kTypes[random() % std::size(kTypes)];
        const Sizes sizes = random_sizes(random, rank);
        std::vector<int32_t> list;
        if (random() % 2 == 0) list.assign(to.begin(), to.end());
        Invocation call =
            clone(random_value(random, dtype, sizes, from), list, make(dtype, sizes, to));
        ASSERT_NO_FATAL_FAILURE(call.run());
        expect_moved(call, call.value(0), [](const Sizes& i) { return i; });
      } while (std::next_permutation(to.begin(), to.end()));
    } while (std::next_permutation(from.begin(), from.end()));
  }
}

TEST(Clone, RankSix) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Sizes sizes = random_sizes(random, 6);
    Invocation call = clone(random_value(random, DType::kI8, sizes, random_order(random, 6)), {},
                            make(DType::kI8, sizes, random_order(random, 6)));
    ASSERT_NO_FATAL_FAILURE(call.run());
    expect_moved(call, call.value(0), [](const Sizes& index) { return index; });
  }
}

TEST(Clone, RefusesInvalidArguments) {
  const auto status = [](Sizes x, std::vector<int32_t> order, DType dtype, int64_t non_blocking) {
    Invocation call = clone(make(DType::kI8, x), order, make(dtype, {2, 3}));
    call.args[1].integer = non_blocking;
    return call.check();
  };
  EXPECT_EQ(status({2, 3}, {0, 1}, DType::kI8, 0), Status::kOk);
  EXPECT_EQ(status({2, 3}, {1, 0}, DType::kI8, 0), Status::kBadDimOrder);
  EXPECT_EQ(status({2, 3}, {0}, DType::kI8, 0), Status::kBadParameter);
  EXPECT_EQ(status({2, 3}, {0, 1}, DType::kI8, 1), Status::kBadParameter);
  EXPECT_EQ(status({3, 2}, {0, 1}, DType::kI8, 0), Status::kBadShape);
  EXPECT_EQ(status({2, 3}, {0, 1}, DType::kU8, 0), Status::kBadDType);
  EXPECT_EQ(status({2, 3}, {0, 1}, static_cast<DType>(5), 0), Status::kBadDType);
}

TEST(Clone, AcceptsOverlappingOperands) {
  Random random(2);
  const auto run = [&](int64_t bytes_ahead, DType dtype, Order to) {
    const auto element = bytes_of(dtype);
    Invocation call = clone(random_value(random, dtype, {4, 5}), {}, make(dtype, {4, 5}, to));
    for (const uint8_t d : to) call.args[2].ints.items[call.args[2].ints.count++] = d;
    ASSERT_EQ(call.check(), Status::kOk);
    Buffer memory = allocate(20 * element + 16);
    std::memset(memory.get(), 0x11, 20 * element + 16);
    std::vector<Arg> args = call.args;
    args[0].tensor.data = memory.get() + (bytes_ahead < 0 ? -bytes_ahead : 0);
    args[3].tensor.data = memory.get() + (bytes_ahead < 0 ? 0 : bytes_ahead);
    Call raw;
    raw.args = args.data();
    ASSERT_EQ(call.kernel->check(raw), Status::kOk);
    call.kernel->run(raw);
    for (uint32_t i = 0; i < 20 * element + 16; ++i) ASSERT_EQ(memory.get()[i], 0x11);
  };
  for (const int64_t ahead : {-16, -8, 0, 8, 16}) {
    for (const Order& to : {contiguous(2), Order{1, 0}}) {
      run(ahead, DType::kI8, to);
      run(ahead, DType::kI64, to);
    }
  }
}

TEST(Transpose, EveryPermutationUpToRankFour) {
  Random random(3);
  for (size_t rank = 1; rank <= 4; ++rank) {
    Order perm = contiguous(rank);
    do {
      for (int repeat = 0; repeat < 4; ++repeat) {
        const Sizes sizes = random_sizes(random, rank);
        Sizes permuted;
        for (const uint8_t d : perm) permuted.push_back(sizes[d]);
        Invocation call(PteOp::cortex_m_transpose);
        call.add(random_codes(random, sizes)).add(std::vector<int32_t>(perm.begin(), perm.end()));
        call.add(make(DType::kI8, permuted));
        ASSERT_NO_FATAL_FAILURE(call.run());
        expect_moved(call, call.value(0), [&](const Sizes& i) {
          Sizes from(rank);
          for (size_t d = 0; d < rank; ++d) from[perm[d]] = i[d];
          return from;
        });
      }
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Transpose, RefusesInvalidArguments) {
  const auto status = [](std::vector<int32_t> perm, Sizes y, Order order = {}) {
    Invocation call(PteOp::cortex_m_transpose);
    call.add(make(DType::kI8, {2, 3}, order)).add(perm).add(make(DType::kI8, y));
    return call.check();
  };
  EXPECT_EQ(status({1, 0}, {3, 2}), Status::kOk);
  EXPECT_EQ(status({1, 0}, {2, 3}), Status::kBadShape);
  EXPECT_EQ(status({-1, 0}, {3, 2}), Status::kBadParameter);
  EXPECT_EQ(status({2, 0}, {3, 2}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0}, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status({1}, {3, 2}), Status::kBadParameter);
  EXPECT_EQ(status({1, 0}, {3, 2}, {1, 0}), Status::kBadDimOrder);
}

TEST(Expand, EverySmallShape) {
  Random random(4);
  for (int i = 0; i < 600; ++i) {
    const size_t rank = random() % 7;
    const size_t rank_x = random() % (rank + 1);
    const Sizes sizes = random_sizes(random, rank);
    Sizes x_sizes;
    std::vector<int32_t> list(sizes.begin(), sizes.end());
    for (size_t d = rank - rank_x; d < rank; ++d) {
      const bool keep = random() % 2 == 0;
      x_sizes.push_back(keep ? sizes[d] : 1);
      if (keep && random() % 2 == 0) list[d] = -1;
    }
    const DType dtype = kTypes[random() % std::size(kTypes)];
    Invocation call(PteOp::aten_expand_copy);
    call.add(random_value(random, dtype, x_sizes, random_order(random, rank_x))).add(list);
    call.add(int64_t{0}).add(make(dtype, sizes, random_order(random, rank)));
    ASSERT_NO_FATAL_FAILURE(call.run());
    expect_moved(call, call.value(0), [&](const Sizes& index) {
      Sizes from(rank_x);
      for (size_t d = 0; d < rank_x; ++d) {
        from[d] = x_sizes[d] == 1 ? 0 : index[rank - rank_x + d];
      }
      return from;
    });
  }
}

TEST(Expand, RefusesInvalidArguments) {
  const auto status = [](Sizes x, std::vector<int32_t> list, Sizes y, int64_t implicit = 0) {
    Invocation call(PteOp::aten_expand_copy);
    call.add(make(DType::kI8, x)).add(list).add(implicit).add(make(DType::kI8, y));
    return call.check();
  };
  EXPECT_EQ(status({1, 3}, {2, -1}, {2, 3}), Status::kOk);
  EXPECT_EQ(status({1, 3}, {2, -1}, {2, 3}, 1), Status::kBadParameter);
  EXPECT_EQ(status({1, 3}, {2, 4}, {2, 4}), Status::kBadShape);
  EXPECT_EQ(status({1, 3}, {-1, 3}, {2, 3}), Status::kBadShape);
  EXPECT_EQ(status({3}, {-1, 3}, {2, 3}), Status::kBadShape);
  EXPECT_EQ(status({3}, {3}, {2, 3}), Status::kBadParameter);
  EXPECT_EQ(status({1, 2, 3}, {2, 3}, {2, 3}), Status::kBadShape);
}

TEST(Slice, AllSmallSlices) {
  Random random(5);
  for (int32_t size = 1; size <= 5; ++size) {
    for (int64_t start = -7; start <= 7; ++start) {
      for (int64_t end = -7; end <= 7; ++end) {
        for (int64_t step = 1; step <= 6; ++step) {
          int64_t from = start < 0 ? start + size : start;
          int64_t to = end < 0 ? end + size : end;
          from = std::clamp<int64_t>(from, 0, size);
          to = std::clamp<int64_t>(to, 0, size);
          if (from >= to) continue;
          const size_t rank = random() % 4 + 1;
          const size_t dim = random() % rank;
          Sizes sizes = random_sizes(random, rank);
          sizes[dim] = size;
          Sizes sliced = sizes;
          sliced[dim] = static_cast<int32_t>((to - from + step - 1) / step);
          const DType dtype = kTypes[random() % std::size(kTypes)];
          const bool negative = random() % 2 == 0;
          const int64_t huge = random() % 8 == 0 && to == size ? INT64_MAX : end;
          Invocation call(PteOp::aten_slice_copy);
          call.add(random_value(random, dtype, sizes, random_order(random, rank)));
          call.add(static_cast<int64_t>(dim) - (negative ? static_cast<int64_t>(rank) : 0));
          call.add(start).add(huge).add(step);
          call.add(make(dtype, sliced, random_order(random, rank)));
          ASSERT_NO_FATAL_FAILURE(call.run());
          expect_moved(call, call.value(0), [&](const Sizes& i) {
            Sizes index = i;
            index[dim] = static_cast<int32_t>(from + i[dim] * step);
            return index;
          });
        }
      }
    }
  }
}

TEST(Slice, RefusesInvalidArguments) {
  const auto status = [](int64_t dim, int64_t start, int64_t end, int64_t step, Sizes y) {
    Invocation call(PteOp::aten_slice_copy);
    call.add(make(DType::kI8, {2, 3})).add(dim).add(start).add(end).add(step);
    call.add(make(DType::kI8, y));
    return call.check();
  };
  EXPECT_EQ(status(1, 0, 2, 1, {2, 2}), Status::kOk);
  EXPECT_EQ(status(1, 0, INT64_MAX, INT64_MAX, {2, 1}), Status::kOk);
  EXPECT_EQ(status(1, INT64_MIN, INT64_MAX, 1, {2, 3}), Status::kOk);
  EXPECT_EQ(status(2, 0, 2, 1, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status(-3, 0, 2, 1, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status(INT64_MIN, 0, 2, 1, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status(1, 0, 2, 0, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status(1, 0, 2, -1, {2, 2}), Status::kBadParameter);
  EXPECT_EQ(status(1, 2, 2, 1, {2, 1}), Status::kBadShape);
  EXPECT_EQ(status(1, 0, 3, 1, {2, 2}), Status::kBadShape);
  EXPECT_EQ(status(1, 0, 2, 1, {1, 2}), Status::kBadShape);
}

TEST(Cat, RandomParts) {
  Random random(6);
  for (int i = 0; i < 500; ++i) {
    const size_t rank = random() % 4 + 1;
    const size_t dim = random() % rank;
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const bool one_order = random() % 2 == 0;
    const Order order = random_order(random, rank);
    Sizes total = random_sizes(random, rank);
    total[dim] = 0;
    std::vector<Value> parts;
    for (size_t part = 0; part < random() % 4 + 1; ++part) {
      Sizes sizes = total;
      sizes[dim] = uniform(random, 1, 3);
      total[dim] += sizes[dim];
      parts.push_back(
          random_value(random, dtype, sizes, one_order ? order : random_order(random, rank)));
    }
    const int64_t listed =
        static_cast<int64_t>(dim) - (random() % 2 == 0 ? static_cast<int64_t>(rank) : 0);
    Invocation call(PteOp::aten_cat);
    const size_t count = parts.size();
    call.add_list(std::move(parts)).add(listed);
    call.add(make(dtype, total, one_order ? order : random_order(random, rank)));
    ASSERT_NO_FATAL_FAILURE(call.run());
    int32_t offset = 0;
    for (size_t part = 0; part < count; ++part) {
      Value& x = call.values[part];
      for (Sizes index; next(x.sizes, index);) {
        Sizes at = index;
        at[dim] += offset;
        ASSERT_TRUE(same_element(call.out(), at, x, index));
      }
      offset += x.sizes[dim];
    }
    call.record_equal();
  }
}

TEST(Cat, RefusesInvalidArguments) {
  const auto status = [](Sizes a, Sizes b, int64_t dim, Sizes y, DType dtype = DType::kI8) {
    std::vector<Value> parts;
    parts.push_back(make(DType::kI8, a));
    parts.push_back(make(DType::kI8, b));
    Invocation call(PteOp::aten_cat);
    call.add_list(std::move(parts)).add(dim).add(make(dtype, y));
    return call.check();
  };
  EXPECT_EQ(status({2, 3}, {2, 1}, 1, {2, 4}), Status::kOk);
  EXPECT_EQ(status({2, 3}, {2, 1}, 1, {2, 5}), Status::kBadShape);
  EXPECT_EQ(status({2, 3}, {2, 1}, 1, {2, 3}), Status::kBadShape);
  EXPECT_EQ(status({2, 3}, {1, 1}, 1, {2, 4}), Status::kBadShape);
  EXPECT_EQ(status({2, 3}, {1}, 1, {2, 4}), Status::kBadShape);
  EXPECT_EQ(status({2, 3}, {2, 1}, 2, {2, 4}), Status::kBadParameter);
  EXPECT_EQ(status({2, 3}, {2, 1}, 1, {2, 4}, DType::kI16), Status::kBadDType);
  Invocation none(PteOp::aten_cat);
  none.add_list({}).add(int64_t{0}).add(make(DType::kI8, {1}));
  EXPECT_EQ(none.check(), Status::kBadShape);
}

TEST(Pad, RandomBordersInMemoryOrder) {
  Random random(7);
  for (int i = 0; i < 800; ++i) {
    const size_t rank = random() % 4 + 1;
    const Sizes sizes = random_sizes(random, rank);
    const bool ambiguous = rank == 4 && (sizes[1] == 1 || (sizes[2] == 1 && sizes[3] == 1));
    const bool nhwc = rank == 4 && (ambiguous || random() % 2 == 0);
    const Order order = nhwc ? kNhwc : contiguous(rank);
    std::vector<int32_t> before(4), after(4);
    Sizes padded = sizes, shift(rank);
    for (size_t place = 0; place < rank; ++place) {
      const size_t at = 4 - rank + place;
      before[at] = uniform(random, 0, 2);
      after[at] = uniform(random, 0, 2);
      shift[order[place]] = before[at];
      padded[order[place]] += before[at] + after[at];
    }
    const int64_t value = uniform(random, -128, 127);
    Invocation call(PteOp::cortex_m_pad);
    call.add(random_codes(random, sizes, ambiguous && random() % 2 == 0 ? contiguous(4) : order));
    call.add(before).add(after).add(value).add(make(DType::kI8, padded, order));
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes index; next(padded, index);) {
      Sizes from = index;
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        from[d] -= shift[d];
        inside = inside && from[d] >= 0 && from[d] < sizes[d];
      }
      ASSERT_EQ(call.out().i8(index), inside ? call.value(0).i8(from) : value);
    }
    call.record_equal();
  }
}

TEST(Pad, RefusesInvalidArguments) {
  const auto status = [](std::vector<int32_t> before, std::vector<int32_t> after, int64_t value,
                         Sizes y, Order order = {}) {
    Invocation call(PteOp::cortex_m_pad);
    call.add(make(DType::kI8, {2, 3})).add(before).add(after).add(value);
    call.add(make(DType::kI8, y, order));
    return call.check();
  };
  EXPECT_EQ(status({0, 0, 1, 0}, {0, 0, 0, 2}, 5, {3, 5}), Status::kOk);
  EXPECT_EQ(status({0, 0, 1, 0}, {0, 0, 0, 2}, 128, {3, 5}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0, 1, 0}, {0, 0, 0, 2}, 5, {3, 4}), Status::kBadShape);
  EXPECT_EQ(status({0, 1, 1, 0}, {0, 0, 0, 2}, 5, {3, 5}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0, -1, 0}, {0, 0, 2, 2}, 5, {3, 5}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0, INT32_MAX, 0}, {0, 0, INT32_MAX, 2}, 5, {3, 5}), Status::kBadShape);
  EXPECT_EQ(status({1, 0}, {0, 2}, 5, {3, 5}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0, 1, 0}, {0, 0, 0, 2}, 5, {3, 5}, {1, 0}), Status::kBadDimOrder);
}

Value random_floats(Random& random, const Sizes& sizes, Order order) {
  Value value = make(DType::kF32, sizes, std::move(order));
  for (int32_t i = 0; i < value.count(); ++i) {
    value.as<float>()[i] = static_cast<float>(uniform(random, -40000, 40000)) / 256;
  }
  return value;
}

int8_t quantized(float x, double scale, int32_t zero_point, int32_t min, int32_t max) {
  const float t = x * (1.0F / static_cast<float>(scale));
  const double bounded = std::isnan(t) ? 0.0 : std::clamp<double>(t, -65536, 65536);
  return static_cast<int8_t>(
      std::clamp(static_cast<int32_t>(std::nearbyint(bounded)) + zero_point, min, max));
}

TEST(QuantizeAndDequantize, QuantizeAndDequantizeInEveryOrder) {
  Random random(8);
  for (int i = 0; i < 500; ++i) {
    const size_t rank = random() % 5;
    const Sizes sizes = random_sizes(random, rank);
    const Order from = random_order(random, rank);
    const bool stock = random() % 2 == 0;
    const Order to = stock ? from : random_order(random, rank);
    const double scale = static_cast<double>(uniform(random, 1, 1000)) / 512;
    const int32_t zero_point = uniform(random, -128, 127);
    const int32_t min = stock ? uniform(random, -128, -100) : -128;
    const int32_t max = stock ? uniform(random, 100, 127) : 127;

    Invocation q(stock ? PteOp::cortex_m_quantize_per_tensor : PteOp::thimble_quantize);
    q.add(random_floats(random, sizes, from)).add(scale).add(int64_t{zero_point});
    if (stock) q.add(int64_t{min}).add(int64_t{max}).add(int64_t{1});
    q.add(make(DType::kI8, sizes, to));
    if (i % 5 == 0) q.value(0).as<float>()[0] = i % 2 == 0 ? NAN : -INFINITY;
    ASSERT_NO_FATAL_FAILURE(q.run());
    for (Sizes k; next(sizes, k);) {
      const float x = q.value(0).as<float>()[q.value(0).at(k)];
      ASSERT_EQ(q.out().i8(k), quantized(x, scale, zero_point, min, max)) << x;
    }
    q.record_equal();

    Invocation d(stock ? PteOp::cortex_m_dequantize_per_tensor : PteOp::thimble_dequantize);
    d.add(random_codes(random, sizes, from)).add(scale).add(int64_t{zero_point});
    if (stock) d.add(int64_t{-128}).add(int64_t{127}).add(int64_t{1});
    d.add(make(DType::kF32, sizes, to));
    ASSERT_NO_FATAL_FAILURE(d.run());
    for (Sizes k; next(sizes, k);) {
      const float y = static_cast<float>(d.value(0).i8(k) - zero_point) * static_cast<float>(scale);
      ASSERT_EQ(d.out().as<float>()[d.out().at(k)], y);
    }
    d.record_equal();
  }
}

TEST(QuantizeAndDequantize, RefuseInvalidArguments) {
  const auto status = [](auto change) {
    Invocation call(PteOp::cortex_m_quantize_per_tensor);
    call.add(make(DType::kF32, {2, 3})).add(0.5).add(int64_t{0});
    call.add(int64_t{-128}).add(int64_t{127}).add(int64_t{1}).add(make(DType::kI8, {2, 3}));
    change(call);
    return call.check();
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  for (const double scale : {0.0, -1.0, 1e-40, 1e39, 1e300, HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(status([&](Invocation& i) { i.args[1].number = scale; }), Status::kBadParameter);
  }
  EXPECT_EQ(status([](Invocation& i) { i.args[2].integer = 128; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[3].integer = -129; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[4].integer = -129; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.args[5].integer = 2; }), Status::kBadDType);
  EXPECT_EQ(status([](Invocation& i) { i.out().order = {1, 0}; }), Status::kBadDimOrder);
  EXPECT_EQ(status([](Invocation& i) { i.out() = make(DType::kI16, {2, 3}); }), Status::kBadDType);
  EXPECT_EQ(status([](Invocation& i) { i.out() = make(DType::kI8, {3, 2}); }), Status::kBadShape);
  EXPECT_EQ(status([](Invocation& i) {
              i.value(0) = make(DType::kI8, {2, 3});
            }),
            Status::kBadDType);
}

}  // namespace
}  // namespace thimble::kernels::test
