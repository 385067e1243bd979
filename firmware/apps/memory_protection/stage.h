// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results that memory_protection writes and its test reads. Stage: the last step that a mutation of
// a model reached.

#include <cstdint>

namespace thimble::firmware {

enum Stage : uint8_t { kRefused, kTooLarge, kInputRefused, kRunFailed, kRan, kStages };

/// A fault in thimble_run(), and the statuses of the calls after it, in this order.
struct Recovery {
  uint32_t fault_status;  // CFSR
  uint8_t busy_status;    // of another run
  uint8_t reset_status;   // of thimble_reset()
  uint8_t run_status;
  uint8_t has_same_outputs;  // as before the fault; 0 or 1
};

}  // namespace thimble::firmware
