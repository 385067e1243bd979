// SPDX-License-Identifier: Apache-2.0
// Every kernel of a Neutron list, compared with independent formulas on random shapes, strides,
// memories and values. A failure prints its seed; `--gtest_filter` and the loop's count repeat it.

#include <cmath>

#include "neutron_random_list.h"

namespace thimble::neutron_test {
namespace {

constexpr uint32_t kRandomLists = 300;

/// A random image, a window that fits it, and the dimensions of the output.
struct Image {
  Dims in, out;
  Window window;
};

enum class Shape { kWindow, kPool, kPoint, kSpread };

Image image(RandomList& world, Shape shape) {
  Image image;
  // One in six images has more channels than the model computes at once.
  const uint32_t most = world.chance(6) ? 70 : 9;
  image.in = {world.pick(1, 2), world.pick(1, 7), world.pick(1, 7), world.pick(1, most)};
  image.out = {image.in[0], 0, 0, world.pick(1, world.chance(6) ? 20 : 9)};
  for (uint32_t side = 0; side < 2; ++side) {
    Window& w = image.window;
    const uint32_t size = image.in[1 + side];
    w.stride[side] = world.pick(1, 3);
    if (shape != Shape::kPoint) {
      w.kernel[side] = world.pick(1, 4);
      if (world.chance(3)) w.dilation[side] = world.pick(1, 3);
    }
    const uint32_t span = (w.kernel[side] - 1) * w.dilation[side] + 1;
    if (shape == Shape::kPoint) {
      image.out[1 + side] = (size - 1) / w.stride[side] + 1;
      continue;
    }
    if (shape == Shape::kSpread) {
      w.pad[side] = world.pick(0, span - 1);
      const uint32_t all = (size - 1) * w.stride[side] + span;
      image.out[1 + side] = world.pick(1, all > w.pad[side] ? all - w.pad[side] : 1);
      if (all <= w.pad[side]) w.pad[side] = 0;
      continue;
    }
    // The first and the last window of a pool contain at least one element of the image.
    w.pad[side] = shape == Shape::kPool ? world.pick(0, w.kernel[side] - 1) : world.pick(0, span);
    if (shape == Shape::kPool) w.dilation[side] = 1;
    const uint32_t last = shape == Shape::kPool ? size - 1 + w.pad[side] : size + w.pad[side];
    image.out[1 + side] = world.pick(0, last / w.stride[side]) + 1;
  }
  return image;
}

TEST(NeutronModel, Convolution) {
  for_random_lists("convolution", kRandomLists, [](RandomList& world) {
    const bool point = world.chance(4);
    const Image shape = image(world, point ? Shape::kPoint : Shape::kWindow);
    const Dense x = world.tensor(shape.in);
    const uint32_t depth = shape.window.kernel[0] * shape.window.kernel[1] * shape.in[3];
    const WeightedParams w = world.weighted(size_t{depth} * shape.out[3], shape.out[3], depth);
    const OutputStage output_stage = world.output_stage();
    const View from = world.place(x);
    KernelRecord& record =
        world.list.kernel(point ? Kernel::kConv2DPointwise : Kernel::kConv2DStandard, {from},
                          world.result(shape.out));
    world.use(record, shape.window);
    world.use(record, w);
    world.use(record, output_stage);
    world.expect(reference_convolution(x, w, shape.window, shape.out, output_stage), "convolution");
  });
}

TEST(NeutronModel, Depthwise) {
  for_random_lists("depthwise", kRandomLists, [](RandomList& world) {
    Image shape = image(world, Shape::kWindow);
    shape.out[3] = shape.in[3];
    const Dense x = world.tensor(shape.in);
    const uint32_t taps = shape.window.kernel[0] * shape.window.kernel[1];
    const WeightedParams w = world.weighted(size_t{taps} * shape.out[3], shape.out[3], taps);
    const OutputStage output_stage = world.output_stage();
    const View from = world.place(x);
    KernelRecord& record =
        world.list.kernel(Kernel::kConv2DDepthwise, {from}, world.result(shape.out));
    world.use(record, shape.window);
    world.use(record, w);
    world.use(record, output_stage);
    world.expect(reference_depthwise(x, w, shape.window, shape.out, output_stage), "depthwise");
  });
}

TEST(NeutronModel, TransposedConvolution) {
  for_random_lists("transposed", kRandomLists, [](RandomList& world) {
    const Image shape = image(world, Shape::kSpread);
    const Dense x = world.tensor(shape.in);
    const uint32_t depth = shape.window.kernel[0] * shape.window.kernel[1] * shape.in[3];
    const WeightedParams w = world.weighted(size_t{depth} * shape.out[3], shape.out[3], depth);
    const OutputStage output_stage = world.output_stage();
    const View from = world.place(x);
    KernelRecord& record =
        world.list.kernel(Kernel::kTransposeConv2D, {from}, world.result(shape.out));
    world.use(record, shape.window);
    world.use(record, w);
    world.use(record, output_stage);
    world.expect(reference_transposed(x, w, shape.window, shape.out, output_stage), "transposed");
  });
}

TEST(NeutronModel, FullyConnected) {
  for_random_lists("fully connected", kRandomLists, [](RandomList& world) {
    const Dense x = world.tensor({world.pick(1, 4), world.pick(1, 40)});
    const uint32_t channels = world.pick(1, 13);
    const WeightedParams w = world.weighted(size_t{x.dims[1]} * channels, channels, x.dims[1]);
    const OutputStage output_stage = world.output_stage();
    const View from = world.place(x);
    KernelRecord& record =
        world.list.kernel(Kernel::kFullyConnected, {from}, world.result({x.dims[0], channels}));
    world.use(record, w);
    world.use(record, output_stage);
    world.expect(reference_fully_connected(x, w, channels, output_stage), "fully connected");
  });
}

/// A tensor, and a view of it in which some dimensions repeat one element (stride 0).
struct Operand {
  Dense tensor;
  View view;
};

Operand operand(RandomList& world, const Dims& dims, bool may_repeat) {
  Dims own = dims;
  for (uint32_t& dim : own) dim = may_repeat && world.chance(4) ? 1 : dim;
  const Dense small = world.tensor(own);
  Operand result = {{dims, {}}, world.place(small)};
  for (size_t k = 0; k < dims.size(); ++k) {
    if (own[k] == dims[k]) continue;
    result.view.dims[k] = dims[k];
    result.view.strides[k] = 0;
  }
  for_each_index(dims, [&](const Dims& index) {
    Dims at = index;
    for (size_t k = 0; k < dims.size(); ++k) at[k] = own[k] == 1 ? 0 : at[k];
    result.tensor.values.push_back(small.at(at));
  });
  return result;
}

TEST(NeutronModel, BatchMatMul) {
  for_random_lists("matmul", kRandomLists, [](RandomList& world) {
    const Dims n = world.dims(4, 7);
    const Operand a = operand(world, {n[0], n[1], n[2]}, true);
    const Operand b = operand(world, {n[0], n[2], n[3]}, true);
    const Factor factor = world.factor(6000 * std::sqrt(n[2]));
    const OutputStage output_stage = world.output_stage();
    KernelRecord& record =
        world.list.kernel(Kernel::kBatchMatMul, {a.view, b.view}, world.result({n[0], n[1], n[3]}));
    record.a_zero_point = world.zero_point();
    record.b_zero_point = world.zero_point();
    RandomList::use(record, 2, factor);
    world.use(record, output_stage);
    world.expect(reference_matmul(a.tensor, b.tensor, record.a_zero_point, record.b_zero_point,
                                  factor, output_stage),
                 "matmul");
  });
}

/// Formula of the kernels with two operands.
int8_t of_two(const KernelRecord& r, const OutputStage& output_stage, int64_t a, int64_t b) {
  const auto scale = [&](int64_t value, uint32_t which) {
    return requantized(value, {r.multiplier[which], r.shift[which]}, output_stage.single);
  };
  const auto wrap = [](int64_t value) {
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)))};
  };
  const int64_t x = a - r.a_zero_point;
  const int64_t w = b - r.b_zero_point;
  constexpr int64_t kSpare = 1 << 20;
  switch (r.kernel) {
    case Kernel::kAdd:
      return output_stage.of(scale(wrap(scale(x * kSpare, 0) + scale(w * kSpare, 1)), 2));
    case Kernel::kSub:
      return output_stage.of(scale(wrap(scale(x * kSpare, 0) + scale(-w * kSpare, 1)), 2));
    case Kernel::kMul:
      return output_stage.of(scale(x * w, 2));
    case Kernel::kPRelu:
      return output_stage.of(x >= 0 ? scale(x, 2) : scale(x * w, 1));
    case Kernel::kMaximum:
      return output_stage.code(std::max(a, b));
    default:
      return output_stage.code(std::min(a, b));
  }
}

