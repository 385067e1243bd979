// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace thimble::firmware {

/// Returns the smallest multiple of `unit` that is at least `bytes`.
constexpr size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace thimble::firmware
