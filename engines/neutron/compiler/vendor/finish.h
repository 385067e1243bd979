#pragma once
// finish(): compiles a subgraph with NXP's converter instead of Thimble's kernel list.

#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "interchange/tflite.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kFormSdk = "sdk";

/// What the converter of NXP's eIQ Neutron SDK reads: operators that it has kernels for.
inline constexpr interchange::TfliteProfile kConverterProfile{true, true, true, true};

/// The region as the converter reads it, a LiteRT model, or why it cannot be said so. `region` is
/// in the engine's arithmetic.
void add_exchange(const ir::Graph& region, Delegate& delegate);

/// If tools.form is "sdk", replaces the payload that compile() made by the converter's microcode,
/// for the backend "NeutronBackend". A failure becomes an error message that says what the
/// converter did. All output of the converter is checked before it is used.
[[nodiscard]] Status finish(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::neutron
