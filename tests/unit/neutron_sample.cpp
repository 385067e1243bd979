// SPDX-License-Identifier: Apache-2.0
#include "neutron_sample.h"

namespace thimble::neutron_test {
namespace {

class Maker {
 public:
  List list;

  void make() {
    const View image = dense_view(Memory::kInput, list.input(48), 0, {1, 4, 4, 3});
    const View matrix = dense_view(Memory::kInput, list.input(24), 0, {2, 3, 4});
    weighted(image);
    elementwise(dense_view(Memory::kScratch, 0, wide_, {1, 4, 4, 8}), matrix);
    windows();
    moves(image);
    // The last kernels write the outputs.
    list.kernels[sample::kNearest].output =
        dense_view(Memory::kOutput, list.output(192), 0, {1, 8, 8, 3});
    list.kernels[sample::kBilinear].output =
        dense_view(Memory::kOutput, list.output(192), 0, {1, 8, 8, 3});
    list.header.prefetch_bytes = 512;
    list.header.profile_bytes = 16 * (sample::kKernels + 1);
    list.header.cycles = 4321;
  }

 private:
  View scratch(const Dims& dims) {
    return dense_view(Memory::kScratch, 0, list.scratch(static_cast<uint32_t>(elements(dims))),
                      dims);
  }
  uint32_t numbers(uint32_t count) {
    std::vector<int8_t> codes(count);
    for (uint32_t i = 0; i < count; ++i) codes[i] = static_cast<int8_t>(i * 37 + 11);
    return list.codes(codes);
  }
  static void scale(KernelRecord& record) {
    for (uint32_t i = 0; i < 3; ++i) {
      record.multiplier[i] = 1500000000;
      record.shift[i] = -7;
    }
    record.a_zero_point = 3;
    record.b_zero_point = -4;
    record.y_zero_point = 5;
  }
  KernelRecord& window(Kernel kernel, const View& from, const View& to, uint16_t size,
                       uint16_t stride, uint16_t pad) {
    KernelRecord& record = list.kernel(kernel, {from}, to);
    scale(record);
    record.kernel_h = record.kernel_w = size;
    record.stride_h = record.stride_w = stride;
    record.pad_top = record.pad_left = pad;
    return record;
  }

  void weighted(const View& image) {
    const uint32_t bias = list.ints({100, -200, 300, -400, 500, -600, 700, -800});
    const uint32_t multipliers = list.ints(std::vector<int32_t>(8, 1700000000));
    const uint32_t shifts = list.ints({-6, -7, -8, -6, -7, -8, -6, -7});
    const View narrow = scratch({1, 4, 4, 8});
    wide_ = scratch({1, 4, 4, 8}).offset;
    const View wide = dense_view(Memory::kScratch, 0, wide_, {1, 4, 4, 8});
    const uint32_t filters = numbers(8 * 9 * 3);
    KernelRecord& convolution = window(Kernel::kConv2DStandard, image, narrow, 3, 1, 1);
    convolution.scale_count = 8;
    convolution.multipliers = multipliers;
    convolution.shifts = shifts;
    convolution.bias = bias;
    convolution.weights = filters;
    convolution.prefetch_bytes = filters + 8 * 9 * 3;
    convolution.macs = 3456;
    window(Kernel::kConv2DPointwise, narrow, wide, 1, 1, 0).weights = numbers(64);
    window(Kernel::kConv2DDepthwise, wide, narrow, 3, 1, 1).weights = numbers(72);
    window(Kernel::kTransposeConv2D, narrow, scratch({1, 8, 8, 2}), 2, 2, 0).weights =
        numbers(8 * 2 * 4);
    KernelRecord& dense =
        list.kernel(Kernel::kFullyConnected,
                    {dense_view(Memory::kScratch, 0, narrow.offset, {4, 32})}, scratch({4, 5}));
    scale(dense);
    dense.weights = numbers(160);
    dense.rounding = 1;
    narrow_ = narrow.offset;
  }

