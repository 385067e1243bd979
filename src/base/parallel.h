#pragma once
// for_each_index(count, threads, body): body(index, thread) for every index below `count`, each
// exactly once. Which thread takes which index is open: a body must not depend on it.

#include <cstdint>
#include <functional>

namespace thimble {

/// The threads that this machine runs at a time, at least 1.
[[nodiscard]] int machine_threads();

void for_each_index(int64_t count, int threads, const std::function<void(int64_t, int)>& body);

}  // namespace thimble
