#pragma once
// An ExecuTorch program file (`.pte`, identifier ET12) as plain structs. `read.h` makes them from
// bytes, `write.h` bytes from them, `print.h` text and JSON from them. They mirror the tables
// of the file, with two liberties: bulk data sits here as bytes instead of segment numbers and
// offsets (the writer alone decides where it lies), and fields whose absence means the same as
// their being empty are plain values. docs/formats/pte.md has the bytes.

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

/// A file may hold numbers that are none of these.
using abi::pte::ScalarType;
/// "float32", "int8", ...; empty for a number that is no scalar type.
[[nodiscard]] std::string_view name(ScalarType type);
/// Bytes of one element; 0 for a number that is no scalar type.
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
  uint32_t memory_id = 1;  // counts from 1 and indexes ExecutionPlan::memory_sizes
  uint64_t offset = 0;
  bool operator==(const Allocation&) const = default;
};

struct ExtraTensorInfo {
  uint64_t mutable_segment = 0;  // index into Program::mutable_segments
  std::optional<std::string> fully_qualified_name;
  TensorLocation location = TensorLocation::kSegment;
  Device device;
  bool operator==(const ExtraTensorInfo&) const = default;
};

/// Where its data is:  data_buffer_idx  allocation
///   constant                  > 0        none       Program::constants
///   planned                     0        set        an arena of the plan
///   given by the caller         0        none
///   planned, with a start value > 0      set        Program::mutable_segments
struct Tensor {
  ScalarType scalar_type = ScalarType::kByte;
  int32_t storage_offset = 0;      // the stock runtime takes only 0
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
/// Product of the sizes times the element size; none if it exceeds 64 bits or the type is unknown.
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
  std::vector<int32_t> items;  // as TensorList; -1 is None
  bool operator==(const OptionalTensorList&) const = default;
};

/// The alternatives stand in the order of the file's union: its tag is index() + 1.
using EValue = std::variant<Null, Int, Bool, Double, Tensor, String, IntList, DoubleList, BoolList,
                            TensorList, OptionalTensorList>;

struct KernelCall {
  int32_t op_index = 0;  // into ExecutionPlan::operators
  std::vector<int32_t> args;
  bool operator==(const KernelCall&) const = default;
};
struct DelegateCall {
  int32_t delegate_index = 0;  // into ExecutionPlan::delegates
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
  int32_t destination = 0;  // an instruction of the same chain; its count means "end"
  bool operator==(const JumpFalseCall&) const = default;
};
struct FreeCall {
  int32_t value = 0;
  bool operator==(const FreeCall&) const = default;
};

/// In the order of the file's union: its tag is index() + 1.
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
  std::vector<std::vector<Frame>> stacktrace;  // empty, or the frames of each instruction
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
  std::string id;     // "EthosUBackend"; unknown ones are kept as they are
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
  std::vector<Chain> chains = std::vector<Chain>(1);  // the stock runtime wants at least one
  std::vector<Operator> operators;
  std::vector<BackendDelegate> delegates;
  std::vector<int64_t> memory_sizes{0};  // bytes of each arena by memory_id; [0] is reserved
  std::vector<MemoryDevice> memory_devices;
  bool operator==(const ExecutionPlan&) const = default;
};

/// The payload of one or more delegates. Equal blobs of one location are stored once.
struct DelegateBlob {
  BlobLocation location = BlobLocation::kInline;
  uint32_t alignment = 16;  // of the file offset: a power of two; inline data has 16
  Bytes bytes;
  bool operator==(const DelegateBlob&) const = default;
};

/// Bytes under a name, which delegates or a runtime ask for; the stock runtime ignores other keys.
struct NamedData {
  std::string key;
  uint32_t alignment = 16;  // of the file offset: a power of two
  Bytes bytes;
  bool operator==(const NamedData&) const = default;
};

/// Start values of mutable tensors. buffers[0] is reserved and empty, as in Program::constants.
struct MutableSegment {
  std::vector<Bytes> buffers;
  bool operator==(const MutableSegment&) const = default;
};

struct Program {
  uint32_t version = 0;
  std::vector<ExecutionPlan> plans;
  /// What Tensor::data_buffer_idx means. [0] is reserved and empty ("no constant"). See
  /// constant_pool.h.
  std::vector<Bytes> constants = std::vector<Bytes>(1);
  /// The deprecated form, constants inside the flatbuffer: so that old files survive a rewrite.
  bool constants_inline = false;
  std::vector<MutableSegment> mutable_segments;
  std::vector<DelegateBlob> delegate_blobs;
  std::vector<NamedData> named_data;
  bool operator==(const Program&) const = default;
};

[[nodiscard]] const NamedData* find_named_data(const Program& program, std::string_view key);

}  // namespace thimble::formats::pte