constexpr Kernel kBinaries[] = {Kernel::kAdd,     Kernel::kSub,     Kernel::kMul,
                                Kernel::kMaximum, Kernel::kMinimum, Kernel::kPRelu};

TEST(NeutronModel, BinaryKernels) {
  for_random_lists("two operands", 6 * kRandomLists, [](RandomList& world) {
    const Kernel kernel = kBinaries[world.pick(0, 5)];
    const Dims dims = world.dims(world.pick(1, neutron::kRankMax), 5);
    const Operand a = operand(world, dims, world.chance(2));
    const Operand b = operand(world, dims, world.chance(2));
    const OutputStage output_stage = world.output_stage();
    KernelRecord& record = world.list.kernel(kernel, {a.view, b.view}, world.result(dims));
    const int32_t most = kernel == Kernel::kMul ? 32767 : 1919;
    record.a_zero_point = world.chance(9) ? world.pick_signed(-most, most) : world.zero_point();
    record.b_zero_point = world.chance(9) ? world.pick_signed(-most, most) : world.zero_point();
    const bool sum = kernel <= Kernel::kSub;
    RandomList::use(record, 0, world.factor(256));
    RandomList::use(record, 1, world.factor(sum ? 256 : 12000));
    RandomList::use(record, 2,
                    world.factor(sum                      ? 128 << 20
                                 : kernel == Kernel::kMul ? 12000
                                                          : 128));
    world.use(record, output_stage);
    Dense expected = {dims, {}};
    for (size_t i = 0; i < a.tensor.values.size(); ++i) {
      expected.values.push_back(
          of_two(record, output_stage, a.tensor.values[i], b.tensor.values[i]));
    }
    world.expect(expected, neutron::kernel_name(kernel));
  });
}

