// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs for the tests of formats/pte: a minimal one, and one with every feature of the format.

#include <cstddef>
#include <limits>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

inline Bytes bytes_of(size_t count, int first) {
  Bytes out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<std::byte>((static_cast<size_t>(first) + i) & 0xFF));
  }
  return out;
}

inline Tensor float_tensor(std::vector<int32_t> sizes) {
  Tensor t;
  t.scalar_type = ScalarType::kFloat;
  t.sizes = std::move(sizes);
  for (size_t i = 0; i < t.sizes.size(); ++i) t.dim_order.push_back(static_cast<uint8_t>(i));
  return t;
}

inline Tensor planned(Tensor t, uint64_t offset) {
  t.allocation = Allocation{1, offset};
  return t;
}

/// y = x + constant, with portable ATen operators.
inline Program add_program() {
  Program program;
  program.constants.push_back(bytes_of(16, 1));
  ExecutionPlan plan;
  Tensor constant = float_tensor({1, 4});
  constant.data_buffer_idx = 1;
  plan.values = {planned(float_tensor({1, 4}), 0), constant, Int{1},
                 planned(float_tensor({1, 4}), 16)};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.operators = {{"aten::add", "out"}};
  plan.chains[0].instructions = {KernelCall{0, {0, 1, 2, 3, 3}}};
  plan.memory_sizes = {0, 32};
  program.plans = {plan};
  return program;
}

inline Program full_program() {
  Program program = add_program();
  program.version = 3;
  program.constants.push_back(bytes_of(5, 100));
  program.constants.push_back({});
  program.mutable_segments = {{{{}, bytes_of(3, 7), bytes_of(16, 9)}}, {{{}, bytes_of(8, 1)}}};
  program.delegate_blobs = {{BlobLocation::kInline, 16, bytes_of(33, 0)},
                            {BlobLocation::kSegment, 32, bytes_of(70, 3)}};
  program.named_data = {{"thimble", 16, bytes_of(10, 150)}, {"odd \"key\"\n", 64, {}}};
  ExecutionPlan plan;
  plan.name = "every\tkind";
  plan.container = ContainerMetadata{"in", "out \\ \x80"};
  Tensor mutable_tensor = planned(float_tensor({4}), 4);
  mutable_tensor.data_buffer_idx = 2;
  mutable_tensor.requires_grad = true;
  mutable_tensor.layout = 2;
  mutable_tensor.extra = ExtraTensorInfo{0, "w", TensorLocation::kSegment, {1, 2}};
  Tensor other_segment = mutable_tensor;
  other_segment.sizes = {2};
  other_segment.data_buffer_idx = 1;
  other_segment.extra = ExtraTensorInfo{1, std::nullopt, TensorLocation::kSegment, {}};
  Tensor external = float_tensor({0, 3});
  external.extra = ExtraTensorInfo{0, "far", TensorLocation::kExternal, {}};
  Tensor dynamic = float_tensor({2, 3, 4, 5});
  dynamic.dim_order = {0, 2, 3, 1};
  dynamic.shape_dynamism = ShapeDynamism::kDynamicBound;
  Tensor unbound = float_tensor({});
  unbound.shape_dynamism = ShapeDynamism::kDynamicUnbound;
  unbound.storage_offset = 7;
  const double infinity = std::numeric_limits<double>::infinity();
  plan.values = {Null{},
                 Int{-5},
                 Bool{true},
                 Bool{false},
                 Double{0.1},
                 Double{-0.0},
                 Double{infinity},
                 String{"a\"b\nc"},
                 mutable_tensor,
                 other_segment,
                 external,
                 dynamic,
                 unbound,
                 IntList{{1, 1}},
                 DoubleList{{1.5, -infinity, 1e-300}},
                 BoolList{{true, false}},
                 TensorList{{8, 10}},
                 OptionalTensorList{{-1, 11}},
                 IntList{},
                 String{},
                 Int{std::numeric_limits<int64_t>::min()}};
  plan.inputs = {11, 1};
  plan.outputs = {8};
  plan.operators = {{"aten::index", "Tensor_out"}, {"ours::plain", ""}};
  plan.delegates = {{"EthosUBackend", 0, {{"compile", bytes_of(4, 60)}, {"", {}}}},
                    {"NobodyKnows", 1, {}},
                    {"EthosUBackend", 0, {}}};
  plan.memory_sizes = {0, 64, 128};
  plan.memory_devices = {{2, {1, 3}}};
  Chain& chain = plan.chains[0];
  chain.inputs = {11};
  chain.outputs = {8};
  chain.instructions = {KernelCall{0, {11, 17, 8, 8}}, DelegateCall{1, {11, 8}}, MoveCall{8, 9},
                        JumpFalseCall{2, 5}, FreeCall{12}};
  chain.stacktrace = {{{"model.py", 12, "forward", "x + y"}, {"a.py", 1, "", ""}}, {}, {}, {}, {}};
  plan.chains.push_back({});
  program.plans.push_back(plan);
  return program;
}

}  // namespace thimble::formats::pte
