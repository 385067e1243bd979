// SPDX-License-Identifier: Apache-2.0
#pragma once
// An ExecuTorch program file (`.pte`, identifier ET12) as plain structs. `read.h` and `write.h`
// convert from and to bytes, `print.h` to text and JSON. The structs mirror the
// tables of the file, with two differences. Bulk data is stored as bytes instead of segment numbers
// and offsets; only the writer decides its position. Fields whose absence means the same as an
// empty value are plain values. docs/formats/pte.md describes the bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "abi/pte_format.h"
#include "base/bytes.h"

namespace thimble::formats::pte {

/// A file may contain numbers that are not in the enumeration.
using abi::pte::ScalarType;
/// Returns "float32", "int8", ...; empty if the number is not a scalar type.
[[nodiscard]] std::string_view name(ScalarType type);
/// Returns the size of one element in bytes; 0 if the number is not a scalar type.
[[nodiscard]] size_t size_bytes(ScalarType type);

enum class ShapeDynamism : int8_t { kStatic = 0, kDynamicBound = 1, kDynamicUnbound = 2 };
enum class TensorLocation : int8_t { kSegment = 0, kExternal = 1 };
enum class BlobLocation : int8_t { kInline = 0, kSegment = 1 };

struct Device {
  int8_t type = 0;  // 0 = CPU, 1 = CUDA
  int8_t index = 0;
  bool operator==(const Device&) const = default;
};

struct Allocation {
  uint32_t memory_id = 1;  // starts at 1; index into ExecutionPlan::memory_sizes
  uint64_t offset = 0;
  bool operator==(const Allocation&) const = default;
};

/// Tensor::data_buffer_idx of a planned tensor whose start value is in the entry abi::kStateKey.
/// The stock runtime does not read that entry: it finds no mutable segment and refuses the file.
inline constexpr uint32_t kInitialValueInEntry = 1;

struct ExtraTensorInfo {
  uint64_t mutable_segment = 0;  // index into Program::mutable_segments
  std::optional<std::string> fully_qualified_name;
  TensorLocation location = TensorLocation::kSegment;
  Device device;
  bool operator==(const ExtraTensorInfo&) const = default;
};

/// Location of the data:     data_buffer_idx  allocation
///   constant                  > 0        none       Program::constants
///   planned                     0        set        an arena of the plan
///   passed by the application   0        none
///   planned, with a start value > 0      set        Program::mutable_segments
///   state of a native program   1        set        named data abi::kStateKey, no mutable_segments
struct Tensor {
  ScalarType scalar_type = ScalarType::kByte;
  int32_t storage_offset = 0;      // the stock runtime supports only 0
  std::vector<int32_t> sizes;      // upper bounds if dynamic
  std::vector<uint8_t> dim_order;  // outermost to innermost: 0,1,2,3 or 0,2,3,1
  bool requires_grad = false;
  uint32_t data_buffer_idx = 0;
  std::optional<Allocation> allocation;
  int8_t layout = 0;
  ShapeDynamism shape_dynamism = ShapeDynamism::kStatic;
  std::optional<ExtraTensorInfo> extra;
  bool operator==(const Tensor&) const = default;
};
/// Returns the product of the sizes times the element size; nullopt if it exceeds 64 bits or the
/// type is unknown.
[[nodiscard]] std::optional<uint64_t> data_bytes(const Tensor& tensor);

struct Null {
  bool operator==(const Null&) const = default;
};
struct Int {
  int64_t value = 0;
  bool operator==(const Int&) const = default;
};
struct Bool {
  bool value = false;
  bool operator==(const Bool&) const = default;
};
struct Double {
  double value = 0;
  bool operator==(const Double&) const = default;
};
struct String {
  std::string value;
  bool operator==(const String&) const = default;
};
struct IntList {
  std::vector<int64_t> items;  // indices of Int values, not the integers themselves
  bool operator==(const IntList&) const = default;
};
struct DoubleList {
  std::vector<double> items;
  bool operator==(const DoubleList&) const = default;
};
struct BoolList {
  std::vector<bool> items;
  bool operator==(const BoolList&) const = default;
};
struct TensorList {
  std::vector<int32_t> items;  // indices of Tensor values
  bool operator==(const TensorList&) const = default;
};
struct OptionalTensorList {
  std::vector<int32_t> items;  // indices of Tensor values; -1 is None
  bool operator==(const OptionalTensorList&) const = default;
};

/// The alternatives have the order of the file's union: its tag is index() + 1.
using EValue = std::variant<Null, Int, Bool, Double, Tensor, String, IntList, DoubleList, BoolList,
                            TensorList, OptionalTensorList>;

struct KernelCall {
  int32_t op_index = 0;  // index into ExecutionPlan::operators
  std::vector<int32_t> args;
  bool operator==(const KernelCall&) const = default;
};
struct DelegateCall {
  int32_t delegate_index = 0;  // index into ExecutionPlan::delegates
  std::vector<int32_t> args;   // inputs, then outputs
  bool operator==(const DelegateCall&) const = default;
};
struct MoveCall {
  int32_t from = 0;
  int32_t to = 0;
  bool operator==(const MoveCall&) const = default;
};
struct JumpFalseCall {
  int32_t condition = 0;
  int32_t destination = 0;  // instruction index in the same chain; the count means "end"
  bool operator==(const JumpFalseCall&) const = default;
};
struct FreeCall {
  int32_t value = 0;
  bool operator==(const FreeCall&) const = default;
};

/// The alternatives have the order of the file's union: its tag is index() + 1.
using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct Frame {
  std::string filename;
  int32_t line = 0;
  std::string name;
  std::string context;
  bool operator==(const Frame&) const = default;
};

struct Chain {
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<Instruction> instructions;
  std::vector<std::vector<Frame>> stacktrace;  // empty, or frames per instruction
  bool operator==(const Chain&) const = default;
};

/// The runtime looks up "name.overload", or "name" if the overload is empty.
struct Operator {
  std::string name;
  std::string overload;
  bool operator==(const Operator&) const = default;
};
[[nodiscard]] std::string full_name(const Operator& op);

struct CompileSpec {
  std::string key;
  Bytes value;
  bool operator==(const CompileSpec&) const = default;
};

struct BackendDelegate {
  std::string id;     // backend id; unknown ones are kept unchanged
  uint32_t blob = 0;  // index into Program::delegate_blobs
  std::vector<CompileSpec> compile_specs;
  bool operator==(const BackendDelegate&) const = default;
};

struct ContainerMetadata {
  std::string encoded_input;
  std::string encoded_output;
  bool operator==(const ContainerMetadata&) const = default;
};

struct MemoryDevice {
  int32_t memory_id = 0;
  Device device;
  bool operator==(const MemoryDevice&) const = default;
};

struct ExecutionPlan {
  std::string name = "forward";
  std::optional<ContainerMetadata> container;
  std::vector<EValue> values;
  std::vector<int32_t> inputs;                        // value indices
  std::vector<int32_t> outputs;                       // value indices
  std::vector<Chain> chains = std::vector<Chain>(1);  // the stock runtime requires at least one
  std::vector<Operator> operators;
  std::vector<BackendDelegate> delegates;
  std::vector<int64_t> memory_sizes{0};  // bytes of each arena, by memory_id; [0] is reserved
  std::vector<MemoryDevice> memory_devices;
  bool operator==(const ExecutionPlan&) const = default;
};

/// The payload of one or more delegates. Equal blobs with the same location are stored once.
struct DelegateBlob {
  BlobLocation location = BlobLocation::kInline;
  uint32_t alignment = 16;  // alignment of the file offset: a power of two; 16 for inline data
  Bytes bytes;
  bool operator==(const DelegateBlob&) const = default;
};

/// Bytes with a key, which delegates or a runtime look up; the stock runtime ignores unknown keys.
struct NamedData {
  std::string key;
  uint32_t alignment = 16;  // alignment of the file offset: a power of two
  Bytes bytes;
  bool operator==(const NamedData&) const = default;
};

/// Initial values of mutable tensors. buffers[0] is reserved and empty, as in Program::constants.
struct MutableSegment {
  std::vector<Bytes> buffers;
  bool operator==(const MutableSegment&) const = default;
};

struct Program {
  uint32_t version = 0;
  std::vector<ExecutionPlan> plans;
  /// Indexed by Tensor::data_buffer_idx. [0] is reserved and empty ("no constant"). See
  /// constant_pool.h.
  std::vector<Bytes> constants = std::vector<Bytes>(1);
  /// True if constants are stored inside the flatbuffer, the deprecated form. Kept for rewriting
  /// old files.
  bool constants_inline = false;
  std::vector<MutableSegment> mutable_segments;
  std::vector<DelegateBlob> delegate_blobs;
  std::vector<NamedData> named_data;
  bool operator==(const Program&) const = default;
};

[[nodiscard]] const NamedData* find_named_data(const Program& program, std::string_view key);

}  // namespace thimble::formats::pte
