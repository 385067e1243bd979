// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assigns each object to a memory of the part, from the bytes that an inference accesses and the
// access time of the memories.
//
// The cost of an assignment is the sum of accessed bytes times the cost of a word in the memory. An
// object is in one memory as a whole. A constant in a volatile memory is loaded at startup, so it
// also occupies its size in the largest non-volatile memory, for the load image.
//
// Branch and bound: objects in descending order of density (accessed bytes per byte of size), for
// each object the fastest memory first. The first solution is therefore the greedy one. The lower
// bound of the remaining objects assumes that they can be split and stored anywhere. The search
// ends with the optimum or after a number of steps, which is not a time, so every host gives the
// same result. Ties prefer a non-volatile memory; objects that are not accessed stay in
// non-volatile memory. Test: tests/unit/memories_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::memory {

struct Memory {
  int64_t bytes = 0;
  int64_t word_cost = 0;      // cost of a 4-byte access in any unit, such as 1/1000 cycle
  bool non_volatile = false;  // its content needs no loading
};

struct Object {
  int64_t bytes = 0;
  int64_t accessed_bytes = 0;
  bool constant = false;
  std::vector<bool> allowed;  // per memory
};

/// An object that fits in no memory, and the largest free space for it.
struct Shortage {
  size_t object = 0;
  std::optional<size_t> memory;  // the one with the most free bytes; nullopt: none may hold it
  int64_t room_bytes = 0;
};

struct MemoryAssignment {
  std::vector<size_t> memory_of_object;
  int64_t cost = 0;
  int64_t lower_bound = 0;           // lower bound of the cost
  bool proven = false;               // the cost is minimal
  std::optional<Shortage> shortage;  // if set, the other members are invalid
};

/// Limit of search steps per model: some tens of milliseconds.
inline constexpr int64_t kAssignmentStepsMax = 100'000;

/// Sizes of objects are rounded up to multiples of `alignment`.
[[nodiscard]] MemoryAssignment assign_memories(std::span<const Object> objects,
                                               std::span<const Memory> memories, int64_t alignment,
                                               int64_t steps = kAssignmentStepsMax);

/// Returns the memory for load images of constants; nullopt if no memory is non-volatile.
[[nodiscard]] std::optional<size_t> image_memory(std::span<const Memory> memories);

/// Returns the cost of one object in one memory.
[[nodiscard]] int64_t cost_in(const Object& object, const Memory& memory);

}  // namespace thimble::memory
