// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/formats/part_system.h"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

namespace thimble::formats::ethos_u {
namespace {

using Settings = std::map<std::string, double, std::less<>>;
using thimble::ethos_u::MemoryTiming;
using thimble::ethos_u::System;

/// Applies settings of the part's file that override values of the named system configuration.
class Overrides {
 public:
  explicit Overrides(const Settings& settings) : settings_(settings) {}

  /// Applies one setting. Its value must be in [least, most]. Returns true if the file has it.
  template <typename T>
  bool apply(std::string_view key, double least, double most, T* value) {
    const auto found = settings_.find(key);
    known_.emplace_back(key);
    if (found == settings_.end()) return false;
    if (!(found->second >= least && found->second <= most)) {
      if (wrong_.empty()) {
        wrong_ =
            fmt::format("setting {} is {}, expected {} to {}", key, found->second, least, most);
      }
      return true;
    }
    *value = static_cast<T>(found->second);
    return true;
  }
  bool apply(const std::string& memory, MemoryTiming* timing) {
    bool any = apply(memory + ".bytes_per_cycle", 0.001, 1024, &timing->bytes_per_cycle);
    any = apply(memory + ".read_latency", 0, 65535, &timing->read_latency) || any;
    any = apply(memory + ".write_latency", 0, 65535, &timing->write_latency) || any;
    return apply(memory + ".burst", 1, 65535, &timing->burst) || any;
  }
  Status done(std::string_view engine) const {
    if (!wrong_.empty()) return bad_input("{}: {}", engine, wrong_);
    for (const auto& [key, value] : settings_) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      return bad_input("{}: setting {} is not known; one of {} was expected", engine, key,
                       fmt::join(known_, ", "));
    }
    return ok();
  }

 private:
  const Settings& settings_;
  std::vector<std::string> known_;
  std::string wrong_;
};

}  // namespace

Result<PartSystem> part_system(const thimble::ethos_u::Config& config, std::string_view name,
                               const Settings& settings) {
  PartSystem result;
  const System* const system = name.empty()
                                   ? thimble::ethos_u::default_system(config.generation)
                                   : thimble::ethos_u::find_system(std::string(name).c_str());
  if (system == nullptr) {
    std::vector<std::string_view> names;
    for (const System& known : thimble::ethos_u::kSystems) names.emplace_back(known.name);
    return bad_input("{}: system {} is not known; one of {} was expected", config.name, name,
                     fmt::join(names, ", "));
  }
  if (!thimble::ethos_u::has(system->generations, config.generation)) {
    return bad_input("{}: system {} belongs to another NPU generation", config.name, system->name);
  }
  result.system = *system;
  Overrides overrides(settings);
  overrides.apply("clock_mhz", 1, 10000, &result.system.clock_mhz);
  overrides.apply("cache_bytes", 0, 0x1p40, &result.cache_bytes);
  overrides.apply("in_feature_maps", 0, 1, &result.in_feature_maps);
  // Cycles depend on the memories, not on the clock.
  const bool own_sram = overrides.apply("sram", &result.system.sram);
  const bool own_external = overrides.apply("external", &result.system.external);
  const bool own = own_sram || own_external;
  THIMBLE_CHECK(overrides.done(config.name));
  result.id = own ? abi::kSystemOfPart : abi::system_id(system->name);
  return result;
}

}  // namespace thimble::formats::ethos_u
