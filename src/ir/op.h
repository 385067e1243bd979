// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators: the enum, the row data of ops.def, and attributes with types.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace thimble::ir {

enum class OpKind : uint16_t {
#define THIMBLE_OP(name, category, operands, attributes) name,
#include "ir/ops.def"
#undef THIMBLE_OP
  kCount
};

/// The computation of an operator, regardless of its element type.
enum class OpCategory : uint8_t {
  kAdaptivePool,   // a pool whose windows are given by the size of the result
  kConv,           // x w b?
  kConvTranspose,  // x w b?
  kDelegate,       // a subgraph that another engine runs
  kElementwise,    // a function of one element of each operand, other than kFunction, kPair, kTable
  kFunction,       // a function of one element
  kLinear,         // x w b?
  kMatmul,         // a b, neither of which need be constant
  kMovement,       // moves elements of several operands, or inserts constants
  kNorm,           // normalizes by the mean or variance of a row
  kPair,           // a sum, difference, product, maximum or minimum of two operands
  kPool,           // average or maximum over windows of an image
  kQuantize,       // converts between float and integer
  kRecurrent,      // has a state from one time step to the next
  kReduction,      // reduces dimensions to 1 or removes them
  kResize,         // interpolates an image
  kScan,           // a running value along one dimension
  kSoftmax,        // softmax along one dimension, or its logarithm
  kSensor,         // converts what a sensor delivers
  kSpectrum,       // powers of the discrete Fourier transform of frames
  kTable,          // x table: looks up each element
  kView,           // moves elements of its one operand; commutes with a function of each element
};

enum class AttrId : uint8_t {
#define THIMBLE_ATTR(id, name, type) id,
#include "ir/attributes.def"
#undef THIMBLE_ATTR
  kCount
};

/// The types of attributes.def. A Bool is 0 or 1.
namespace attr_type {
using Int = int64_t;
using Bool = int64_t;
using Double = double;
using Ints = std::vector<int64_t>;
}  // namespace attr_type
using AttrValue = std::variant<attr_type::Int, attr_type::Double, attr_type::Ints>;

/// An attribute whose value is a T.
template <typename T>
struct AttrKey {
  AttrId id;
  constexpr operator AttrId() const { return id; }  // NOLINT(google-explicit-constructor)
};

namespace attr {
#define THIMBLE_ATTR(id, name, type) inline constexpr AttrKey<attr_type::type> id{AttrId::id};
#include "ir/attributes.def"
#undef THIMBLE_ATTR
}  // namespace attr

/// The two attributes of a fixed-point multiplier.
struct MultiplierKeys {
  AttrKey<int64_t> mult, shift;
};
namespace attr {
inline constexpr MultiplierKeys multiplier{mult, shift};
inline constexpr MultiplierKeys a_multiplier{a_mult, a_shift};
inline constexpr MultiplierKeys b_multiplier{b_mult, b_shift};
inline constexpr MultiplierKeys y_multiplier{y_mult, y_shift};
inline constexpr MultiplierKeys w_multiplier{w_mult, w_shift};
inline constexpr MultiplierKeys h_multiplier{h_mult, h_shift};
inline constexpr MultiplierKeys h0_multiplier{h0_mult, h0_shift};
inline constexpr MultiplierKeys c0_multiplier{c0_mult, c0_shift};
inline constexpr MultiplierKeys scale_multiplier{scale_mult, scale_shift};
inline constexpr MultiplierKeys log_multiplier{log_mult, log_shift};
}  // namespace attr

/// Returns the name in the text form.
[[nodiscard]] std::string_view attr_name(AttrId id);

struct AttrInfo {
  AttrId id{};
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

  /// For readers of text. Code asks find().
  [[nodiscard]] const AttrInfo* attr(std::string_view name) const;
  [[nodiscard]] const AttrInfo* find(AttrId id) const;
};

namespace detail {
inline constexpr OpCategory kCategories[] = {
#define THIMBLE_OP(name, category, operands, attributes) OpCategory::category,
#include "ir/ops.def"
#undef THIMBLE_OP
};
}  // namespace detail
[[nodiscard]] constexpr OpCategory category_of(OpKind kind) {
  return detail::kCategories[static_cast<size_t>(kind)];
}

[[nodiscard]] const OpInfo& op_info(OpKind kind);
[[nodiscard]] std::string_view op_name(OpKind kind);
[[nodiscard]] std::optional<OpKind> op_from_name(std::string_view name);

/// Returns true if the operator's row has the attribute.
[[nodiscard]] bool has_attr(OpKind kind, AttrId id);

/// Attributes in the order in which they were set. After Graph::add: in the order of the row,
/// without those equal to their default.
class Attrs {
 public:
  struct Entry {
    AttrId id;
    AttrValue value;
    Entry(AttrId entry_id, AttrValue entry_value) : id(entry_id), value(std::move(entry_value)) {}
    template <typename T>
    Entry(AttrKey<T> key, std::type_identity_t<T> entry_value)
        : id(key.id), value(std::move(entry_value)) {}
    template <typename T>
    Entry(AttrKey<T> key, AttrValue entry_value) = delete;  // a value of another type
    bool operator==(const Entry&) const = default;
  };

  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries);

  template <typename T>
  void set(AttrKey<T> key, std::type_identity_t<T> value) {
    set_value(key.id, AttrValue(std::move(value)));
  }
  /// Returns null if the attribute was not set.
  template <typename T>
  [[nodiscard]] const T* find(AttrKey<T> key) const {
    const AttrValue* value = find_value(key.id);
    return value == nullptr ? nullptr : std::get_if<T>(value);
  }

  /// Set and find for code that treats all attributes alike; `value` must have the type of `id`.
  void set_value(AttrId id, AttrValue value);
  [[nodiscard]] const AttrValue* find_value(AttrId id) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const Attrs&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// Returns the value of an attribute of the row: the one that was set, or the default.
[[nodiscard]] const AttrValue& attr_value(OpKind kind, const Attrs& attrs, AttrId id);

}  // namespace thimble::ir
