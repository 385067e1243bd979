#pragma once
// The `named_data` entry "thimble_names", written on request (`compile --names`): what the export
// calls inputs and outputs. For tools on the desk; no runtime reads it. Text, a line per input, an
// empty line, a line per output.

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

/// No name is empty or has a line's end in it.
[[nodiscard]] NamedData names_data(const IoNames& names);

/// As many as the plan has inputs and outputs; nullopt if the file has no such entry.
[[nodiscard]] Result<std::optional<IoNames>> read_names(const Program& program,
                                                        const ExecutionPlan& plan);

}  // namespace thimble::formats::pte
