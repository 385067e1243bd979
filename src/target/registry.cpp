// Lists of cores and engines, and their lookup by name.

#include "target/registry.h"

#include "base/nearest.h"
#include "target/cortex_m/cortex_m.h"

namespace thimble::target {

std::span<const Target> all_targets() {
  return cortex_m::targets();
}

const std::vector<EngineName>& all_engines() {
  static const std::vector<EngineName> kEngines = [] {
    std::vector<EngineName> engines;
    for (EngineList* const row : engine_rows()) {
      for (EngineName& engine : row()) engines.push_back(std::move(engine));
    }
    return engines;
  }();
  return kEngines;
}

Result<const Engine*> find_engine(std::string_view name) {
  std::vector<std::string> known;
  for (const EngineName& engine : all_engines()) {
    if (engine.name == name) return engine.engine;
    known.push_back(engine.name);
  }
  return bad_input("engine {}: not known{}; one of {} was expected", name, close_to_it(name, known),
                   fmt::join(known, ", "));
}

}  // namespace thimble::target