  void elementwise(const View& wide, const View& matrix) {
    View right = matrix;  // the transpose
    right.dims[1] = 4;
    right.dims[2] = 3;
    std::swap(right.strides[1], right.strides[2]);
    scale(list.kernel(Kernel::kBatchMatMul, {matrix, right}, scratch({2, 3, 3})));
    const View narrow = dense_view(Memory::kScratch, 0, narrow_, {1, 4, 4, 8});
    View vector = dense_view(Memory::kWeights, 0, numbers(8), {1, 4, 4, 8});
    vector.strides[0] = vector.strides[1] = vector.strides[2] = 0;
    View again = vector;
    again.memory = Memory::kScratch;
    again.offset = wide_;
    for (const Kernel kernel : {Kernel::kAdd, Kernel::kSub, Kernel::kMul, Kernel::kMaximum,
                                Kernel::kMinimum, Kernel::kPRelu}) {
      const bool constant = kernel == Kernel::kMul || kernel == Kernel::kPRelu;
      scale(list.kernel(kernel, {narrow, constant ? vector : again}, narrow));
    }
    KernelRecord& table = list.kernel(Kernel::kTable, {narrow}, wide);
    table.table = numbers(256);
    table.function = neutron::Function::kLogistic;
    scale(list.kernel(Kernel::kRescale, {wide}, wide));
  }

  void windows() {
    const View wide = dense_view(Memory::kScratch, 0, wide_, {1, 4, 4, 8});
    window(Kernel::kMaxPool, wide, scratch({1, 2, 2, 8}), 3, 2, 1);
    window(Kernel::kAvgPool, wide, scratch({1, 2, 2, 8}), 2, 2, 0);
    View by_channel = wide;  // [N, C, H, W]
    by_channel.dims[1] = 8;
    by_channel.dims[2] = by_channel.dims[3] = 4;
    by_channel.strides[1] = 1;
    by_channel.strides[2] = 32;
    by_channel.strides[3] = 8;
    const auto reduce = [&](Kernel kernel, uint8_t count, const View& to) {
      KernelRecord& record = list.kernel(kernel, {by_channel}, to);
      scale(record);
      record.reduced = count;
    };
    reduce(Kernel::kGlobalAvgPool, 2, scratch({1, 8}));
    reduce(Kernel::kReduceMean, 1, scratch({1, 8, 4}));
    reduce(Kernel::kReduceMax, 3, scratch({1}));
    reduce(Kernel::kReduceMin, 4, scratch({1}));
    KernelRecord& softmax = list.kernel(Kernel::kSoftmax, {wide}, wide);
    softmax.multiplier[2] = 1431655765;
    softmax.shift[2] = 22;
    softmax.fill = -496;
  }

  void moves(const View& image) {
    View turned = image;
    std::swap(turned.dims[1], turned.dims[2]);
    std::swap(turned.strides[1], turned.strides[2]);
    list.kernel(Kernel::kTranspose, {turned}, scratch({1, 4, 4, 3}));
    View part = image;
    part.dims[2] = 2;
    part.strides[2] = 6;
    const View joined = scratch({1, 4, 4, 3});
    View first = joined, second = joined;
    first.dims[2] = second.dims[2] = 2;
    second.offset += 6;
    list.kernel(Kernel::kSlice, {part}, first);
    list.kernel(Kernel::kConcat, {part}, second);
    View backward = joined;
    backward.offset += 9;
    backward.strides[2] = -3;
    list.kernel(Kernel::kCopy, {backward}, scratch({1, 4, 4, 3}));
    const View frame = scratch({1, 6, 6, 3});
    View inner = frame;
    inner.dims[1] = inner.dims[2] = 4;
    inner.offset += 21;
    KernelRecord& pad = list.kernel(Kernel::kPad, {joined}, inner);
    pad.fill = -7;
    pad.padded = frame;
    list.kernel(Kernel::kMirrorPad, {frame}, scratch({1, 8, 8, 3})).data = list.ints({0, 1, 1, 0});
    const View any = dense_view(Memory::kOutput, 0, 0, {1, 8, 8, 3});
    list.kernel(Kernel::kResizeNearest, {image}, any).data =
        list.ints({0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3});
    const std::vector<int32_t> low = {0, 0, 0, 1, 1, 2, 2, 3};
    const std::vector<int32_t> weight = {0, 512, 1536, 512, 1536, 512, 1536, 512};
    std::vector<int32_t> tables;
    for (int side = 0; side < 2; ++side) {
      tables.insert(tables.end(), low.begin(), low.end());
      tables.insert(tables.end(), weight.begin(), weight.end());
    }
    list.kernel(Kernel::kResizeBilinear, {image}, any).data = list.ints(tables);
  }

  uint32_t narrow_ = 0, wide_ = 0;  // offsets of [1,4,4,8]
};

}  // namespace

List sample_list() {
  Maker maker;
  maker.make();
  return maker.list;
}

std::vector<Bytes> sample_inputs(const List& list) {
  std::vector<Bytes> inputs;
  for (const IoRecord& io : list.inputs) {
    Bytes bytes(io.bytes);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 73 + 5);
    inputs.push_back(bytes);
  }
  return inputs;
}

}  // namespace thimble::neutron_test
