#pragma once
// The first byte of each result of the image `fence`.

#include <cstdint>

namespace thimble::firmware {

enum Stage : uint8_t { kRefused, kTooLarge, kInputRefused, kRunFailed, kRan, kStages };

}  // namespace thimble::firmware
