#pragma once
// How far a mutation of a model came; memory_protection writes it and its test reads it.

#include <cstdint>

namespace thimble::firmware {

enum Stage : uint8_t { kRefused, kTooLarge, kInputRefused, kRunFailed, kRan, kStages };

}  // namespace thimble::firmware
