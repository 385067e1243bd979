// SPDX-License-Identifier: Apache-2.0
#pragma once
// The methods of a file with records (abi/named_data.h, MethodRecord).

#include "runtime/program/file.h"

namespace thimble::runtime {

/// Moves the start of `segments` to the program entry of the method. Verifies that the methods of
/// the file have the same arena size and the same states: they share the arena. Returns
/// kMissingMethod if no method has this name.
Status select_method(const char* method, ByteRegion& segments);

}  // namespace thimble::runtime
