#pragma once
// What packings of every instruction set begin with: the bytes of a constant, the geometry of a
// window, and a convolution's filters and scales as plain numbers.

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "abi/native_params.h"
#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Attribute `name` of the operator, as parameters of kernels have it.
[[nodiscard]] inline int32_t attr(const ir::Op& op, std::string_view name) {
  return static_cast<int32_t>(op.integer(name));
}
/// Entry `i` of the attribute.
[[nodiscard]] inline int32_t attr(const ir::Op& op, std::string_view name, size_t i) {
  return static_cast<int32_t>(op.integers(name)[i]);
}

/// Bytes of a packed constant, front to back, little-endian as every host this builds for.
class PackedWriter {
 public:
  template <typename T>
  void put(const T& value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void align(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }
  [[nodiscard]] Constant take();

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
[[nodiscard]] Constant packed_constant(const T& value) {
  PackedWriter writer;
  writer.put(value);
  return writer.take();
}

/// Of a qconv2d whose window check_window() of kernels/args/packed.h takes: one image, padding
/// smaller than the window. Else nothing.
[[nodiscard]] std::optional<abi::WindowGeometry> window_geometry(const ir::Graph& graph,
                                                                 const ir::Op& conv);

[[nodiscard]] std::optional<abi::LinearGeometry> linear_geometry(const ir::Graph& graph,
                                                                 const ir::Op& linear);

/// Of a qconv2d or qlinear: codes of output channel o in the order [kh][kw][in_c / groups], and the
/// numbers of numerics.md. The zero point of x is folded into the bias: padding counts as it.
struct Filter {
  std::vector<int8_t> weights;
  int64_t bias = 0;
  int32_t mult = 0, shift = 0;
  [[nodiscard]] int64_t magnitude() const;  // sum of the codes' absolute values
};
[[nodiscard]] std::vector<Filter> filters(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
