// The explicit list of targets: no registration by static initialisation.

#include "target/cortex_m/cortex_m.h"
#include "target/target.h"

namespace thimble::target {

std::span<const Target> all_targets() {
  return cortex_m::targets();
}

}  // namespace thimble::target
