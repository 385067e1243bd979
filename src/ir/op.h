#pragma once
// Operators: the enum, the row data of ops.def, and the attribute store.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace thimble::ir {

enum class OpKind : uint16_t {
#define THIMBLE_OP(name, operands, attributes) name,
#include "ir/ops.def"
#undef THIMBLE_OP
  kCount
};

using AttrValue = std::variant<int64_t, double, std::vector<int64_t>>;

struct AttrInfo {
  std::string_view name;
  enum class Kind : uint8_t { kInt, kDouble, kInts, kBool } kind = Kind::kInt;
  std::optional<AttrValue> default_value;  // nullopt: the attribute is required
};

struct OperandInfo {
  std::string_view name;
  bool optional = false;
  bool variadic = false;  // only for the last operand
};

/// The parsed row of ops.def.
struct OpInfo {
  std::string_view name;
  std::vector<OperandInfo> operands;
  std::vector<AttrInfo> attrs;

  [[nodiscard]] const AttrInfo* attr(std::string_view name) const;
};

[[nodiscard]] const OpInfo& op_info(OpKind kind);
[[nodiscard]] std::string_view op_name(OpKind kind);
[[nodiscard]] std::optional<OpKind> op_from_name(std::string_view name);

/// Attributes by name, in the order of the row. Attributes equal to their default are not stored.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string_view, AttrValue>> values);

  void set(std::string_view name, AttrValue value);
  [[nodiscard]] const AttrValue* find(std::string_view name) const;
  bool operator==(const Attrs&) const = default;
  [[nodiscard]] const std::vector<std::pair<std::string, AttrValue>>& entries() const {
    return entries_;
  }

 private:
  std::vector<std::pair<std::string, AttrValue>> entries_;
};

}  // namespace thimble::ir
