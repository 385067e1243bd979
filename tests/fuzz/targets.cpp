// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <iterator>

namespace thimble::fuzz {

std::span<const Target> targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> result;
    for (auto list :
         {archive_targets, capi_targets, differential_targets, engine_targets, npu_run_targets,
          program_targets, serial_board_targets, serial_targets, text_targets}) {
      std::ranges::move(list(), std::back_inserter(result));
    }
    std::ranges::sort(result, {}, &Target::name);
    return result;
  }();
  return all;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  return found == targets().end() ? nullptr : &*found;
}

}  // namespace thimble::fuzz
