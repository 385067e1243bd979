// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last step that a mutation of a model reached; memory_protection writes it, its test reads it.

#include <cstdint>

namespace thimble::firmware {

enum Stage : uint8_t { kRefused, kTooLarge, kInputRefused, kRunFailed, kRan, kStages };

}  // namespace thimble::firmware
