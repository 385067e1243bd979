#pragma once
// In which order to work: where a graph branches, values wait for each other, and another order may
// need less memory at its worst moment.
//
// All orders are tried step by step, those that have done the same work kept once, with the lowest
// peak that leads there; where more than kBeam sets of work are open, those with the lowest peaks
// go on. So small graphs and all without broad branches are solved exactly. What has passed the
// peak of the given order is not followed. Tested by tests/unit/order_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::plan {

inline constexpr size_t kBeam = 256;

struct Work {
  std::vector<int> reads;  // values
  std::vector<int> makes;
  int64_t beside = 0;  // bytes that it needs while it is done
  int64_t shared = 0;  // that its result may have in common with its first operand, if that dies
};

struct Stuff {
  int64_t bytes = 0;
  bool kept = false;  // needed at the end, too
};

/// Bytes at the worst moment of the work in this order.
[[nodiscard]] int64_t peak_of(std::span<const Work> work, std::span<const Stuff> values,
                              std::span<const int> order);

/// An order with a lower peak than that of the work as it stands; nothing if none was found.
[[nodiscard]] std::optional<std::vector<int>> better_order(std::span<const Work> work,
                                                           std::span<const Stuff> values);

}  // namespace thimble::plan
