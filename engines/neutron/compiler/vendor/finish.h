#pragma once
// finish(): a region by NXP's converter, in place of our own list of kernels.

#include <string_view>

#include "base/result.h"
#include "interchange/tflite.h"
#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::engine::neutron {

inline constexpr std::string_view kFormSdk = "sdk";

/// What the converter of NXP's eIQ Neutron SDK reads: operators that it has kernels for.
inline constexpr interchange::TfliteProfile kConverterProfile{true, true, true, true};

/// The region as the converter reads it, a LiteRT model, or why it cannot be said so. `region` is
/// in the engine's arithmetic.
void add_exchange(const ir::Graph& region, Delegate& delegate);

/// With tools.form "sdk", the converter's microcode becomes the payload and "NeutronBackend" runs
/// it; `delegate` is as compile() made it. Whatever goes wrong is a message of what the converter
/// did, and nothing of its answer is used that has not been checked.
[[nodiscard]] Status finish(const VendorTools& tools, Delegate& delegate);

}  // namespace thimble::engine::neutron
