// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options and inspectors of the command line for this engine (tools/engine_cli.h).

#include <memory>

#include "tools/engine_cli.h"

namespace thimble::tools {

[[nodiscard]] std::unique_ptr<EngineCli> axon_cli();

}  // namespace thimble::tools
