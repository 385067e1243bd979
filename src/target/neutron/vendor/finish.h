#pragma once
// finish(): compiles a subgraph with NXP's converter instead of Thimble's kernel list.

#include <string_view>

#include "base/result.h"
#include "ir/graph.h"
#include "target/target.h"

namespace thimble::target::neutron {

inline constexpr std::string_view kFormSdk = "sdk";

/// Adds the subgraph as LiteRT model for the converter, or the reason why that is not possible.
/// `region` is a legalized subgraph.
void add_exchange(const ir::Graph& region, Delegate& delegate);

/// If tools.form is "sdk", replaces the payload that compile() made by the converter's microcode,
/// for the backend "NeutronBackend". A failure becomes an error message that says what the
/// converter did. All output of the converter is checked before it is used.
[[nodiscard]] Status finish(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::target::neutron
