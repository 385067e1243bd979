#pragma once
// The Ethos-U as an engine of a part.

#include "target/target.h"

namespace thimble::target::ethos_u {

extern const Engine kEngine;

}  // namespace thimble::target::ethos_u
