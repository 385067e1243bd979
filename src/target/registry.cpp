// The explicit lists of targets and engines: no registration by static initialisation.

#include "npu/ethos_u/isa/config.h"
#include "target/axon/engine.h"
#include "target/cortex_m/cortex_m.h"
#include "target/ethos_u/engine.h"
#include "target/target.h"

namespace thimble::target {

std::span<const Target> all_targets() {
  return cortex_m::targets();
}

const std::vector<EngineName>& all_engines() {
  static const std::vector<EngineName> kEngines = [] {
    std::vector<EngineName> engines;
    for (const thimble::ethos_u::Config& config : thimble::ethos_u::kConfigs) {
      engines.push_back({config.name, &ethos_u::kEngine});
    }
    engines.push_back({"axon", &axon::kEngine});
    return engines;
  }();
  return kEngines;
}

Result<const Engine*> find_engine(std::string_view name) {
  std::string known;
  for (const EngineName& engine : all_engines()) {
    if (engine.name == name) return engine.engine;
    known += (known.empty() ? "" : ", ") + engine.name;
  }
  return bad_input("engine {}: not known; one of {} was expected", name, known);
}

}  // namespace thimble::target