TEST(NeutronModel, UnaryKernels) {
  for_random_lists("one operand", 2 * kRandomLists, [](RandomList& world) {
    const bool table = world.chance(2);
    const Dims dims = world.dims(world.pick(1, neutron::kRankMax), 5);
    const Operand x = operand(world, dims, world.chance(2));
    OutputStage output_stage = world.output_stage();
    if (table) output_stage = {0, -128, 127, world.codes(256), false};
    KernelRecord& record =
        world.list.kernel(table ? Kernel::kTable : Kernel::kRescale, {x.view}, world.result(dims));
    if (!table) {
      RandomList::use(record, 2, world.factor(128));
      record.a_zero_point = world.zero_point();
    }
    world.use(record, output_stage);
    Dense expected = {dims, {}};
    for (const int8_t code : x.tensor.values) {
      const int64_t value = code - record.a_zero_point;
      expected.values.push_back(
          table ? output_stage.code(code)
                : output_stage.of(requantized(value, {record.multiplier[2], record.shift[2]},
                                              output_stage.single)));
    }
    world.expect(expected, neutron::kernel_name(record.kernel));
  });
}

/// Elementwise kernels and softmax may write to the buffer that they read.
TEST(NeutronModel, InPlace) {
  for_random_lists("in place", 2 * kRandomLists, [](RandomList& world) {
    const Dims dims = world.dims(world.pick(1, 4), 5);
    const Dense x = world.tensor(dims);
    const Dense other = world.tensor(dims);
    const Kernel kernel = world.chance(7) ? Kernel::kSoftmax : kBinaries[world.pick(0, 5)];
    const bool second = world.chance(2) && kernel != Kernel::kSoftmax;
    const View from = world.place(other);
    const View start = world.place(x);
    const View place = world.result(dims);
    world.list.kernel(Kernel::kCopy, {start}, place);
    const OutputStage output_stage =
        kernel == Kernel::kSoftmax ? OutputStage{} : world.output_stage();
    std::vector<View> operands = {second ? from : place, second ? place : from};
    if (kernel == Kernel::kSoftmax) operands = {place};
    KernelRecord& record = world.list.kernel(kernel, operands, place);
    RandomList::use(record, 0, world.factor(256));
    RandomList::use(record, 1, world.factor(256));
    RandomList::use(record, 2, world.factor(12000));
    Dense expected = {dims, {}};
    if (kernel == Kernel::kSoftmax) {
      RandomList::use(record, 2, {1431655765, 22});
      record.fill = -496;
      expected = reference_softmax(x, {1431655765, 22}, -496);
    } else {
      world.use(record, output_stage);
      for (size_t i = 0; i < x.values.size(); ++i) {
        const Dense& a = second ? other : x;
        const Dense& b = second ? x : other;
        expected.values.push_back(of_two(record, output_stage, a.values[i], b.values[i]));
      }
    }
    world.expect(expected, neutron::kernel_name(kernel));
  });
}

