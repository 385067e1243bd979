#pragma once
// Parts of check() (layers.h).

#include "engines/axon/container/layers.h"

namespace thimble::axon {

enum class Access : uint8_t { kRead, kWritten };

/// An input or output as an operand.
Operand place_of(const IoRecord& io);

/// Whether an operand lies in its memory; `layer` is the one that it belongs to.
Status check_operand(const Container& container, const Header& header, const Operand& operand,
                     uint32_t layer, Access access);

Status check_layer(const Container& container, const Header& header, uint32_t index);

}  // namespace thimble::axon
