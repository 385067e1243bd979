// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory layout of a value's elements: each dimension is a list of axes, outermost first.
//
// A channels-last tensor [N, C, H, W], flattened to [N, C*H*W], has no single stride for its second
// dimension. Its axes are {C with stride 1, H with stride W*C, W with stride C}. With axes, a
// reshape, a permute and most slices are views of the same bytes, in both directions. So a copy is
// needed only if a kernel cannot read the bytes in that order.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/type.h"

namespace thimble::engine::neutron {

struct Axis {
  int64_t size = 1, stride = 0;
  bool operator==(const Axis&) const = default;
};
using Axes = std::vector<Axis>;  // empty: one element

struct Location {
  int buffer = -1;
  int64_t offset = 0;  // in the buffer, in bytes
  std::vector<Axes> dims;

  [[nodiscard]] ir::Shape shape() const;
  [[nodiscard]] int64_t elements() const;
  /// Returns the number of bytes from the first to the last element, inclusive.
  [[nodiscard]] int64_t extent() const;
  /// Returns the dimension as a single axis; nothing if it needs several.
  [[nodiscard]] std::optional<Axis> single(size_t dim) const;
};

/// Removes axes of size 1 and joins axes that one stride describes.
[[nodiscard]] Axes merged(const Axes& axes);
/// Returns true if both describe the same bytes in the same order.
[[nodiscard]] bool same_layout(const Location& a, const Location& b);

/// Returns a contiguous layout at offset 0; `order` lists the dimensions from outermost to
/// innermost.
[[nodiscard]] Location dense(int buffer, const ir::Shape& shape, const ir::DimOrder& order);
[[nodiscard]] Location permuted(const Location& from, std::span<const int64_t> dims);
/// Inverse of permuted(): dimension i of `from` becomes dimension dims[i] of the result.
[[nodiscard]] Location unpermuted(const Location& from, std::span<const int64_t> dims);
/// Broadcasts as numpy does.
[[nodiscard]] Location broadcast(const Location& from, const ir::Shape& shape);
/// Returns nothing if the axes do not divide the new shape.
[[nodiscard]] std::optional<Location> reshaped(const Location& from, const ir::Shape& shape);
[[nodiscard]] std::optional<Location> sliced(const Location& from, size_t dim, int64_t start,
                                             int64_t count, int64_t step = 1);

/// One loop that iterates over several locations together.
struct Loop {
  int64_t size = 1;
  std::vector<int64_t> strides;  // one per location
};
/// Returns loops over the dimensions `dims` of locations with the same shape, outermost of the last
/// location first. Adjacent loops are joined where every location allows it. Returns nothing if the
/// axes do not divide each other.
[[nodiscard]] std::optional<std::vector<Loop>> common_loops(
    std::span<const Location* const> locations, std::span<const size_t> dims);
[[nodiscard]] std::vector<size_t> all_dims(const Location& location);

}  // namespace thimble::engine::neutron
