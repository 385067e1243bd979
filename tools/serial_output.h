// SPDX-License-Identifier: Apache-2.0
#pragma once
// The facts of a run on a board with a serial line, for `thimble run`.

#include "tools/model.h"
#include "tools/output.h"

namespace thimble::tools {

/// Prints the facts; with a profile also a row per operator.
void print_serial(const Model& model, const Outcome& outcome);
void add_serial_json(const Model& model, const Outcome& outcome, Json* json);

}  // namespace thimble::tools
