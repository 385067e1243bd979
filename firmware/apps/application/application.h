#pragma once

#include "runtime/include/thimble.h"

/// What happens behind the first inference: a product goes on, a measurement says what it saw.
extern "C" void application_done(thimble_status status);
