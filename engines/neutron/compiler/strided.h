#pragma once
// How the elements of a value lie in memory: each dimension is a list of factors, outermost first.
//
// A tensor [N, C, H, W] whose bytes lie channels last, flattened to [N, C*H*W], is not a dimension
// with one stride: it is {C of stride 1, H of stride W*C, W of stride C}. With factors a reshape, a
// permute and most slices are views like any other, in both directions, so that who needs bytes in
// another order finds out only when a kernel reads them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/type.h"

namespace thimble::engine::neutron {

struct Factor {
  int64_t size = 1, stride = 0;
  bool operator==(const Factor&) const = default;
};
using Factors = std::vector<Factor>;  // empty: one element

struct Strided {
  int buffer = -1;
  int64_t offset = 0;  // in the buffer
  std::vector<Factors> dims;

  [[nodiscard]] ir::Shape shape() const;
  [[nodiscard]] int64_t elements() const;
  /// From its first byte to behind its last.
  [[nodiscard]] int64_t extent() const;
  /// The one factor of a dimension; nothing if it has several.
  [[nodiscard]] std::optional<Factor> one(size_t dim) const;
};

/// Without factors of size 1, and with those joined that one stride describes.
[[nodiscard]] Factors merged(const Factors& factors);
/// The same bytes in the same order.
[[nodiscard]] bool same_place(const Strided& a, const Strided& b);

/// Dense from `offset` on, dimensions from outermost to innermost as `order` has them.
[[nodiscard]] Strided dense(int buffer, const ir::Shape& shape, const ir::DimOrder& order);
[[nodiscard]] Strided permuted(const Strided& from, std::span<const int64_t> dims);
/// Dimension i of the result goes to dims[i].
[[nodiscard]] Strided unpermuted(const Strided& from, std::span<const int64_t> dims);
/// As numpy broadcasts.
[[nodiscard]] Strided broadcast(const Strided& from, const ir::Shape& shape);
/// Nothing if a factor does not divide.
[[nodiscard]] std::optional<Strided> reshaped(const Strided& from, const ir::Shape& shape);
[[nodiscard]] std::optional<Strided> sliced(const Strided& from, size_t dim, int64_t start,
                                            int64_t count, int64_t step = 1);

/// One loop that several places walk together.
struct Loop {
  int64_t size = 1;
  std::vector<int64_t> strides;  // by place
};
/// Loops over dimensions `dims` of places of one shape, outermost of the last place first, with
/// neighbours joined where every place allows. Nothing if their factors do not divide each other.
[[nodiscard]] std::optional<std::vector<Loop>> common_loops(std::span<const Strided* const> places,
                                                            std::span<const size_t> dims);
[[nodiscard]] std::vector<size_t> all_dims(const Strided& place);

}  // namespace thimble::engine::neutron
