#pragma once
// finish(): compiles a subgraph with NXP's converter instead of Thimble's kernel list.

#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "interchange/tflite.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kFormSdk = "sdk";

/// LiteRT operators that the converter of NXP's eIQ Neutron SDK reads and has kernels for.
inline constexpr interchange::TfliteProfile kConverterProfile{true, true, true, true};

/// Sets delegate.litert_model to the subgraph as a LiteRT model for the converter, or
/// delegate.no_litert_reason to the reason why LiteRT cannot express it. `region` is legalized.
void add_exchange(const ir::Graph& region, Delegate& delegate);

/// If tools.form is "sdk", replaces the payload that compile() made by the converter's microcode,
/// for the backend "NeutronBackend". A failure becomes an error message that says what the
/// converter did. All output of the converter is checked before it is used.
[[nodiscard]] Status finish(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::neutron