TEST(NeutronModel, Pools) {
  for_random_lists("pool", 2 * kRandomLists, [](RandomList& world) {
    Image shape = image(world, Shape::kPool);
    shape.out[3] = shape.in[3];
    const bool mean = world.chance(2);
    const Dense x = world.tensor(shape.in);
    OutputStage output_stage = world.output_stage();
    output_stage.zero_point = 0;
    const View from = world.place(x);
    KernelRecord& record = world.list.kernel(mean ? Kernel::kAvgPool : Kernel::kMaxPool, {from},
                                             world.result(shape.out));
    world.use(record, shape.window);
    world.use(record, output_stage);
    world.expect(reference_pool(x, shape.window, shape.out, mean, output_stage), "pool");
  });
}

TEST(NeutronModel, Reductions) {
  constexpr Kernel kKernels[] = {Kernel::kGlobalAvgPool, Kernel::kReduceMean, Kernel::kReduceMax,
                                 Kernel::kReduceMin};
  for_random_lists("reduction", 3 * kRandomLists, [&](RandomList& world) {
    const Kernel kernel = kKernels[world.pick(0, 3)];
    const bool global = kernel == Kernel::kGlobalAvgPool;
    const uint32_t rank = global ? 4 : world.pick(1, neutron::kRankMax);
    const Dims dims = world.dims(rank, 5);
    const uint32_t count = global ? 2 : world.pick(1, rank);
    const Operand x = operand(world, dims, world.chance(4));
    const OutputStage output_stage = world.output_stage();
    Dims kept(dims.begin(), dims.end() - count);
    if (kept.empty()) kept = {1};
    KernelRecord& record = world.list.kernel(kernel, {x.view}, world.result(kept));
    record.reduced = static_cast<uint8_t>(count);
    record.a_zero_point = world.zero_point();
    const Factor factor = world.factor(128.0 * std::pow(3.0, count));
    RandomList::use(record, 2, factor);
    world.use(record, output_stage);
    const int how = kernel == Kernel::kReduceMax ? 1 : kernel == Kernel::kReduceMin ? -1 : 0;
    world.expect(
        reference_reduction(x.tensor, count, how, record.a_zero_point, factor, output_stage),
        neutron::kernel_name(kernel));
  });
}

/// Factor and minimum difference of a softmax with this scale, as defined in docs/numerics.md.
struct SoftmaxScale {
  Factor factor;
  int32_t least;
};
SoftmaxScale softmax_scale(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(std::min(scale * (1 << 26), 2147483647.0), &exponent);
  auto multiplier = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++exponent;
  }
  return {{static_cast<int32_t>(multiplier), exponent},
          -static_cast<int32_t>(std::floor(31.0 * (1 << 26) / std::ldexp(1.0, exponent)))};
}

