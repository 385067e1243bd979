// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators of the integer graph that the Neutron supports (rows of ops.def), and refusal messages.

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "engines/neutron/compiler/cost.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

/// NPUs of the family, as bits. A row of ops.def names a set of them.
enum class Variant : uint8_t { kN3_64 = 1, kN1_16 = 2, kImx95 = 4 };
// Sets of variants for the rows of ops.def, and the limit of a row without one.
inline constexpr uint8_t kN3_64Set = static_cast<uint8_t>(Variant::kN3_64);
inline constexpr uint8_t kN1_16Set = static_cast<uint8_t>(Variant::kN1_16);
inline constexpr uint8_t kImx95Set = static_cast<uint8_t>(Variant::kImx95);
inline constexpr uint8_t kAll = kN3_64Set | kN1_16Set | kImx95Set;
inline constexpr int64_t kUnlimited = INT64_MAX;
/// Largest number of products per output element, with channels rounded up to whole groups.
inline constexpr int64_t kProductsMax = 65535;
/// Input channels per step, and output channels per step. Those of the N3-64; the rules and the
/// legalization use them for all NPUs.
inline constexpr int64_t kChannelGroup = 8;
[[nodiscard]] constexpr int64_t round_up_to_group(int64_t channels) {
  return (channels + kChannelGroup - 1) / kChannelGroup * kChannelGroup;
}
[[nodiscard]] constexpr bool has(uint8_t variants, Variant variant) {
  return (variants & static_cast<uint8_t>(variant)) != 0;
}

/// A configuration of the NPU: its rules and its dot-product units. The number in `n3-64` and
/// `n1-16` is pipelines * macs_per_pipeline.
struct Configuration {
  Variant variant;
  std::string_view name;  // in part files
  DotUnits units;
  std::string_view converter_target;  // name of the chip for NXP's converter
};
inline constexpr Configuration kConfigurations[] = {
    {Variant::kN3_64, "neutron-n3-64", {8, 8}, "imxrt700"},
    {Variant::kN1_16, "neutron-n1-16", {4, 4}, "mcxn94x"},
    {Variant::kImx95, "neutron-imx95", {16, 32}, "imx95"},
};
/// Returns the configuration with the name; the first one for other names.
[[nodiscard]] const Configuration& configuration_of(std::string_view name);

/// Returns why the operator, without legalization, violates a row of ops.def; empty if it does not.
[[nodiscard]] std::string violated_row_text(const ir::Graph& graph, const ir::Op& op,
                                            Variant variant);

/// Checks a single operator of the integer graph or of a legalized graph. A refusal names the
/// operator and the quantity, with its value and the limit or requirement.
[[nodiscard]] Legality check_rules(const ir::Graph& graph, const ir::Op& op, Variant variant);

}  // namespace thimble::engine::neutron
