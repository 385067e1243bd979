#pragma once
// Packed constants (abi/native_params.h), read back.

#include <algorithm>
#include <cstring>

#include "abi/native_params.h"
#include "emit/lift_call.h"

namespace thimble::emit {

/// Header and arrays of one packed constant, read front to back with bounds.
class Packed {
 public:
  explicit Packed(const Bytes& bytes) : bytes_(bytes) {}

  template <typename T>
  Result<T> header() {
    T value;
    if (sizeof(T) > bytes_.size()) return bad_input("its parameters have {} bytes", bytes_.size());
    std::memcpy(&value, bytes_.data(), sizeof(T));
    at_ = sizeof(T);
    return value;
  }
  /// The next one begins at a multiple of 4.
  template <typename T>
  Result<std::vector<T>> array(int64_t count) {
    if (count < 0 || static_cast<uint64_t>(count) > (bytes_.size() - at_) / sizeof(T)) {
      return bad_input("its parameters end too early");
    }
    std::vector<T> values(static_cast<size_t>(count));
    if (count != 0) std::memcpy(values.data(), bytes_.data() + at_, values.size() * sizeof(T));
    at_ = std::min(bytes_.size(), (at_ + values.size() * sizeof(T) + 3) / 4 * 4);
    return values;
  }

 private:
  const Bytes& bytes_;
  size_t at_ = 0;
};

inline ir::ValueId add_constant(LiftCall* call, std::string name, ir::Tensor tensor) {
  return call->graph().add_constant(std::move(name),
                                    std::make_shared<const ir::Tensor>(std::move(tensor)));
}

/// Operand i, a geometry with the sizes of the call's x and result.
Result<abi::WindowGeometry> read_geometry(LiftCall* call, size_t i);

/// Of a packed linear, with the lengths of the call's x and result.
Result<abi::LinearGeometry> read_linear_geometry(LiftCall* call, size_t i);

/// Filters and scales of a packed convolution or linear, as they come out of the packing.
struct LiftedFilters {
  std::vector<int8_t> weights;  // [out][kh][kw][in / groups]
  std::vector<int64_t> bias;    // with the zero point of x folded in
  std::vector<int32_t> mult, shift;
};
/// The qconv2d that the first out_c of them are of.
Result<ir::ValueId> add_conv(LiftCall* call, const abi::WindowGeometry& geometry, int64_t groups,
                             LiftedFilters filters);
/// The qlinear that the first out_features of them are of.
Result<ir::ValueId> add_linear(LiftCall* call, const abi::LinearGeometry& geometry,
                               LiftedFilters filters);

}  // namespace thimble::emit
