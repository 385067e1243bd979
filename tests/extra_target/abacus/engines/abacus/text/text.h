// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program of the Abacus as text: one line per command.

#include <string>

#include "base/bytes.h"

namespace thimble::abacus::text {

/// True if the bytes are a program that the device would accept.
[[nodiscard]] bool is_program(ByteView bytes);

/// Text of a program that is_program() accepts.
[[nodiscard]] std::string print(ByteView program);

}  // namespace thimble::abacus::text
