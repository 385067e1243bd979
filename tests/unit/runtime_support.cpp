// SPDX-License-Identifier: Apache-2.0
#include "runtime_support.h"

#include <gtest/gtest.h>

#include <cstring>

#include "formats/pte/write.h"
#include "runtime/exec/executor.h"

namespace thimble::runtime_test {
namespace {

using kernels::Call;
using kernels::Kernel;
using kernels::KernelTable;
using kernels::Status;
using kernels::Tensor;

Status check_copy(const Call& call) {
  const Tensor& from = call.args[0].tensor;
  const Tensor& to = call.args[1].tensor;
  return from.bytes == to.bytes ? Status::kOk : Status::kBadShape;
}
void run_copy(const Call& call) {
  std::memmove(call.args[1].tensor.data, call.args[0].tensor.data, call.args[1].tensor.bytes);
}
Status check_refuse(const Call&) {
  return Status::kBadDimOrder;
}

Status check_everything(const Call& call) {
  const uint32_t bytes = call.args[7].tensor.bytes;
  if (call.args[0].tensor.bytes != bytes) return Status::kBadShape;
  const Tensor& optional = call.args[1].tensor;
  if (!optional.is_null && optional.bytes != bytes) return Status::kBadShape;
  for (uint32_t i = 0; i < call.args[6].list; ++i) {
    const Tensor item = call.list_item(call, 6, i);
    if (item.bytes != bytes) return Status::kBadShape;
    if (item.is_constant && item.data == nullptr) return Status::kBadParameter;
  }
  return Status::kOk;
}
void run_everything(const Call& call) {
  uint32_t sum = static_cast<uint32_t>(call.args[2].integer);
  sum += static_cast<uint32_t>(call.args[3].integer);
  sum += call.args[4].number == 0.5 ? 10 : 20;
  for (uint32_t i = 0; i < call.args[5].ints.count; ++i) {
    sum += static_cast<uint32_t>(call.args[5].ints.items[i]);
  }
  const Tensor& out = call.args[7].tensor;
  for (uint32_t at = 0; at < out.bytes; ++at) {
    uint32_t here = sum + static_cast<const uint8_t*>(call.args[0].tensor.data)[at];
    if (!call.args[1].tensor.is_null) {
      here += static_cast<const uint8_t*>(call.args[1].tensor.data)[at];
    }
    for (uint32_t i = 0; i < call.args[6].list; ++i) {
      here += static_cast<const uint8_t*>(call.list_item(call, 6, i).data)[at];
    }
    static_cast<uint8_t*>(out.data)[at] = static_cast<uint8_t>(here);
  }
}

const Kernel kCopy = {"test::copy.out", "To", 1, check_copy, run_copy};
const Kernel kSlowerCopy = {"test::copy.out", "To", 1, check_refuse, run_copy};
const Kernel kEverything = {"test::everything.out", "TtibdlRo", 2, check_everything,
                            run_everything};
const Kernel kRefuse = {"test::refuse.out", "To", 3, check_refuse, run_copy};
const Kernel kNoOverload = {"test::plain", "To", 4, check_copy, run_copy};
// The runtime uses the first of two kernels for one operator.
const Kernel* const kRows[] = {&kCopy, &kEverything, &kRefuse, &kNoOverload, &kSlowerCopy};

pte::Tensor bytes_tensor() {
  pte::Tensor tensor;
  tensor.scalar_type = pte::ScalarType::kChar;
  tensor.sizes = {1, 4};
  tensor.dim_order = {0, 1};
  return tensor;
}

pte::Tensor planned_tensor(uint64_t offset) {
  pte::Tensor tensor = bytes_tensor();
  tensor.allocation = pte::Allocation{1, offset};
  return tensor;
}

}  // namespace

const thimble_kernels* test_kernels() {
  static const KernelTable table = {.kernels = kRows,
                                    .count = std::size(kRows),
                                    .flatbuffer_executor = &runtime::flatbuffer_executor};
  return reinterpret_cast<const thimble_kernels*>(&table);
}

const thimble_kernels* no_kernels() {
  static const KernelTable table = {
      .kernels = nullptr, .count = 0, .flatbuffer_executor = &runtime::flatbuffer_executor};
  return reinterpret_cast<const thimble_kernels*>(&table);
}

pte::Program sample_program() {
  pte::Program program;
  program.constants.push_back(Bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}});
  pte::ExecutionPlan plan;
  pte::Tensor constant = bytes_tensor();
  constant.data_buffer_idx = 1;
  plan.values = {planned_tensor(0),
                 bytes_tensor(),
                 constant,
                 planned_tensor(16),
                 pte::Int{3},
                 pte::Bool{true},
                 pte::Double{0.5},
                 pte::Int{7},
                 pte::IntList{{kInt, kInt2}},
                 pte::TensorList{{kPlannedInput, kCallerInput, kConstant}},
                 pte::Null{},
                 planned_tensor(32),
                 pte::String{"dead"}};
  plan.inputs = {kPlannedInput, kCallerInput};
  plan.outputs = {kCopied, kSum, kCallerInput, kConstant};
  plan.operators = {{"test::copy", "out"}, {"test::everything", "out"}};
  plan.chains[0].instructions = {
      pte::KernelCall{0, {kPlannedInput, kCopied, kCopied}},
      pte::KernelCall{1, {kCallerInput, kNull, kInt, kBool, kDouble, kInts, kTensors, kSum, kSum}}};
  plan.memory_sizes = {0, 36};
  program.plans = {plan};
  return program;
}