TEST(NeutronModel, Softmax) {
  for_random_lists("softmax", kRandomLists, [](RandomList& world) {
    Dims dims = world.dims(world.pick(1, 4), 4);
    dims.back() = world.pick(1, world.chance(5) ? 700 : 20);
    Operand x = operand(world, dims, world.chance(4));
    const double scale = std::ldexp(world.pick(1, 1000), -static_cast<int>(world.pick(8, 18)));
    const SoftmaxScale numbers = softmax_scale(scale);
    KernelRecord& record = world.list.kernel(Kernel::kSoftmax, {x.view}, world.result(dims));
    RandomList::use(record, 2, numbers.factor);
    record.fill = numbers.least;
    const Dense expected = reference_softmax(x.tensor, numbers.factor, numbers.least);
    world.expect(expected, "softmax");
    // The formulas give probabilities, with an error of at most one and a half steps.
    for (size_t row = 0; row < expected.values.size(); row += dims.back()) {
      double sum = 0;
      int most = -128;
      for (size_t i = 0; i < dims.back(); ++i) most = std::max<int>(most, x.tensor.values[row + i]);
      for (size_t i = 0; i < dims.back(); ++i) {
        sum += std::exp((x.tensor.values[row + i] - most) * scale);
      }
      for (size_t i = 0; i < dims.back(); ++i) {
        const double real =
            std::min(256 * std::exp((x.tensor.values[row + i] - most) * scale) / sum, 255.0);
        if (sum < 500) {
          ASSERT_NEAR(expected.values[row + i] + 128, real, 1.5);
        }
      }
    }
  });
}

/// Equal elements whose sum is slightly below, exactly at and above its limit of 2^31; and cases
/// whose last division is by 2^32 or more.
TEST(NeutronModel, SoftmaxOfManyEqualElements) {
  for (const uint32_t count : {511U, 512U, 4095U, 4096U, 4097U, 8300U}) {
    RandomList world(count);
    Dense x = {{1, count}, std::vector<int8_t>(count, 17)};
    x.values.back() = -5;
    const SoftmaxScale numbers = softmax_scale(0.01);
    const View from = world.place(x);
    KernelRecord& record = world.list.kernel(Kernel::kSoftmax, {from}, world.result(x.dims));
    RandomList::use(record, 2, numbers.factor);
    record.fill = numbers.least;
    world.expect(reference_softmax(x, numbers.factor, numbers.least), "softmax");
  }
}

TEST(NeutronModel, Copies) {
  constexpr Kernel kKernels[] = {Kernel::kTranspose, Kernel::kSlice, Kernel::kConcat,
                                 Kernel::kCopy};
  for_random_lists("copy", kRandomLists, [&](RandomList& world) {
    const Dims dims = world.dims(world.pick(1, neutron::kRankMax), 5);
    const Operand x = operand(world, dims, world.chance(4));
    world.list.kernel(kKernels[world.pick(0, 3)], {x.view}, world.result(dims));
    world.expect(x.tensor, "copy");
  });
}

/// Concatenates pieces along one dimension; some views have negative strides.
TEST(NeutronModel, ConcatenationOfPieces) {
  for_random_lists("concat", kRandomLists, [](RandomList& world) {
    const uint32_t rank = world.pick(1, 4);
    const uint32_t along = world.pick(0, rank - 1);
    Dims dims = world.dims(rank, 4);
    std::vector<Dense> pieces;
    dims[along] = 0;
    for (uint32_t i = 0, count = world.pick(1, 4); i < count; ++i) {
      Dims own = dims;
      own[along] = world.pick(1, 4);
      pieces.push_back(world.tensor(own));
    }
    for (const Dense& piece : pieces) dims[along] += piece.dims[along];
    std::vector<View> from;
    for (const Dense& piece : pieces) from.push_back(world.place(piece));
    const View whole = world.result(dims);
    Dense expected = {dims, std::vector<int8_t>(elements(dims))};
    uint32_t start = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      View part = whole;
      part.dims[along] = pieces[i].dims[along];
      part.offset =
          static_cast<uint32_t>(int64_t{part.offset} + int64_t{part.strides[along]} * start);
      world.list.kernel(Kernel::kConcat, {from[i]}, part);
      for_each_index(pieces[i].dims, [&](const Dims& index) {
        Dims at = index;
        at[along] += start;
        expected.at(at) = pieces[i].at(index);
      });
      start += pieces[i].dims[along];
    }
    // A copy of the whole, so that the last kernel's output can be compared.
    const View copy = world.result(dims);
    world.list.kernel(Kernel::kCopy, {whole}, copy);
    world.expect(expected, "concat");
  });
}

