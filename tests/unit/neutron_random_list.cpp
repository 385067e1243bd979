// SPDX-License-Identifier: Apache-2.0
#include "neutron_random_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace thimble::neutron_test {

std::vector<int8_t> RandomList::codes(size_t count) {
  // Ends of the range are likely, because clamps and wraps occur there.
  const bool ends = chance(5);
  std::vector<int8_t> codes(count);
  for (int8_t& code : codes) {
    code =
        static_cast<int8_t>(ends && chance(2) ? (chance(2) ? -128 : 127) : pick_signed(-128, 127));
  }
  return codes;
}

Dims RandomList::dims(uint32_t rank, uint32_t most) {
  Dims dims(rank);
  for (uint32_t& dim : dims) dim = pick(1, most);
  return dims;
}

RandomList::Layout RandomList::layout(const Dims& dims, bool gaps) {
  const auto rank = static_cast<uint32_t>(dims.size());
  Layout result = {dense_view(Memory::kNone, 0, 0, dims), 0};
  if (chance(3)) {
    result.bytes = static_cast<uint32_t>(elements(dims));
    return result;
  }
  Dims order(rank);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random_);
  uint32_t reach = 0;
  int64_t offset = gaps ? pick(0, 3) : 0;
  for (const uint32_t k : order) {
    const uint32_t step = reach + 1 + (gaps && chance(3) ? pick(1, 5) : 0);
    const bool backward = chance(4);
    if (backward) offset += int64_t{step} * (dims[k] - 1);
    // A dimension of size 1 may have any stride.
    result.view.strides[k] = dims[k] == 1 && gaps ? pick_signed(-1000000, 1000000)
                             : backward           ? -static_cast<int32_t>(step)
                                                  : static_cast<int32_t>(step);
    reach += step * (dims[k] - 1);
  }
  result.view.offset = static_cast<uint32_t>(offset);
  result.bytes = reach + 1 + (gaps ? 3 + pick(0, 2) : 0);
  return result;
}

namespace {

/// Returns the bytes of a memory that holds the tensor. Bytes between elements are 0xEE.
Bytes spread(const Dense& tensor, const View& view, uint32_t bytes) {
  Bytes memory(bytes, 0xEE);
  for_each_index(tensor.dims, [&](const Dims& index) {
    memory[byte_of(view, index)] = static_cast<uint8_t>(tensor.at(index));
  });
  return memory;
}

}  // namespace

View RandomList::place(const Dense& tensor) {
  const uint32_t where = pick(0, 2);
  Layout at = layout(tensor.dims, true);
  const Bytes memory = spread(tensor, at.view, at.bytes);
  if (where == 0) {
    at.view.memory = Memory::kWeights;
    at.view.offset += list.bytes(memory);
    return at.view;
  }
  at.view.memory = Memory::kInput;
  at.view.index = static_cast<uint16_t>(list.input(at.bytes));
  input_bytes.push_back(memory);
  if (where == 1) return at.view;
  Layout copied = layout(tensor.dims, true);
  copied.view.memory = Memory::kScratch;
  copied.view.offset += list.scratch(copied.bytes);
  list.kernel(Kernel::kCopy, {at.view}, copied.view);
  return copied.view;
}

View RandomList::result(const Dims& dims) {
  const bool direct = chance(2);
  Layout at = layout(dims, !direct);
  at.view.memory = direct ? Memory::kOutput : Memory::kScratch;
  if (direct) {
    at.view.index = static_cast<uint16_t>(list.output(at.bytes));
  } else {
    at.view.offset += list.scratch(at.bytes);
  }
  return at.view;
}

Factor RandomList::factor(double magnitude) {
  if (chance(8)) return {pick_signed(0, 0x7FFFFFFF), pick_signed(-31, 30)};
  if (chance(4)) return {1 << 30, -static_cast<int32_t>(pick(0, 4))};  // gives halves
  int exponent = 0;
  std::frexp(128.0 / magnitude * pick(1, 40) / 20, &exponent);
  return {pick_signed(1 << 30, 0x7FFFFFFF), std::clamp(exponent, -31, 30)};
}

OutputStage RandomList::output_stage() {
  OutputStage output_stage;
  output_stage.zero_point = zero_point();
  output_stage.single = chance(2);
  if (chance(2)) {
    output_stage.min = pick_signed(-128, 127);
    output_stage.max = pick_signed(output_stage.min, 127);
  }
  if (chance(3)) output_stage.table = codes(256);
  return output_stage;
}

