#pragma once
// What the Neutron takes of the integer graph: the rows of ops.def, and the words of a refusal.

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

/// NPUs of the family. Rows name sets of them.
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

/// The first limit that the operator passes as it stands, in words; empty: none.
[[nodiscard]] std::string past_limit(const ir::Graph& graph, const ir::Op& op, Variant variant);

/// The operator by itself, in the words of the integer graph or of form.h. A refusal names the
/// operator, and the quantity with its value and limit or what the NPU wants.
[[nodiscard]] Verdict rules_allow(const ir::Graph& graph, const ir::Op& op, Variant variant);

}  // namespace thimble::engine::neutron