Bytes written(const pte::Program& program) {
  Result<Bytes> bytes = pte::write(program);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  return bytes.ok() ? *bytes : Bytes();
}

LoadedModel::LoadedModel(ByteView bytes, const thimble_kernels* kernels)
    : content(bytes.begin(), bytes.end()), file(bytes) {
  size_status = thimble_size(file.data(), file.size(), kernels, &needs);
  // thimble_init() is called even if thimble_size() failed: both must agree, and init must not
  // write without memory.
  const size_t memory_bytes = size_status == 0 ? needs.arena_bytes + needs.state_bytes : 0;
  memory = std::make_unique<GuardedMemory>(memory_bytes);
  status = thimble_init(&model, file.data(), file.size(), kernels, memory->data(), memory_bytes);
}

LoadedModel::~LoadedModel() {
  EXPECT_TRUE(memory->intact()) << "a byte outside the model's memory was written";
  EXPECT_TRUE(file.intact()) << "a byte outside the file was written";
  EXPECT_TRUE(content.empty() || std::memcmp(content.data(), file.data(), content.size()) == 0)
      << "the file was written to";
}

thimble_status run_with_input_buffers(LoadedModel& loaded) {
  constexpr uint8_t kInputByte = 0x5A;
  std::vector<std::unique_ptr<GuardedMemory>> buffers;
  for (uint32_t i = 0; i < thimble_input_count(&loaded.model); ++i) {
    thimble_view view;
    if (const auto status = thimble_input(&loaded.model, i, &view)) return status;
    buffers.push_back(std::make_unique<GuardedMemory>(view.bytes, kInputByte));
    const auto* data = buffers.back()->data();
    if (const auto status = thimble_set_input(&loaded.model, i, data, view.bytes)) return status;
  }
  const thimble_status status = thimble_run(&loaded.model);
  // Reads all outputs, so that a sanitizer checks them. The input buffers are still alive.
  volatile uint8_t sink = 0;
  for (uint32_t i = 0; status == 0 && i < thimble_output_count(&loaded.model); ++i) {
    thimble_view view;
    if (const auto failed = thimble_output(&loaded.model, i, &view)) return failed;
    for (size_t at = 0; at < view.bytes; ++at) {
      sink = static_cast<uint8_t>(sink + static_cast<const uint8_t*>(view.data)[at]);
    }
    for (uint32_t d = 0; d < view.rank; ++d) {
      sink = static_cast<uint8_t>(sink + view.dim_order[d] + view.sizes[d]);
    }
  }
  thimble_reset(&loaded.model);
  for (const auto& buffer : buffers) {
    EXPECT_TRUE(buffer->intact()) << "a byte outside an input buffer was written";
    EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + buffer->size(), [](uint8_t byte) {
      return byte == kInputByte;
    })) << "an input buffer was written to";
  }
  return status;
}

bool damaged_file_runs(ByteView bytes, const thimble_kernels* kernels) {
  const AlignedBytes file(bytes);
  thimble_needs needs = {};
  const thimble_status status = thimble_size(file.data(), file.size(), kernels, &needs);
  if (status == 0 && needs.arena_bytes >= size_t{1} << 20) return false;
  LoadedModel loaded(bytes, kernels);
  return loaded.status == 0 && run_with_input_buffers(loaded) == 0;
}

}  // namespace thimble::runtime_test
