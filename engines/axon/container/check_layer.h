// SPDX-License-Identifier: Apache-2.0
#pragma once
// Internal parts of check() (layers.h).

#include "engines/axon/container/layers.h"

namespace thimble::axon {

enum class Access : uint8_t { kRead, kWritten };

/// Returns an input or output record as an operand.
Operand operand_of(const IoRecord& io);

/// Checks that an operand is inside its memory; `layer` is the index of the operand's layer.
Status check_operand(const Container& container, const Header& header, const Operand& operand,
                     uint32_t layer, Access access);

Status check_layer(const Container& container, const Header& header, uint32_t index);

}  // namespace thimble::axon
