// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports the progress of work that may take more than a second.

#include <cstdint>
#include <functional>
#include <string_view>

namespace thimble {

/// Receives a phase, such as "calibrating", and how much of it is done; `all` is 0 if that is not
/// known. Called from one thread at a time. An empty function: nobody wants to know.
using ProgressFunction = std::function<void(std::string_view phase, int64_t done, int64_t all)>;

inline void report_progress(const ProgressFunction& progress, std::string_view phase,
                            int64_t done = 0, int64_t all = 0) {
  if (progress) progress(phase, done, all);
}

}  // namespace thimble
