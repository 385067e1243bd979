// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/include/thimble.h"

/// Called after the first inference. A product continues; a measurement reports its result.
extern "C" void application_done(thimble_status status);