TEST(NeutronModel, Pad) {
  for_random_lists("pad", kRandomLists, [](RandomList& world) {
    const uint32_t rank = world.pick(1, neutron::kRankMax);
    const Dense x = world.tensor(world.dims(rank, 4));
    Dims dims = x.dims, before(rank);
    for (uint32_t k = 0; k < rank; ++k) {
      before[k] = world.pick(0, 2);
      dims[k] += before[k] + world.pick(0, 2);
    }
    const View from = world.place(x);
    const View padded = world.result(dims);
    View inner = padded;
    int64_t offset = padded.offset;
    for (uint32_t k = 0; k < rank; ++k) {
      inner.dims[k] = x.dims[k];
      offset += int64_t{before[k]} * padded.strides[k];
    }
    inner.offset = static_cast<uint32_t>(offset);
    KernelRecord& record = world.list.kernel(Kernel::kPad, {from}, inner);
    record.fill = world.pick_signed(-128, 127);
    record.padded = padded;
    const auto code = static_cast<int8_t>(record.fill);
    world.list.kernel(Kernel::kCopy, {padded}, world.result(dims));
    Dense expected = {dims, std::vector<int8_t>(elements(dims), code)};
    for_each_index(x.dims, [&](const Dims& index) {
      Dims at = index;
      for (uint32_t k = 0; k < rank; ++k) at[k] += before[k];
      expected.at(at) = x.at(index);
    });
    world.expect(expected, "pad");
  });
}

TEST(NeutronModel, MirrorPad) {
  for_random_lists("mirror pad", kRandomLists, [](RandomList& world) {
    const uint32_t rank = world.pick(1, neutron::kRankMax);
    const Dense x = world.tensor(world.dims(rank, 4));
    Dims dims = x.dims;
    std::vector<int32_t> before(rank);
    for (uint32_t k = 0; k < rank; ++k) {
      before[k] = world.pick_signed(0, static_cast<int32_t>(x.dims[k]) - 1);
      dims[k] += static_cast<uint32_t>(before[k]) + world.pick(0, x.dims[k] - 1);
    }
    const View from = world.place(x);
    const uint32_t table = world.list.ints(before);
    world.list.kernel(Kernel::kMirrorPad, {from}, world.result(dims)).data = table;
    Dense expected = {dims, {}};
    for_each_index(dims, [&](const Dims& index) {
      Dims at = index;
      for (uint32_t k = 0; k < rank; ++k) {
        const int32_t last = static_cast<int32_t>(x.dims[k]) - 1;
        const int32_t inner = std::abs(static_cast<int32_t>(index[k]) - before[k]);
        at[k] = static_cast<uint32_t>(last - std::abs(last - inner));
      }
      expected.values.push_back(x.at(at));
    });
    world.expect(expected, "mirror pad");
  });
}

TEST(NeutronModel, Resize) {
  for_random_lists("resize", kRandomLists, [](RandomList& world) {
    const bool bilinear = world.chance(2);
    const Dense x =
        world.tensor({world.pick(1, 2), world.pick(1, 5), world.pick(1, 5), world.pick(1, 6)});
    const Dims out = {x.dims[0], world.pick(1, 9), world.pick(1, 9), x.dims[3]};
    std::vector<int32_t> tables;
    for (uint32_t side = 1; side <= 2; ++side) {
      const auto last = static_cast<int32_t>(x.dims[side] - 1);
      for (uint32_t i = 0; i < out[side]; ++i) tables.push_back(world.pick_signed(0, last));
      for (uint32_t i = 0; bilinear && i < out[side]; ++i) {
        tables.push_back(world.chance(4) ? 2048 : world.pick_signed(0, 2048));
      }
    }
    const View from = world.place(x);
    const uint32_t data = world.list.ints(tables);
    world.list
        .kernel(bilinear ? Kernel::kResizeBilinear : Kernel::kResizeNearest, {from},
                world.result(out))
        .data = data;
    world.expect(reference_resize(x, out, tables, bilinear), bilinear ? "bilinear" : "nearest");
  });
}

}  // namespace
}  // namespace thimble::neutron_test
