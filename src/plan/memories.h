#pragma once
// Which memory of a part each object goes to: bytes that an inference accesses, against how long
// the memories take for them.
//
// The cost of a choice is the sum of accessed bytes times what a word costs in the memory chosen.
// An object lies in one memory, as a whole. A constant that lies in a volatile memory is loaded to
// it at the start, so it takes its bytes of a kept memory as well: of the largest one.
//
// Branch and bound: objects by falling density (accessed bytes for each of their own), for each the
// fastest memory first, so that the first answer is the greedy one. The bound of what is left is
// its share if objects could be cut to pieces and lie anywhere. The search ends with the best
// choice, or after a number of steps: a count, not a time, so that every machine decides alike.
// Of equals the first wins: a kept memory before a volatile one, and what is not accessed at all
// stays in the kept memory. Tested by tests/unit/memories_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::plan {

struct Memory {
  int64_t bytes = 0;
  int64_t word_cost = 0;  // of four bytes, in any unit: thousandths of a cycle
  bool kept = false;      // without power: what lies there needs no loading
};

struct Object {
  int64_t bytes = 0;
  int64_t accessed_bytes = 0;
  bool constant = false;
  std::vector<bool> allowed;  // per memory
};

/// An object without a place, and by how much.
struct Shortage {
  size_t object = 0;
  std::optional<size_t> memory;  // the one with most room; none: no memory may hold it
  int64_t room_bytes = 0;
};

struct Settlement {
  std::vector<size_t> memory;  // per object
  int64_t cost = 0;
  int64_t lower_bound = 0;           // what no choice can be below
  bool proven = false;               // there is no better one
  std::optional<Shortage> shortage;  // then the rest means nothing
};

/// Steps of the search that a model is worth: some tens of milliseconds.
inline constexpr int64_t kSettleSteps = 100'000;

/// Objects take multiples of `alignment`.
[[nodiscard]] Settlement settle(std::span<const Object> objects, std::span<const Memory> memories,
                                int64_t alignment, int64_t steps = kSettleSteps);

/// Where the load images of constants lie; none: nothing is kept.
[[nodiscard]] std::optional<size_t> image_memory(std::span<const Memory> memories);

/// What one object costs in one memory.
[[nodiscard]] int64_t cost_in(const Object& object, const Memory& memory);

}  // namespace thimble::plan
