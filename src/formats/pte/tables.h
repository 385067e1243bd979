// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds the flatbuffer of a program, without the extended header.

#include "base/bytes.h"
#include "formats/pte/program.h"
#include "formats/pte/segments.h"

namespace thimble::formats::pte {

[[nodiscard]] Bytes build_tables(const Program& program, const Segments& segments);

}  // namespace thimble::formats::pte
