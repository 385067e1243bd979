#pragma once
// Bytes of an image to the other order of height, width and channels.

#include <cstdint>

namespace thimble::runtime::neutron {

/// to[c * rows + r] = from[r * columns + c]. Channels first to last: rows are channels, columns
/// pixels; back: the other way round.
void transpose(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns);

}  // namespace thimble::runtime::neutron
