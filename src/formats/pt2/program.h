// SPDX-License-Identifier: Apache-2.0
#pragma once
// The content of an archive of `torch.export.save`, as plain structs with the names of PyTorch's
// serialization schema. The reader does not interpret the content: symbolic sizes and operator
// names are strings, and an unknown kind of argument keeps its tag.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace thimble::formats::pt2 {

/// Numbers of PyTorch's serialization schema; a .pte uses other numbers.
enum class ScalarType : uint8_t {
  kUnknown = 0,
  kUint8 = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kComplex32 = 9,
  kComplex64 = 10,
  kComplex128 = 11,
  kBool = 12,
  kBfloat16 = 13,
  kUint16 = 28,
  kFloat8E4m3fn = 29,
  kFloat8E5m2 = 30,
  kFloat8E4m3fnuz = 31,
  kFloat8E5m2fnuz = 32,
  kFloat8E8m0fnu = 33,
  kUint32 = 34,
  kUint64 = 35
};
enum class MemoryFormat : uint8_t {
  kUnknown = 0,
  kContiguous = 1,
  kChannelsLast = 2,
  kChannelsLast3d = 3,
  kPreserve = 4
};
enum class Layout : uint8_t {
  kUnknown = 0,
  kSparseCoo = 1,
  kSparseCsr = 2,
  kSparseCsc = 3,
  kSparseBsr = 4,
  kSparseBsc = 5,
  kMkldnn = 6,
  kStrided = 7
};

/// Returns "float32", "int8", ...; "unknown" for kUnknown.
[[nodiscard]] std::string_view name(ScalarType type);
/// Returns the size of one element in bytes; 0 for kUnknown.
[[nodiscard]] int64_t size_bytes(ScalarType type);

struct Device {
  std::string type;
  std::optional<int64_t> index;
};

/// A size, stride or offset: a number, or an expression over symbols in sympy's notation, such as
/// "Mul(Integer(2), Symbol('s77', positive=True, integer=True))".
struct SymInt {
  std::string expression;       // empty for a plain number
  std::optional<int64_t> hint;  // value for the example inputs, if stored in the archive
  int64_t value = 0;            // the number if `expression` is empty

  [[nodiscard]] bool is_symbolic() const { return !expression.empty(); }
  bool operator==(const SymInt&) const = default;
};

struct TensorMeta {
  ScalarType dtype = ScalarType::kUnknown;
  Layout layout = Layout::kStrided;
  bool requires_grad = false;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;  // in elements
  SymInt storage_offset;        // in elements
};

/// Returns "float32[16,8,3,3]", with symbols as "s77".
[[nodiscard]] std::string describe(const TensorMeta& meta);

// --- arguments -------------------------------------------------------------------------------

struct None {};
struct TensorName {
  std::string name;
};
/// A symbolic scalar: the value named `name`, or the number `value` if `name` is empty.
template <typename T>
struct SymScalar {
  std::string name;
  T value{};
  [[nodiscard]] bool is_name() const { return !name.empty(); }
};
using SymIntArg = SymScalar<int64_t>;
using SymFloatArg = SymScalar<double>;
using SymBoolArg = SymScalar<bool>;
struct CustomObject {
  std::string name;
  std::string class_name;
};
/// A function passed by name ("as_operator").
struct OperatorName {
  std::string name;
};
struct Graph;
/// A graph that the node evaluates, such as a branch of `cond` or the body of `scan`.
struct Subgraph {
  std::string name;
  std::shared_ptr<const Graph> graph;
};
/// A kind that no importer uses: "as_complex", ..., or a kind of a newer schema.
struct UnknownArgument {
  std::string tag;
};

/// `as_optional_tensor` is represented by its content, TensorName or None.
using Argument =
    std::variant<None, TensorName, std::vector<TensorName>, std::vector<std::optional<TensorName>>,
                 int64_t, std::vector<int64_t>, double, std::vector<double>, bool,
                 std::vector<bool>, std::string, std::vector<std::string>, ScalarType, MemoryFormat,
                 Layout, Device, SymIntArg, std::vector<SymIntArg>, SymFloatArg,
                 std::vector<SymFloatArg>, SymBoolArg, std::vector<SymBoolArg>, CustomObject,
                 OperatorName, Subgraph, UnknownArgument>;

/// Returns the schema's name of the argument kind, for messages: "tensor", "ints", "sym_int", ...
[[nodiscard]] std::string_view kind_name(const Argument& argument);

struct NamedArgument {
  std::string name;  // parameter name in the operator's schema
  Argument value;
  bool is_keyword = false;
};

// --- graph -----------------------------------------------------------------------------------

/// A source line of the user's program.
struct SourceLine {
  std::string file;
  int64_t line = 0;  // 0: not stored in the archive
  std::string function;
  std::string text;  // the line itself, trimmed
};

struct Node {
  std::string name;    // name in torch.fx; may be empty in archives of early schemas
  std::string target;  // "torch.ops.aten.conv2d.default"
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  SourceLine source;
  std::string module_path;  // "features.3.conv"; empty for the top module or if unknown
  std::string module_type;  // "torch.nn.modules.conv.Conv2d"

  [[nodiscard]] const Argument* input(std::string_view input_name) const;
};

template <typename T>
using NameMap = std::map<std::string, T, std::less<>>;

/// The reader has checked these invariants: nodes are in topological order, every name is defined
/// once and before its use, and every tensor name of an input or output has a row in
/// `tensor_values`.
struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
  NameMap<TensorMeta> tensor_values;
  NameMap<SymInt> sym_int_values;

  [[nodiscard]] const TensorMeta* tensor(std::string_view value_name) const;
};

enum class InputKind : uint8_t {
  kUserInput,
  kParameter,
  kBuffer,
  kTensorConstant,
  kCustomObject,
  kToken,
  kConstant
};
/// One per graph input, in the same order.
struct InputSpec {
  InputKind kind = InputKind::kUserInput;
  std::string value_name;     // graph value; empty for a user input that is no tensor or symbol
  std::string target;         // "features.0.weight": parameter, buffer, constant or object name
  bool is_persistent = true;  // only for buffers; other buffers are stored with the constants
  Argument constant;          // kConstant: the fixed value of a user's Python scalar or None
};

enum class OutputKind : uint8_t {
  kUserOutput,
  kLoss,
  kBufferMutation,
  kUserInputMutation,
  kParameterMutation,
  kGradientToParameter,
  kGradientToUserInput,
  kToken
};
/// One per graph output, in the same order.
struct OutputSpec {
  OutputKind kind = OutputKind::kUserOutput;
  std::string value_name;  // graph value; empty for an output that is no tensor or symbol
  std::string target;      // name of the buffer, parameter or user input that is written
  std::string key;         // key or field of a dictionary or dataclass: "logits"; may be empty
};

struct RangeConstraint {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

}  // namespace thimble::formats::pt2
