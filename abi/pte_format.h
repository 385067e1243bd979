// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants of the `.pte` container (ExecuTorch program, identifier ET12), for a reader that
// decodes the flatbuffer without generated code. docs/formats/pte.md explains them; a unit test
// compares them with the schema. Fields that nothing in Thimble reads are left out.
//
// A flatbuffer in four rules, all numbers little-endian:
//   offset   u32: the target is at (position of the offset) + offset
//   table    starts with i32 s: its vtable is at (position of the table) - s
//   vtable   u16 size, u16 size of the table, then one u16 per field: the field's distance from the
//            start of the table, or 0 if absent. A field's slot is 4 + 2 * id; a slot at or past
//            the size of the vtable is absent too. An absent scalar is 0, everywhere in ET12
//   vector   u32 count, then the items; a string is a vector of bytes and one 0 after them

#include <cstdint>

namespace thimble::abi::pte {

// --- File and extended header ------------------------------------------------------------------
inline constexpr char kIdentifier[] = "ET12";
inline constexpr char kHeaderMagic[] = "eh00";
inline constexpr uint32_t kIdentifierOffset = 4;
inline constexpr uint32_t kHeaderOffset = 8;            // the magic; without it no segments exist
inline constexpr uint32_t kHeaderLengthOffset = 12;     // u32, counted from the magic
inline constexpr uint32_t kProgramSizeOffset = 16;      // u64, the flatbuffer with this header
inline constexpr uint32_t kSegmentBaseOffset = 24;      // u64, base of the segment offsets
inline constexpr uint32_t kSegmentDataSizeOffset = 32;  // u64, present if the length is >= 32
inline constexpr uint32_t kHeaderLength = 32;
inline constexpr uint32_t kHeaderLengthMin = 24;
inline constexpr uint32_t kFileBytesMin = 64;  // the stock loader reads this many bytes first

// --- Enumerations and tags ---------------------------------------------------------------------
enum class ScalarType : int8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBool = 11,
  kQint8 = 12,
  kQuint8 = 13,
  kQint32 = 14,
  kBfloat16 = 15,
  kQuint4x2 = 16,
  kQuint2x4 = 17,
  kBits16 = 22,
  kFloat8e5m2 = 23,
  kFloat8e4m3fn = 24,
  kFloat8e5m2fnuz = 25,
  kFloat8e4m3fnuz = 26,
  kUint16 = 27,
  kUint32 = 28,
  kUint64 = 29,
};

/// Values of EValue.val_type.
namespace value_tag {
inline constexpr uint8_t kNone = 0;
inline constexpr uint8_t kNull = 1;
inline constexpr uint8_t kInt = 2;
inline constexpr uint8_t kBool = 3;
inline constexpr uint8_t kDouble = 4;
inline constexpr uint8_t kTensor = 5;
inline constexpr uint8_t kString = 6;
inline constexpr uint8_t kIntList = 7;  // its items are value indices
inline constexpr uint8_t kDoubleList = 8;
inline constexpr uint8_t kBoolList = 9;
inline constexpr uint8_t kTensorList = 10;
inline constexpr uint8_t kOptionalTensorList = 11;  // item -1 is None
}  // namespace value_tag

/// Values of Instruction.instr_args_type.
namespace instruction_tag {
inline constexpr uint8_t kNone = 0;
inline constexpr uint8_t kKernelCall = 1;
inline constexpr uint8_t kDelegateCall = 2;
inline constexpr uint8_t kMoveCall = 3;
inline constexpr uint8_t kJumpFalseCall = 4;
inline constexpr uint8_t kFreeCall = 5;
}  // namespace instruction_tag

namespace tensor_location {
inline constexpr int8_t kSegment = 0;
inline constexpr int8_t kExternal = 1;
}  // namespace tensor_location

namespace blob_location {
inline constexpr int8_t kInline = 0;
inline constexpr int8_t kSegment = 1;
}  // namespace blob_location

// --- Slots of the fields in the vtables --------------------------------------------------------
using VtableOffset = uint16_t;

namespace program {
inline constexpr VtableOffset kVersion = 4;               // u32
inline constexpr VtableOffset kExecutionPlan = 6;         // [ExecutionPlan]
inline constexpr VtableOffset kConstantBuffer = 8;        // [Buffer], deprecated
inline constexpr VtableOffset kBackendDelegateData = 10;  // [InlineData]
inline constexpr VtableOffset kSegments = 12;             // [DataSegment]
inline constexpr VtableOffset kConstantSegment = 14;      // SubsegmentOffsets
inline constexpr VtableOffset kNamedData = 18;            // [NamedData]
}  // namespace program

