// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options and inspectors of the command line for the Abacus (tools/engine_cli.h):
// `compile --abacus-listing FILE` writes the commands of all delegates as text, and `inspect` shows
// the commands of a delegate or of a program in a file of its own.

#include <memory>

#include "tools/engine_cli.h"

namespace thimble::tools {

[[nodiscard]] std::unique_ptr<EngineCli> abacus_cli();

}  // namespace thimble::tools
