// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `named_data` entry "thimble_names", written on request (`compile --names`): the names of
// inputs and outputs in the export. For host tools; no runtime reads it. The entry is text: one
// line per input, an empty line, one line per output.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

inline constexpr char kNamesKey[] = "thimble_names";

struct IoNames {
  std::vector<std::string> inputs, outputs;

  bool operator==(const IoNames&) const = default;
};

/// No name may be empty or contain a line break.
[[nodiscard]] NamedData names_entry(const IoNames& names);

/// Returns one name per input and output of the plan; nullopt if the file has no such entry.
[[nodiscard]] Result<std::optional<IoNames>> read_names(const Program& program,
                                                        const ExecutionPlan& plan);

}  // namespace thimble::formats::pte
