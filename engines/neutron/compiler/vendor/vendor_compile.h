// SPDX-License-Identifier: Apache-2.0
#pragma once
// compile_with_vendor_tools(): compiles a subgraph with NXP's converter instead of Thimble's kernel
// list.

#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "interchange/tflite.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kFormSdk = "sdk";

/// Options for the LiteRT (.tflite) file that NXP's converter reads.
inline constexpr interchange::TfliteProfile kConverterProfile{
    .functions = true, .images = true, .explicit_padding = true, .keeps_dims = true};

/// Sets delegate.tflite_model to the subgraph as a LiteRT model for the converter, or
/// delegate.no_tflite_reason to the reason why LiteRT cannot express it. `subgraph` is
/// legalized.
void add_tflite_model(const ir::Graph& subgraph, Delegate& delegate);

/// If tools.form is "sdk", replaces the payload that compile() made by the converter's microcode,
/// for the backend "NeutronBackend". A failure becomes an error message that says what the
/// converter did. All output of the converter is checked before it is used.
[[nodiscard]] Status compile_with_vendor_tools(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::neutron