namespace buffer {
inline constexpr VtableOffset kStorage = 4;  // [u8], 16-aligned
}  // namespace buffer

namespace inline_data {
inline constexpr VtableOffset kData = 4;  // [u8], 16-aligned
}  // namespace inline_data

namespace data_segment {
inline constexpr VtableOffset kOffset = 4;  // u64, from the segment base
inline constexpr VtableOffset kSize = 6;    // u64
}  // namespace data_segment

namespace subsegment_offsets {
inline constexpr VtableOffset kSegmentIndex = 4;  // u32
inline constexpr VtableOffset kOffsets =
    6;  // [u64], from the start of the segment; [0] is reserved
}  // namespace subsegment_offsets

namespace named_data {
inline constexpr VtableOffset kKey = 4;           // string
inline constexpr VtableOffset kSegmentIndex = 6;  // u32
}  // namespace named_data

namespace execution_plan {
inline constexpr VtableOffset kName = 4;                  // string
inline constexpr VtableOffset kValues = 8;                // [EValue]
inline constexpr VtableOffset kInputs = 10;               // [i32]
inline constexpr VtableOffset kOutputs = 12;              // [i32]
inline constexpr VtableOffset kChains = 14;               // [Chain]
inline constexpr VtableOffset kOperators = 16;            // [Operator]
inline constexpr VtableOffset kDelegates = 18;            // [BackendDelegate]
inline constexpr VtableOffset kNonConstBufferSizes = 20;  // [i64], [0] is reserved
}  // namespace execution_plan

namespace evalue {
inline constexpr VtableOffset kValType = 4;  // u8, a value_tag
inline constexpr VtableOffset kVal = 6;      // the table that the tag selects
}  // namespace evalue

namespace tensor {
inline constexpr VtableOffset kScalarType = 4;        // i8
inline constexpr VtableOffset kStorageOffset = 6;     // i32
inline constexpr VtableOffset kSizes = 8;             // [i32]
inline constexpr VtableOffset kDimOrder = 10;         // [u8]
inline constexpr VtableOffset kDataBufferIdx = 14;    // u32
inline constexpr VtableOffset kAllocationInfo = 16;   // AllocationDetails
inline constexpr VtableOffset kShapeDynamism = 20;    // i8
inline constexpr VtableOffset kExtraTensorInfo = 22;  // ExtraTensorInfo
}  // namespace tensor

namespace allocation_details {
inline constexpr VtableOffset kMemoryId = 4;          // u32, from 1
inline constexpr VtableOffset kMemoryOffsetLow = 6;   // u32
inline constexpr VtableOffset kMemoryOffsetHigh = 8;  // u32
}  // namespace allocation_details

namespace extra_tensor_info {
inline constexpr VtableOffset kLocation = 8;  // i8
}  // namespace extra_tensor_info

/// Tables Int, Bool, Double and String have one field, as do the five list tables.
namespace scalar_value {
inline constexpr VtableOffset kValue = 4;  // i64, bool, f64 or string
}  // namespace scalar_value
namespace list_value {
inline constexpr VtableOffset kItems = 4;  // [i64], [f64], [bool], [i32], [i32]
}  // namespace list_value

namespace op {
inline constexpr VtableOffset kName = 4;      // string
inline constexpr VtableOffset kOverload = 6;  // string
}  // namespace op

namespace backend_delegate {
inline constexpr VtableOffset kId = 4;         // string
inline constexpr VtableOffset kProcessed = 6;  // BackendDelegateDataReference
}  // namespace backend_delegate

namespace delegate_data_reference {
inline constexpr VtableOffset kLocation = 4;  // i8
inline constexpr VtableOffset kIndex = 6;     // u32, into backend_delegate_data or segments
}  // namespace delegate_data_reference

namespace chain {
inline constexpr VtableOffset kInstructions = 8;  // [Instruction]
}  // namespace chain

namespace instruction {
inline constexpr VtableOffset kInstrArgsType = 4;  // u8, an instruction_tag
inline constexpr VtableOffset kInstrArgs = 6;      // the table that the tag selects
}  // namespace instruction

namespace kernel_call {
inline constexpr VtableOffset kOpIndex = 4;  // i32
inline constexpr VtableOffset kArgs = 6;     // [i32]
}  // namespace kernel_call

namespace delegate_call {
inline constexpr VtableOffset kDelegateIndex = 4;  // i32
inline constexpr VtableOffset kArgs = 6;           // [i32]
}  // namespace delegate_call

}  // namespace thimble::abi::pte
