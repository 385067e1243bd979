#pragma once
// Operators of the integer graph that the Neutron supports (rows of ops.def), and refusal messages.

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

/// NPUs of the family, as bits. A row of ops.def names a set of them.
enum class Variant : uint8_t { kN3_64 = 1, kN1_16 = 2, kImx95 = 4 };
// Sets of variants for the rows of ops.def, and the limit of a row without one.
inline constexpr uint8_t kN3 = static_cast<uint8_t>(Variant::kN3_64);
inline constexpr uint8_t kN1 = static_cast<uint8_t>(Variant::kN1_16);
inline constexpr uint8_t kS = static_cast<uint8_t>(Variant::kImx95);
inline constexpr uint8_t kAll = kN3 | kN1 | kS;
inline constexpr int64_t kUnlimited = INT64_MAX;
[[nodiscard]] constexpr bool has(uint8_t variants, Variant variant) {
  return (variants & static_cast<uint8_t>(variant)) != 0;
}
[[nodiscard]] std::string_view variant_name(Variant variant);  // "neutron-n3-64"

/// Describes the first limit that the operator exceeds in its present form; empty if none.
[[nodiscard]] std::string exceeded_limit_text(const ir::Graph& graph, const ir::Op& op,
                                              Variant variant);

/// Checks a single operator of the integer graph or of a legalized graph. A refusal names the
/// operator and the quantity, with its value and the limit or requirement.
[[nodiscard]] Legality rules_allow(const ir::Graph& graph, const ir::Op& op, Variant variant);

}  // namespace thimble::engine::neutron
