// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/quant_preferences.h"

namespace thimble::engine::neutron {
namespace {

/// The rows NEUTRON_FUNCTION as names of the quantizer; neg and changes of scale are "line".
constexpr std::string_view kTables[] = {"abs",  "clamp", "exp",      "hard_swish", "leaky_relu",
                                        "line", "log",   "logistic", "rsqrt",      "tanh"};

}  // namespace

const QuantPreferences kPreferences = {.linear_per_tensor = false,
                                       .narrow_softmax = true,
                                       .symmetric_products = true,
                                       .tables = kTables};

}  // namespace thimble::engine::neutron
