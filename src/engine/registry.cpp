// SPDX-License-Identifier: Apache-2.0
// The lists of cores and NPUs, and how a name finds its row.

#include "engine/registry.h"

#include "base/nearest.h"

namespace thimble::engine {

std::span<const Core> all_cores() {
  static const std::vector<Core> kCores = [] {
    std::vector<Core> cores;
    for (CoreList* const row : core_rows()) {
      const std::span<const Core> own = row();
      cores.insert(cores.end(), own.begin(), own.end());
    }
    return cores;
  }();
  return kCores;
}

const std::vector<NpuName>& all_npus() {
  static const std::vector<NpuName> kNpus = [] {
    std::vector<NpuName> npus;
    for (NpuList* const row : npu_rows()) {
      for (NpuName& npu : row()) npus.push_back(std::move(npu));
    }
    return npus;
  }();
  return kNpus;
}

Result<const Npu*> find_npu(std::string_view name) {
  std::vector<std::string> known;
  for (const NpuName& npu : all_npus()) {
    if (npu.name == name) return npu.engine;
    known.push_back(npu.name);
  }
  return bad_input("engine {}: not known{}; one of {} was expected", name, suggestions(name, known),
                   fmt::join(known, ", "));
}

}  // namespace thimble::engine
