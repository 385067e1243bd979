// SPDX-License-Identifier: Apache-2.0
#pragma once
// for_each_index(count, threads, body) calls body(index, thread) exactly once for every index below
// `count`. The assignment of indices to threads is unspecified; a body must not depend on it.

#include <cstdint>
#include <functional>

namespace thimble {

/// Returns the number in the environment variable THIMBLE_THREADS, otherwise the number of hardware
/// threads that this process may use; at least 1.
[[nodiscard]] int machine_threads();

void for_each_index(int64_t count, int threads, const std::function<void(int64_t, int)>& body);

}  // namespace thimble
