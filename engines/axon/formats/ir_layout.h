// SPDX-License-Identifier: Apache-2.0
#pragma once
// The offset of each field in the records of the IR file, per version of the file. A new version of
// the vendor's tools is a new row; reader and writer contain no other offsets.

#include <cstdint>
#include <string_view>

namespace thimble::formats::axon {

inline constexpr std::string_view kIrTitle = "AXON_INTERMEDIATE_REPRESENTATION_FILE";
inline constexpr uint32_t kIrSectionAlignment = 4;
inline constexpr uint64_t kIrAbsent = ~uint64_t{0};

struct IrHeaderLayout {
  uint32_t bytes;
  uint32_t title, version, meta, layers, constants, options;  // items
};

struct IrQuantizationLayout {
  uint32_t multiplier, shift, zero_point;
};

struct IrMetaLayout {
  uint32_t bytes;
  uint32_t name, labels;  // items
  uint32_t layer_count;
  uint32_t input, output;
  IrQuantizationLayout quantization;
};

struct IrOptionsLayout {
  uint32_t bytes;
  uint32_t interlayer_limit, psum_limit, test_vectors, psum_placement;
};

struct IrDimensionsLayout {
  uint32_t bytes;
  uint32_t height, width, channels, byte_width, batches;
};

struct IrLayerLayout {
  uint32_t bytes;
  uint32_t input_count, inputs, operation, input_dimensions, input_splits, filter, output;
  uint32_t concat_axis, stride_x, stride_y, dilation_x, dilation_y, input_zero_point;
  uint32_t output_multiplier, output_shift, output_zero_point;
  uint32_t bias, multipliers, shifts, shift_count;
  uint32_t activation, pad_left, pad_right, pad_top, pad_bottom;
  uint32_t weights, attribute_count, attributes;
  IrDimensionsLayout dimensions;
  uint32_t split_bytes, split_axis, split_offset;
};

struct IrLayout {
  uint32_t version;
  std::string_view tool_chain;
  IrHeaderLayout header;
  IrMetaLayout meta;
  IrOptionsLayout options;
  IrLayerLayout layer;
};

/// Returns null if no row has the version.
[[nodiscard]] const IrLayout* find_ir_layout(uint32_t version);

}  // namespace thimble::formats::axon
