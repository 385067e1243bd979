#pragma once
// Cascades: some operations run a few rows at a time, so that what lies between them needs a few
// rows of memory, in rings.
//
// The last operation goes stripe by stripe; before each stripe the others make exactly the rows
// that are missing for it. Any chain or branching piece of a program can go like this, residual
// additions too: the ring of the shortcut is as high as the detour is long.

#include <map>
#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/network.h"

namespace thimble::engine::ethos_u {

struct Stripes {
  std::vector<Step> steps;
  std::map<int, int64_t> rings;  // rows of the tensors that exist in the cascade alone
};

/// Operations [first, end), the last one by stripes of `rows`. Nothing if they cannot go by rows.
[[nodiscard]] std::optional<Stripes> make_stripes(const Network& network, int first, int end,
                                                  int64_t rows);

/// True if the tensor is made and used by operations of [first, end) alone.
[[nodiscard]] bool is_internal(const Network& network, int tensor, int first, int end);

}  // namespace thimble::engine::ethos_u
