// SPDX-License-Identifier: Apache-2.0
// abi/pte_format.h states by hand what flatc derives from the schema; this file compares both.

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <variant>

#include "abi/pte_format.h"
#include "formats/pte/program.h"
#include "program_generated.h"

namespace thimble::formats::pte {
namespace {

using namespace abi::pte;  // NOLINT: every name of it is compared here

#define SAME(slot, table, field) static_assert(slot == fb::table::field)
SAME(program::kVersion, Program, VT_VERSION);
SAME(program::kExecutionPlan, Program, VT_EXECUTION_PLAN);
SAME(program::kConstantBuffer, Program, VT_CONSTANT_BUFFER);
SAME(program::kBackendDelegateData, Program, VT_BACKEND_DELEGATE_DATA);
SAME(program::kSegments, Program, VT_SEGMENTS);
SAME(program::kConstantSegment, Program, VT_CONSTANT_SEGMENT);
SAME(program::kNamedData, Program, VT_NAMED_DATA);
SAME(buffer::kStorage, Buffer, VT_STORAGE);
SAME(inline_data::kData, InlineData, VT_DATA);
SAME(data_segment::kOffset, DataSegment, VT_OFFSET);
SAME(data_segment::kSize, DataSegment, VT_SIZE);
SAME(subsegment_offsets::kSegmentIndex, SubsegmentOffsets, VT_SEGMENT_INDEX);
SAME(subsegment_offsets::kOffsets, SubsegmentOffsets, VT_OFFSETS);
SAME(named_data::kKey, NamedData, VT_KEY);
SAME(named_data::kSegmentIndex, NamedData, VT_SEGMENT_INDEX);
SAME(execution_plan::kName, ExecutionPlan, VT_NAME);
SAME(execution_plan::kValues, ExecutionPlan, VT_VALUES);
SAME(execution_plan::kInputs, ExecutionPlan, VT_INPUTS);
SAME(execution_plan::kOutputs, ExecutionPlan, VT_OUTPUTS);
SAME(execution_plan::kChains, ExecutionPlan, VT_CHAINS);
SAME(execution_plan::kOperators, ExecutionPlan, VT_OPERATORS);
SAME(execution_plan::kDelegates, ExecutionPlan, VT_DELEGATES);
SAME(execution_plan::kNonConstBufferSizes, ExecutionPlan, VT_NON_CONST_BUFFER_SIZES);
SAME(evalue::kValType, EValue, VT_VAL_TYPE);
SAME(evalue::kVal, EValue, VT_VAL);
SAME(tensor::kScalarType, Tensor, VT_SCALAR_TYPE);
SAME(tensor::kStorageOffset, Tensor, VT_STORAGE_OFFSET);
SAME(tensor::kSizes, Tensor, VT_SIZES);
SAME(tensor::kDimOrder, Tensor, VT_DIM_ORDER);
SAME(tensor::kDataBufferIdx, Tensor, VT_DATA_BUFFER_IDX);
SAME(tensor::kAllocationInfo, Tensor, VT_ALLOCATION_INFO);
SAME(tensor::kShapeDynamism, Tensor, VT_SHAPE_DYNAMISM);
SAME(tensor::kExtraTensorInfo, Tensor, VT_EXTRA_TENSOR_INFO);
SAME(allocation_details::kMemoryId, AllocationDetails, VT_MEMORY_ID);
SAME(allocation_details::kMemoryOffsetLow, AllocationDetails, VT_MEMORY_OFFSET_LOW);
SAME(allocation_details::kMemoryOffsetHigh, AllocationDetails, VT_MEMORY_OFFSET_HIGH);
SAME(extra_tensor_info::kLocation, ExtraTensorInfo, VT_LOCATION);
SAME(op::kName, Operator, VT_NAME);
SAME(op::kOverload, Operator, VT_OVERLOAD);
SAME(backend_delegate::kId, BackendDelegate, VT_ID);
SAME(backend_delegate::kProcessed, BackendDelegate, VT_PROCESSED);
SAME(delegate_data_reference::kLocation, DelegateDataReference, VT_LOCATION);
SAME(delegate_data_reference::kIndex, DelegateDataReference, VT_INDEX);
SAME(chain::kInstructions, Chain, VT_INSTRUCTIONS);
SAME(instruction::kInstrArgsType, Instruction, VT_INSTR_ARGS_TYPE);
SAME(instruction::kInstrArgs, Instruction, VT_INSTR_ARGS);
SAME(kernel_call::kOpIndex, KernelCall, VT_OP_INDEX);
SAME(kernel_call::kArgs, KernelCall, VT_ARGS);
SAME(delegate_call::kDelegateIndex, DelegateCall, VT_DELEGATE_INDEX);
SAME(delegate_call::kArgs, DelegateCall, VT_ARGS);
SAME(scalar_value::kValue, Int, VT_INT_VAL);
SAME(scalar_value::kValue, Bool, VT_BOOL_VAL);
SAME(scalar_value::kValue, Double, VT_DOUBLE_VAL);
SAME(scalar_value::kValue, String, VT_STRING_VAL);
SAME(list_value::kItems, IntList, VT_ITEMS);
SAME(list_value::kItems, DoubleList, VT_ITEMS);
SAME(list_value::kItems, BoolList, VT_ITEMS);
SAME(list_value::kItems, TensorList, VT_ITEMS);
SAME(list_value::kItems, OptionalTensorList, VT_ITEMS);
#undef SAME

#define TAG(tag, value) static_assert(tag == static_cast<uint8_t>(fb::value))
TAG(value_tag::kNone, KernelTypes::NONE);
TAG(value_tag::kNull, KernelTypes::Null);
TAG(value_tag::kInt, KernelTypes::Int);
TAG(value_tag::kBool, KernelTypes::Bool);
TAG(value_tag::kDouble, KernelTypes::Double);
TAG(value_tag::kTensor, KernelTypes::Tensor);
TAG(value_tag::kString, KernelTypes::String);
TAG(value_tag::kIntList, KernelTypes::IntList);
TAG(value_tag::kDoubleList, KernelTypes::DoubleList);
TAG(value_tag::kBoolList, KernelTypes::BoolList);
TAG(value_tag::kTensorList, KernelTypes::TensorList);
TAG(value_tag::kOptionalTensorList, KernelTypes::OptionalTensorList);
TAG(instruction_tag::kNone, InstructionArguments::NONE);
TAG(instruction_tag::kKernelCall, InstructionArguments::KernelCall);
TAG(instruction_tag::kDelegateCall, InstructionArguments::DelegateCall);
TAG(instruction_tag::kMoveCall, InstructionArguments::MoveCall);
TAG(instruction_tag::kJumpFalseCall, InstructionArguments::JumpFalseCall);
TAG(instruction_tag::kFreeCall, InstructionArguments::FreeCall);
#undef TAG

template <typename Variant, typename Alternative>
constexpr size_t tag_of() {
  size_t index = 0;
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((std::is_same_v<std::variant_alternative_t<I, Variant>, Alternative> ? index = I : 0), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Variant>>());
  return index + 1;
}
static_assert(tag_of<EValue, Null>() == value_tag::kNull);
static_assert(tag_of<EValue, Double>() == value_tag::kDouble);
static_assert(tag_of<EValue, Tensor>() == value_tag::kTensor);
static_assert(tag_of<EValue, String>() == value_tag::kString);
static_assert(tag_of<EValue, BoolList>() == value_tag::kBoolList);
static_assert(tag_of<EValue, OptionalTensorList>() == value_tag::kOptionalTensorList);
static_assert(std::variant_size_v<EValue> == value_tag::kOptionalTensorList);
static_assert(tag_of<Instruction, KernelCall>() == instruction_tag::kKernelCall);
static_assert(tag_of<Instruction, JumpFalseCall>() == instruction_tag::kJumpFalseCall);
static_assert(std::variant_size_v<Instruction> == instruction_tag::kFreeCall);

static_assert(static_cast<int8_t>(TensorLocation::kExternal) == tensor_location::kExternal);
static_assert(static_cast<int8_t>(BlobLocation::kSegment) == blob_location::kSegment);

TEST(PteSchema, IdentifierAndExtension) {
  EXPECT_STREQ(fb::ProgramIdentifier(), kIdentifier);
  EXPECT_STREQ(fb::ProgramExtension(), "pte");
}

TEST(PteSchema, EveryScalarTypeHasNameAndSize) {
  std::set<std::string_view> names;
  for (int code = -128; code < 128; ++code) {
    const auto type = static_cast<ScalarType>(code);
    if (name(type).empty()) {
      EXPECT_EQ(size_bytes(type), 0u);
      continue;
    }
    EXPECT_TRUE(names.insert(name(type)).second) << name(type);
    EXPECT_GT(size_bytes(type), 0u);
  }
  EXPECT_EQ(name(ScalarType::kChar), "int8");
  EXPECT_EQ(size_bytes(ScalarType::kUint64), 8u);
}

}  // namespace
}  // namespace thimble::formats::pte
