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
[[nodiscard]] std::string_view variant_name(Variant variant);  // "neutron-n3-64"

/// The first limit that the operator passes as it stands, in words; empty: none.
[[nodiscard]] std::string past_limit(const ir::Graph& graph, const ir::Op& op, Variant variant);

/// The operator by itself, in the words of the integer graph or of form.h. A refusal names the
/// operator, and the quantity with its value and limit or what the NPU wants.
[[nodiscard]] Verdict rules_allow(const ir::Graph& graph, const ir::Op& op, Variant variant);

}  // namespace thimble::engine::neutron
