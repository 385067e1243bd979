// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds an execution order with a lower memory peak. Where a graph branches, values wait for each
// other, and the peak depends on the order of the branches.
//
// Beam search over all orders, step by step. Partial orders that have executed the same set of
// steps are merged; the one with the lowest peak is kept. If there are more than kBeam sets, those
// with the lowest peaks are kept. Small graphs, and all graphs without wide branches, are thus
// solved exactly. Partial orders that reach the peak of the given order are dropped. Test:
// tests/unit/order_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::memory {

inline constexpr size_t kBeam = 256;

struct Step {
  std::vector<int> reads;  // indices of values
  std::vector<int> writes;
  int64_t scratch_bytes = 0;  // scratch bytes during the step
  int64_t shared_bytes =
      0;  // bytes that the result can share with the first operand, if it dies here
};

struct ValueLifetime {
  int64_t bytes = 0;
  bool live_to_end = false;
};

/// Returns the peak of live bytes for this order.
[[nodiscard]] int64_t peak_of(std::span<const Step> steps, std::span<const ValueLifetime> values,
                              std::span<const int> order);

/// Returns an order with a lower peak than the given order; nullopt if none was found.
[[nodiscard]] std::optional<std::vector<int>> better_order(std::span<const Step> steps,
                                                           std::span<const ValueLifetime> values);

}  // namespace thimble::memory
