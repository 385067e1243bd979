// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts that the packed forms of all instruction sets share: the bytes of a constant, the geometry
// of a window, and a convolution's filters and scales as plain numbers.

#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "abi/pte_op.h"
#include "base/bytes.h"
#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {

/// Returns the attribute as int32, the type of kernel parameters.
[[nodiscard]] inline int32_t attr(const ir::Op& op, ir::AttrKey<int64_t> key) {
  return static_cast<int32_t>(op.get(key));
}
/// Returns entry `i` of the attribute.
[[nodiscard]] inline int32_t attr(const ir::Op& op, ir::AttrKey<std::vector<int64_t>> key,
                                  size_t i) {
  return static_cast<int32_t>(op.get(key)[i]);
}

/// Builds the bytes of a packed constant. They are little-endian, as is every host that this is
/// built for.
class PackedWriter {
 public:
  template <typename T>
  void put(const T& value) {
    if constexpr (sizeof(T) == 1) {
      bytes_.push_back(std::bit_cast<std::byte>(value));  // weights: many times faster
    } else {
      append_record(bytes_, value);
    }
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    append(bytes_, std::as_bytes(std::span(values)));
  }
  void align(size_t alignment) { align_size(bytes_, alignment); }
  [[nodiscard]] Constant take();

 private:
  Bytes bytes_;
};

/// Returns the constant of an operator, or of operators with the same struct.
template <const abi::PteOpInfo&... kOps>
[[nodiscard]] Constant packed_constant(const abi::ParamsOf<kOps...>& params) {
  PackedWriter writer;
  writer.put(params);
  return writer.take();
}

/// Returns the geometry of a qconv2d if check_window() of kernels/args/packed.h accepts it: batch 1
/// and padding smaller than the window. Otherwise returns nothing.
[[nodiscard]] std::optional<abi::WindowGeometry> window_geometry(const ir::Graph& graph,
                                                                 const ir::Op& conv);

[[nodiscard]] std::optional<abi::LinearGeometry> linear_geometry(const ir::Graph& graph,
                                                                 const ir::Op& linear);

/// One output channel of a qconv2d or qlinear: weights in the order [kh][kw][in_c / groups], and
/// the parameters of docs/numerics.md. The zero point of x is folded into the bias, so padding has
/// its value. A channel with the same result for all inputs has weights of 0 if its scale is so
/// small that the packed forms would not support its shift.
struct Filter {
  std::vector<int8_t> weights;
  int64_t bias = 0;
  int32_t mult = 0, shift = 0;
  [[nodiscard]] int64_t magnitude() const;  // sum of the weights' absolute values
};
[[nodiscard]] std::vector<Filter> filters(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
