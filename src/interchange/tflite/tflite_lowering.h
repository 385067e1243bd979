// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers the integer graph to LiteRT operator by operator: one function per kind of operator, in
// one file per family (tflite_*.cpp).
//
// LiteRT derives the multipliers of an operator from the scales of its tensors. The lowering
// therefore computes LiteRT's multiplier and compares it with the graph's. If the quantized results
// differ for some sum, the operator is written in another way or refused.

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/tflite/model.h"
#include "interchange/op_lowering.h"
#include "interchange/requantize_equal.h"
#include "interchange/table_function.h"
#include "interchange/tflite.h"

namespace thimble::interchange {

/// Values of a shape or of positions as the schema stores them: 32 bits.
[[nodiscard]] inline std::vector<int32_t> narrow(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

class TfliteLowering : public TensorMaker, private OpLowering {
 public:
  TfliteLowering(const StatelessGraph& core, const TfliteProfile& profile)
      : OpLowering(core, *this, "LiteRT"), profile_(profile) {}

  Result<Bytes> run();

  int transposed(int tensor, const std::vector<int>& perms, const ir::Shape& shape) override;
  int reshaped(int tensor, const ir::Shape& shape) override;
  int constant(const ir::Value& value, const ir::DimOrder& order) override;

 private:
  using DType = formats::tflite::DType;
  using Op = formats::tflite::Op;
  using Options = formats::tflite::Options;
  using Activation = formats::tflite::Activation;

  Status lower_other() override;

  // tflite_weighted.cpp
  struct AccumulatorBounds;  // accumulator bounds per output channel
  Status convolution() override;
  Status transposed_convolution() override;
  Status linear() override;
  Status matmul() override;
  int scaled(int x, float scale);
  Result<std::vector<float>> weight_scales(const AccumulatorBounds& sums, bool matrix);
  Result<AccumulatorBounds> accumulator_bounds(
      int64_t outs, const std::function<size_t(int64_t, int64_t)>& place);
  int weights(const ir::Shape& shape, Bytes bytes, const std::vector<float>& scales, int axis);
  int bias(const std::vector<float>& scales);
  Result<int> padded(int x, const ir::Shape& kernel, formats::tflite::Padding* padding);

  // tflite_elementwise.cpp
  Status add_or_subtract() override;
  Status multiply() override;
  Status table_lookup();
  Status max_or_min() override;
  Status compare() override;
  Status logical() override;
  Status where() override;
  Status rescale_codes() override;

  // tflite_function.cpp
  Status lookup_table() override;
  Status function(const Function& f);
  Status clamped_by_function(int x, const Function& f, const ir::DimOrder& order);
  Status prelu() override;

  // tflite_image.cpp
  struct IndexPattern {
    bool mirrors = false, half_pixel_centers = false;
    std::vector<int64_t> dims, before, after;
    ir::ValueId source = ir::kNoValue;
  };
  Status resize_bilinear();
  [[nodiscard]] std::optional<IndexPattern> index_pattern(const ir::Op& gather) const;
  bool is_deferred_to_reader(const IndexPattern& index_pattern);
  bool resize_or_mirror_pad();

  // tflite_movement.cpp
  Status reshape() override;
  Status slice() override;
  Status concat() override;
  Status pad() override;
  Status expand() override;
  Status gather() override;

  // tflite_pool.cpp
  Status pool() override;
  Status mean() override;
  Status mean_of(int x, const ir::Shape& out, int y);
  Status reduce_max_or_min() override;
  Status arg_max_or_min() override;
  Status softmax() override;

  // Accessors for the current operator, in addition to OpLowering.
  using OpLowering::logical;
  int broadcastable(size_t i, const ir::DimOrder& order);
  /// Returns the operand's scale after checking its zero point against the attribute `name`.
  Result<float> operand_scale(size_t i, ir::AttrKey<int64_t> zero_point_key);
  /// Returns the result's scale after checking its zero point.
  Result<float> result_scale();
  [[nodiscard]] Bounds bounds() const;

  // Tensors and operators.
  [[nodiscard]] formats::tflite::Tensor& at(int tensor) {
    return model_.tensors[static_cast<size_t>(tensor)];
  }
  int make(const ir::Shape& shape, DType type, const std::string& suffix = "");
  /// Copies a per-tensor scale and zero point.
  void set_quant(int tensor, const ir::Type& type);
  /// Creates a tensor with the type and quantization of `like`.
  int make_like(int like, const ir::Shape& shape);
  /// Creates a tensor with the type and quantization of the operator's result.
  int make_result(const ir::Shape& shape);
  int constants(const ir::Shape& shape, const std::vector<int32_t>& values);
  int scalar_like(int like, int64_t value);
  int emit(Op op, Options options, std::vector<int> inputs, int output);
  /// Returns the activation that equals min and max for this scale, or nullopt if there is none.
  [[nodiscard]] std::optional<Activation> activation(float scale) const;
  /// Clamps y to min and max with separate operators.
  int clamped(int y);
  /// How the clamp of an operator is written: as its activation, or with limited() after it.
  struct ClampMethod {
    Activation activation = Activation::kNone;
    bool limit = false;
  };
  [[nodiscard]] ClampMethod clamp_method(float scale) const;

  void name_tensors();

  TfliteProfile profile_;
  std::vector<std::vector<int>> readers_;         // consumers of each value; computed on first use
  std::map<ir::ValueId, IndexPattern> deferred_;  // gathers that the gather reading them will write
  formats::tflite::Model model_;
  std::map<std::pair<ir::Shape, std::vector<int32_t>>, int> shared_;
};

/// Returns the float nearest to `scale` that fits; nullopt if none of the 16 nearest floats, of
/// which `scale` is the first, fits.
template <typename Fits>
std::optional<float> nearest_fitting_scale(float scale, Fits fits) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    float near = scale;
    for (int k = 0; k < (i + 1) / 2; ++k) near = std::nextafter(near, i % 2 == 0 ? 0.0F : INFINITY);
    if (fits(near)) return near;
  }
  return std::nullopt;
}

/// LiteRT's QuantizeMultiplier for a real multiplier in double.
[[nodiscard]] numerics::Multiplier litert_multiplier(double real);

}  // namespace thimble::interchange