WeightedParams RandomList::weighted(size_t weights, uint32_t channels, uint32_t depth) {
  WeightedParams result;
  result.weights = codes(weights);
  result.zero_point = zero_point();
  if (!chance(3)) {
    for (uint32_t i = 0; i < channels; ++i) result.bias.push_back(pick_signed(-20000, 20000));
  }
  if (chance(20)) std::fill(result.bias.begin(), result.bias.end(), 0x7FFFFFF0);  // sums wrap
  for (uint32_t i = 0, all = chance(2) ? 1 : channels; i < all; ++i) {
    result.factors.push_back(factor(6000 * std::sqrt(depth)));
  }
  return result;
}

void RandomList::use(KernelRecord& record, const OutputStage& output_stage) {
  record.y_zero_point = output_stage.zero_point;
  record.min = output_stage.min;
  record.max = output_stage.max;
  record.rounding = output_stage.single ? 1 : 0;
  if (output_stage.table) {
    record.table = list.codes(*output_stage.table);
    record.function = neutron::Function::kTanh;
  }
}

void RandomList::use(KernelRecord& record, const WeightedParams& weighted) {
  record.a_zero_point = weighted.zero_point;
  record.weights = list.codes(weighted.weights);
  if (!weighted.bias.empty()) record.bias = list.ints(weighted.bias);
  if (weighted.factors.size() == 1 && chance(2)) return use(record, 2, weighted.factors[0]);
  std::vector<int32_t> multipliers, shifts;
  for (const Factor& factor : weighted.factors) {
    multipliers.push_back(factor.multiplier);
    shifts.push_back(factor.shift);
  }
  record.scale_count = static_cast<uint32_t>(multipliers.size());
  record.multipliers = list.ints(multipliers);
  record.shifts = list.ints(shifts);
}

void RandomList::use(KernelRecord& record, uint32_t which, Factor factor) {
  record.multiplier[which] = factor.multiplier;
  record.shift[which] = factor.shift;
}

void RandomList::use(KernelRecord& record, const Window& window) {
  const auto narrow = [](uint32_t value) { return static_cast<uint16_t>(value); };
  record.kernel_h = narrow(window.kernel[0]);
  record.kernel_w = narrow(window.kernel[1]);
  record.stride_h = narrow(window.stride[0]);
  record.stride_w = narrow(window.stride[1]);
  record.dilation_h = narrow(window.dilation[0]);
  record.dilation_w = narrow(window.dilation[1]);
  record.pad_top = narrow(window.pad[0]);
  record.pad_left = narrow(window.pad[1]);
}

void RandomList::prefetch() {
  const auto bytes = static_cast<uint32_t>(list.weights.size());
  const uint32_t slot = neutron::aligned(bytes);
  if (bytes == 0 || chance(3)) return;
  list.header.prefetch_bytes = 2 * slot;
  uint32_t prefetched = 0;
  for (KernelRecord& record : list.kernels) {
    record.prefetch_to = prefetched % 2 * slot;
    // A random part of the constants, if the check accepts it; else all or nothing.
    record.prefetch_from = 16 * pick(0, bytes / 16);
    record.prefetch_bytes = pick(0, bytes - record.prefetch_from);
    if (check_list(list) != Status::kOk || chance(3)) {
      record.prefetch_from = 0;
      record.prefetch_bytes = chance(4) ? 0 : bytes;
    }
    prefetched += record.prefetch_bytes != 0;
  }
}

void RandomList::expect(const Dense& expected, const std::string& what) {
  const View made = list.kernels.back().output;
  ASSERT_EQ(dims_of(made), expected.dims) << what;
  View out = made;
  if (made.memory != Memory::kOutput) {
    out = dense_view(Memory::kOutput, list.output(static_cast<uint32_t>(expected.values.size())), 0,
                     expected.dims);
    list.kernel(Kernel::kCopy, {made}, out);
  }
  prefetch();
  const Bytes program = list.program();
  uint32_t kernel = 0;
  const Status status = check_bytes(program, list.weights, &kernel);
  ASSERT_EQ(status, Status::kOk) << what << ": " << neutron::status_text(status) << ", kernel "
                                 << static_cast<int32_t>(kernel);
  const Outcome run = run_bytes(program, list.weights, input_bytes);
  ASSERT_TRUE(run.intact) << what;
  for (const Prefetch other : {Prefetch::kInPlace, Prefetch::kByModel}) {
    ASSERT_EQ(run_bytes(program, list.weights, input_bytes, other).outputs, run.outputs) << what;
  }
  for_each_index(expected.dims, [&](const Dims& index) {
    if (testing::Test::HasFailure()) return;
    const auto code = static_cast<int8_t>(run.outputs[out.index][byte_of(out, index)]);
    ASSERT_EQ(code, expected.at(index)) << what << " at " << testing::PrintToString(index);
  });
}

}  // namespace thimble::neutron_test
