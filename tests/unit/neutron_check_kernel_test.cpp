// SPDX-License-Identifier: Apache-2.0
// Every reason for which check() refuses a kernel, each with the nearest accepted case.

#include <algorithm>

#include "neutron_refusal.h"

namespace thimble::neutron_test {
namespace {

TEST(NeutronCheck, RefusesShapesThatDoNotFitKernel) {
  using namespace sample;
  const auto refuses = [](uint32_t kernel, const OfKernel& change) {
    expect(neutron::kernel_name(sample_list().kernels[kernel].kernel), Status::kBadView, kernel,
           change);
  };
  const auto narrower = [](View& view, uint32_t k) { --view.dims[k]; };
  for (const uint32_t kernel : {kConvolution, kPointwise, kDepthwise, kTransposed, kMaxPool,
                                kAvgPool, kNearest, kBilinear}) {
    refuses(kernel, [](KernelRecord& r) { r.operands[0].rank = 3; });  // dims[3] is not 1
    refuses(kernel, [](KernelRecord& r) {
      for (View* view : {&r.operands[0], &r.output}) {
        view->rank = 5;
      }
    });
    refuses(kernel, [](KernelRecord& r) {
      r.operands[0].dims[0] = 2;
      r.operands[0].strides[0] = 0;
    });
  }
  for (const uint32_t kernel :
       {kDepthwise, kMaxPool, kAvgPool, kNearest, kBilinear, kMatMul, kAdd, kMul, kMaximum, kPRelu,
        kTable, kRescale, kSoftmax, kTranspose, kSlice, kConcat, kCopy, kPad}) {
    refuses(kernel, [&](KernelRecord& r) { narrower(r.output, r.output.rank - 1U); });
  }
  for (const uint32_t kernel : {kGlobalAvgPool, kReduceMean}) {
    refuses(kernel, [&](KernelRecord& r) { narrower(r.output, r.output.rank - 1U); });
    refuses(kernel, [&](KernelRecord& r) { ++r.output.rank; });
  }
  refuses(kFullyConnected, [&](KernelRecord& r) { narrower(r.operands[0], 0); });
  refuses(kFullyConnected, [&](KernelRecord& r) { r.operands[0].rank = 3; });
  refuses(kMatMul, [&](KernelRecord& r) { narrower(r.operands[0], 2); });
  refuses(kMatMul, [&](KernelRecord& r) { narrower(r.operands[1], 0); });
  refuses(kMatMul, [&](KernelRecord& r) { narrower(r.operands[1], 2); });
  refuses(kMatMul, [&](KernelRecord& r) { narrower(r.operands[0], 1); });
  refuses(kAdd, [&](KernelRecord& r) { narrower(r.operands[1], 3); });
  refuses(kMirrorPad, [](KernelRecord& r) { r.output.rank = 5; });
  refuses(kCopy, [](KernelRecord& r) { r.operands[1].rank = 1; });
  refuses(kAdd, [](KernelRecord& r) { r.padded = r.output; });
  refuses(kPad, [](KernelRecord& r) { r.padded.memory = Memory::kWeights; });
  refuses(kPad, [](KernelRecord& r) { r.padded.strides[1] = 0; });
  refuses(kPad, [](KernelRecord& r) { r.padded.offset = 1U << 27; });
}

TEST(NeutronCheck, RefusesInvalidFieldsOfEveryKernel) {
  const auto refuses = [](const char* what, const OfKernel& change) {
    expect(what, Status::kBadKernel, sample::kAdd, change);
  };
  refuses("kernel 0", [](KernelRecord& r) { r.kernel = static_cast<Kernel>(0); });
  refuses("kernel 18", [](KernelRecord& r) { r.kernel = static_cast<Kernel>(18); });
  refuses("kernel 255", [](KernelRecord& r) { r.kernel = static_cast<Kernel>(255); });
  refuses("one operand of two", [](KernelRecord& r) { r.operand_count = 1; });
  refuses("no operand", [](KernelRecord& r) { r.operand_count = 0; });
  refuses("three operands", [](KernelRecord& r) { r.operand_count = 3; });
  refuses("rounding 2", [](KernelRecord& r) { r.rounding = 2; });
  accepts("rounding 1", sample::kAdd, [](KernelRecord& r) { r.rounding = 1; });
  refuses("a function without its table",
          [](KernelRecord& r) { r.function = neutron::Function::kTanh; });
  refuses("a function too many",
          [](KernelRecord& r) { r.function = static_cast<neutron::Function>(13); });
  refuses("min above max", [](KernelRecord& r) { r.min = 4, r.max = 3; });
  accepts("min at max", sample::kAdd, [](KernelRecord& r) { r.min = r.max = 3; });
  refuses("min below int8", [](KernelRecord& r) { r.min = -129; });
  refuses("max above int8", [](KernelRecord& r) { r.max = 128; });
  refuses("reserved", [](KernelRecord& r) { r.reserved0[2] = 1; });
  refuses("reserved", [](KernelRecord& r) { r.reserved1 = 1; });
  for (const int32_t sign : {-1, 1}) {
    accepts("zero points", sample::kAdd, [&](KernelRecord& r) {
      r.a_zero_point = r.b_zero_point = r.y_zero_point = 1919 * sign;
    });
    refuses("zero point", [&](KernelRecord& r) { r.a_zero_point = 1920 * sign; });
    refuses("zero point", [&](KernelRecord& r) { r.b_zero_point = 1920 * sign; });
    refuses("zero point", [&](KernelRecord& r) { r.y_zero_point = 1920 * sign; });
    accepts("of a product", sample::kMul,
            [&](KernelRecord& r) { r.a_zero_point = r.b_zero_point = 32767 * sign; });
    expect("of a product", Status::kBadKernel, sample::kMul,
           [&](KernelRecord& r) { r.b_zero_point = 32768 * sign; });
  }
  expect("two operands of one", Status::kBadKernel, sample::kTable,
         [](KernelRecord& r) { r.operand_count = 2; });
}

TEST(NeutronCheck, Tables) {
  const auto end = static_cast<uint32_t>(sample_list().weights.size());
  const auto with = [](uint32_t table) {
    return [table](KernelRecord& r) {
      r.table = table;
      r.function = neutron::Function::kNone;
    };
  };
  using namespace sample;
  expect("kTable without one", Status::kBadKernel, kTable, with(kNowhere));
  for (const uint32_t kernel : {kTable, kConvolution, kAdd, kMaxPool, kReduceMin}) {
    // The convolution's prefetch slot ends before the table, so the table is read in place.
    accepts("table at the end", kernel, with(end - 256));
    expect("table over the end", Status::kBadKernel, kernel, with(end - 255));
  }
  for (const uint32_t kernel : {kSoftmax, kTranspose, kPad, kMirrorPad, kNearest}) {
    expect("table of what moves codes", Status::kBadKernel, kernel, with(0));
  }
}

TEST(NeutronCheck, Windows) {
  using namespace sample;
  for (const uint32_t kernel : {kConvolution, kDepthwise, kTransposed, kMaxPool, kAvgPool}) {
    const auto refuses = [&](const char* what, const OfKernel& change) {
      expect(what, Status::kBadKernel, kernel, change);
    };
    refuses("no rows", [](KernelRecord& r) { r.kernel_h = 0; });
    refuses("no columns", [](KernelRecord& r) { r.kernel_w = 0; });
    refuses("no step", [](KernelRecord& r) { r.stride_h = 0; });
    refuses("no step", [](KernelRecord& r) { r.stride_w = 0; });
    refuses("no dilation", [](KernelRecord& r) { r.dilation_h = 0; });
    refuses("no dilation", [](KernelRecord& r) { r.dilation_w = 0; });
    refuses("huge", [](KernelRecord& r) { r.kernel_h = r.dilation_h = 65535; });
  }
  expect("a pointwise window", Status::kBadKernel, kPointwise,
         [](KernelRecord& r) { r.kernel_h = 2; });
  expect("a pointwise padding", Status::kBadKernel, kPointwise,
         [](KernelRecord& r) { r.pad_left = 1; });
  // The last window may begin after the image by at most the largest padding.
  accepts("far behind", kDepthwise, [](KernelRecord& r) { r.stride_h = 21845; });
  expect("too far behind", Status::kBadKernel, kDepthwise,
         [](KernelRecord& r) { r.stride_h = 21848; });
  // Each window of a pool must contain an element of the image.
  for (const uint32_t kernel : {kMaxPool, kAvgPool}) {
    expect("windows in the padding", Status::kBadKernel, kernel,
           [](KernelRecord& r) { r.pad_top = r.kernel_h; });
    expect("windows in the padding", Status::kBadKernel, kernel,
           [](KernelRecord& r) { r.stride_w = 6; });
  }
  const OfKernel dilated = [](KernelRecord& r) { r.dilation_h = 2; };
  accepts("a dilated maximum", kMaxPool, dilated);
  expect("a dilated mean", Status::kBadKernel, kAvgPool, dilated);
  // [1,4,4,8] with a 2 x 2 window and stride 2 gives 8 rows, or 9 with an output padding.
  const auto rows = [](uint32_t count) {
    return [count](KernelRecord& r) {
      r.output.dims[1] = count;
      r.output.offset = 0;
    };
  };
  expect("rows that nothing reaches", Status::kBadKernel, kTransposed, rows(10));
  List list = sample_list();
  rows(9)(list.kernels[kTransposed]);
  list.kernels[kTransposed].output.offset = list.scratch(9 * 8 * 2);
  EXPECT_EQ(check_list(list), Status::kOk);
}

TEST(NeutronCheck, Constants) {
  using namespace sample;
  const auto end = static_cast<uint32_t>(sample_list().weights.size());
  const auto nothing = [](KernelRecord& r) { r.prefetch_bytes = 0; };
  const auto at_end = [&](uint32_t kernel, uint32_t bytes, uint32_t KernelRecord::*field,
                          Status status = Status::kBadKernel) {
    const uint32_t aligned = (end - bytes) & ~3U;
    accepts("constants at the end", kernel, [&](KernelRecord& r) {
      nothing(r);
      r.*field = aligned;
    });
    for (const uint32_t bad : {end - bytes + 4, end + 4, 0xFFFFFFF0U}) {
      expect("constants over the end", status, kernel, [&](KernelRecord& r) {
        nothing(r);
        r.*field = bad & ~3U;
      });
    }
  };
  at_end(kConvolution, 216, &KernelRecord::weights);
  at_end(kPointwise, 64, &KernelRecord::weights);
  at_end(kDepthwise, 72, &KernelRecord::weights);
  at_end(kTransposed, 64, &KernelRecord::weights);
  at_end(kFullyConnected, 160, &KernelRecord::weights);
  at_end(kConvolution, 32, &KernelRecord::bias);
  expect("a bias between numbers", Status::kBadKernel, kConvolution,
         [](KernelRecord& r) { r.bias += 2; });
  accepts("no bias", kConvolution, [](KernelRecord& r) { r.bias = kNowhere; });
  for (const auto field : {&KernelRecord::multipliers, &KernelRecord::shifts}) {
    expect("scales over the end", Status::kBadScale, kConvolution,
           [&](KernelRecord& r) { r.*field = (end - 28) & ~3U; });
    expect("scales between numbers", Status::kBadScale, kConvolution,
           [&](KernelRecord& r) { r.*field += 1; });
  }
  for (const uint32_t kernel : {kMirrorPad, kNearest, kBilinear}) {
    const auto refuses = [&](uint32_t data) {
      expect("data", Status::kBadKernel, kernel, [&](KernelRecord& r) { r.data = data; });
    };
    refuses(kNowhere);
    refuses((end - 12) & ~3U);
    refuses(sample_list().kernels[kernel].data + 2);
  }
}

/// Values of constants in the weights block.
TEST(NeutronCheck, ContentOfConstants) {
  using namespace sample;
  const auto content = [](const char* what, Status status, uint32_t kernel,
                          uint32_t KernelRecord::*field, uint32_t index, int32_t value) {
    expect({what, status, status == Status::kOk ? kNowhere : kernel, [&](List& list) {
              put(list.weights, list.kernels[kernel].*field + 4 * index,
                  static_cast<uint32_t>(value));
            }});
  };
  constexpr auto kBad = Status::kBadKernel;
  const auto data = &KernelRecord::data;
  content("multiplier", Status::kBadScale, kConvolution, &KernelRecord::multipliers, 7, -1);
  content("multiplier", Status::kOk, kConvolution, &KernelRecord::multipliers, 7, 0x7FFFFFFF);
  content("shift", Status::kBadScale, kConvolution, &KernelRecord::shifts, 7, 31);
  content("shift", Status::kBadScale, kConvolution, &KernelRecord::shifts, 0, -32);
  content("shift", Status::kOk, kConvolution, &KernelRecord::shifts, 0, -31);
  content("shift", Status::kOk, kConvolution, &KernelRecord::shifts, 0, 30);
  content("mirror", kBad, kMirrorPad, data, 1, -1);
  content("mirror: too much before", kBad, kMirrorPad, data, 1, 6);
  content("mirror: more than there is", kBad, kMirrorPad, data, 0, 1);
  content("mirror: nothing behind", Status::kOk, kMirrorPad, data, 2, 2);
  content("mirror: less than nothing behind", kBad, kMirrorPad, data, 2, 3);
  content("row", kBad, kNearest, data, 7, 4);
  content("row", kBad, kNearest, data, 0, -1);
  content("column", kBad, kNearest, data, 15, 4);
  content("column", Status::kOk, kNearest, data, 8, 3);
  const auto mirrored_of = [](uint32_t rows) {
    return [rows](KernelRecord& r) { r.operands[0].dims[1] = rows; };
  };
  accepts("mirror: all but one behind", kMirrorPad, mirrored_of(4));
  expect("mirror: all behind", kBad, kMirrorPad, mirrored_of(3));
  for (const uint32_t table : {0U, 16U}) {
    content("position", kBad, kBilinear, data, table + 7, 4);
    content("position", kBad, kBilinear, data, table, -1);
    content("weight", kBad, kBilinear, data, table + 8, -1);
    content("weight", kBad, kBilinear, data, table + 15, 2049);
    content("weight", Status::kOk, kBilinear, data, table + 15, 2048);
  }
}

TEST(NeutronCheck, Factors) {
  using namespace sample;
  const auto wrong = [](uint32_t kernel, std::initializer_list<uint32_t> used) {
    for (uint32_t which = 0; which < 3; ++which) {
      const bool is_used = std::find(used.begin(), used.end(), which) != used.end();
      const Status status = is_used ? Status::kBadScale : Status::kOk;
      const char* const name = neutron::kernel_name(sample_list().kernels[kernel].kernel);
      expect(name, status, kernel, [&](KernelRecord& r) { r.multiplier[which] = -1; });
      expect(name, status, kernel, [&](KernelRecord& r) { r.shift[which] = -32; });
      expect(name, status, kernel, [&](KernelRecord& r) { r.shift[which] = 32; });
    }
  };
  for (const uint32_t kernel : {kPointwise, kDepthwise, kTransposed, kFullyConnected, kMatMul, kMul,
                                kRescale, kGlobalAvgPool, kReduceMean, kSoftmax}) {
    wrong(kernel, {2});
  }
  wrong(kAdd, {0, 1, 2});
  wrong(kSub, {0, 1, 2});
  wrong(kPRelu, {1, 2});
  for (const uint32_t kernel : {kConvolution, kMaximum, kMinimum, kTable, kMaxPool, kAvgPool,
                                kReduceMax, kReduceMin, kCopy}) {
    wrong(kernel, {});
  }
  expect("shift 31", Status::kBadScale, kAdd, [](KernelRecord& r) { r.shift[2] = 31; });
  accepts("shift 30", kAdd, [](KernelRecord& r) { r.shift[2] = 30; });
  expect("scales of some channels", Status::kBadScale, kConvolution,
         [](KernelRecord& r) { r.scale_count = 7; });
  accepts("a scale of all", kConvolution, [](KernelRecord& r) { r.scale_count = 1; });
}

TEST(NeutronCheck, Softmax) {
  using sample::kSoftmax;
  accepts("the least difference", kSoftmax, [](KernelRecord& r) { r.fill = -496; });
  expect("5 integer bits and more", Status::kBadKernel, kSoftmax,
         [](KernelRecord& r) { r.fill = -497; });
  expect("a positive difference", Status::kBadKernel, kSoftmax,
         [](KernelRecord& r) { r.fill = 1; });
  expect("the least number", Status::kBadKernel, kSoftmax,
         [](KernelRecord& r) { r.fill = INT32_MIN; });
  expect("a right shift", Status::kBadScale, kSoftmax, [](KernelRecord& r) { r.shift[2] = -1; });
  accepts("shift 31", kSoftmax, [](KernelRecord& r) { r.shift[2] = 31, r.fill = 0; });
}

TEST(NeutronCheck, ReducedDimensions) {
  using namespace sample;
  const auto refuses = [](uint32_t kernel, uint8_t reduced) {
    expect("reduced", Status::kBadKernel, kernel, [&](KernelRecord& r) { r.reduced = reduced; });
  };
  refuses(kReduceMean, 0);
  refuses(kReduceMean, 5);
  refuses(kGlobalAvgPool, 3);
  expect("a fill of no code", Status::kBadKernel, kPad, [](KernelRecord& r) { r.fill = 128; });
  expect("a fill of no code", Status::kBadKernel, kPad, [](KernelRecord& r) { r.fill = -129; });
}

TEST(NeutronCheck, Overlap) {
  using namespace sample;
  const auto onto_itself = [](KernelRecord& r) { r.output = r.operands[0]; };
  const auto backward = [](KernelRecord& r) {
    r.output = r.operands[0];
    r.output.offset += 7;
    r.output.strides[3] = -1;
  };
  for (const uint32_t kernel :
       {kAdd, kSub, kMul, kMaximum, kMinimum, kPRelu, kTable, kRescale, kSoftmax}) {
    accepts("in place", kernel, onto_itself);
    expect("in place, backward", Status::kBadOverlap, kernel, backward);
  }
  const auto both = [](bool second) {
    return [second](KernelRecord& r) {
      r.operands[0] = r.operands[1] = r.output;
      r.operands[second ? 1 : 0].offset += 7;
      r.operands[second ? 1 : 0].strides[3] = -1;
    };
  };
  expect("the first operand, backward", Status::kBadOverlap, kMaximum, both(false));
  expect("the second operand, backward", Status::kBadOverlap, kMaximum, both(true));
  for (const uint32_t kernel : {kDepthwise, kCopy, kTransposed}) {
    expect("in place", Status::kBadOverlap, kernel, [](KernelRecord& r) {
      r.output.memory = r.operands[0].memory;
      r.output.offset = r.operands[0].offset;
    });
  }
  expect("a frame over what is framed", Status::kBadOverlap, kPad, [](KernelRecord& r) {
    r.padded.dims[0] = r.padded.dims[1] = r.padded.dims[2] = r.padded.dims[3] = 1;
    r.padded.offset = r.operands[0].offset + 47;
  });
  // The last byte of the operand is the first byte of the output.
  expect("by a byte", Status::kBadOverlap, kPointwise,
         [](KernelRecord& r) { r.output.offset = r.operands[0].offset + 127; });
  accepts("side by side", kPointwise, [](KernelRecord& r) {
    r.operands[0].offset = 0;
    r.output.offset = 128;
  });
}

TEST(NeutronCheck, PrefetchedWeights) {
  using namespace sample;
  const auto refuses = [](const char* what, const OfKernel& change) {
    expect(what, Status::kBadPrefetch, kConvolution, change);
  };
  refuses("from between blocks", [](KernelRecord& r) { r.prefetch_from = 8; });
  refuses("to between blocks", [](KernelRecord& r) { r.prefetch_to = 8; });
  refuses("over the end of the memory", [](KernelRecord& r) { r.prefetch_to = 512; });
  refuses("far over it", [](KernelRecord& r) { r.prefetch_to = 0xFFFFFFF0; });
  refuses("over the end of the weights", [](KernelRecord& r) { r.prefetch_from = 0xFFFFFFF0; });
  refuses("less than is read", [](KernelRecord& r) { --r.prefetch_bytes; });
  refuses("less of the multipliers", [](KernelRecord& r) { r.prefetch_bytes = 48; });
  accepts("none of it", kConvolution, [](KernelRecord& r) {
    r.prefetch_from = 512;
    r.prefetch_bytes = 32;
  });
  expect("half of an operand", Status::kBadPrefetch, kMul, [](KernelRecord& r) {
    r.prefetch_from = r.operands[1].offset / 16 * 16;
    r.prefetch_bytes = r.operands[1].offset % 16 + 4;
  });
  // Two consecutive kernels with prefetched weights.
  const auto second = [](const char* what, Status status, uint32_t to) {
    expect(what, status, kPointwise, [&](KernelRecord& r) {
      r.prefetch_from = r.weights / 16 * 16;
      r.prefetch_bytes = r.weights % 16 + 64;
      r.prefetch_to = to;
    });
  };
  const uint32_t behind = neutron::aligned(sample_list().kernels[kConvolution].prefetch_bytes);
  second("side by side", Status::kOk, behind);
  second("over what the kernel before reads", Status::kBadPrefetch, behind - 16);
  expect({"over where nothing was brought", Status::kOk, kNowhere, [](List& list) {
            list.kernels[kConvolution].prefetch_bytes = 0;
            list.kernels[kConvolution].prefetch_to = 32;
            KernelRecord& r = list.kernels[kPointwise];
            r.prefetch_from = r.weights / 16 * 16;
            r.prefetch_bytes = r.weights % 16 + 64;
          }});
  // Two kernels with a kernel without prefetched weights between them.
  const auto third = [](const char* what, Status status, uint32_t to) {
    expect(what, status, kDepthwise, [&](KernelRecord& r) {
      r.prefetch_from = r.weights / 16 * 16;
      r.prefetch_bytes = r.weights % 16 + 72;
      r.prefetch_to = to;
    });
  };
  third("side by side, two later", Status::kOk, behind);
  third("over what two before reads", Status::kBadPrefetch, behind - 16);
  // If the kernel between them has prefetched weights, the first slot may be reused.
  List list = sample_list();
  const auto bring = [&](uint32_t kernel, uint32_t to) {
    KernelRecord& r = list.kernels[kernel];
    r.prefetch_from = r.weights / 16 * 16;
    r.prefetch_bytes = r.weights % 16 + 64;
    r.prefetch_to = to;
  };
  bring(kPointwise, behind);
  bring(kTransposed, 0);
  EXPECT_EQ(check_list(list), Status::kOk);
  bring(kTransposed, behind);
  EXPECT_EQ(check_list(list), Status::kBadPrefetch);
}

}  // namespace
}  // namespace thimble::neutron_test
