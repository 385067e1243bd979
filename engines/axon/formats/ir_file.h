// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input file of Nordic's AXON compiler library: little-endian records with the layout of a C
// compiler for x86-64, in six sections. Each release of the library accepts one version of the
// file, so the field offsets are a table per version (ir_layout.h). Source: docs/nordic-axon.md.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::axon {

inline constexpr size_t kIrInputsMax = 4;
inline constexpr int16_t kIrExternal = -1;  // an input of the network

struct IrDimensions {
  uint16_t height = 0, width = 0, channels = 0;
  uint32_t byte_width = 0;  // 1, 2 or 4
  uint16_t batches = 0;
  bool operator==(const IrDimensions&) const = default;
};

/// A slice of the producer's output that starts at `offset` along the axis.
struct IrSplit {
  uint8_t axis = 0;
  uint16_t offset = 0;
  bool operator==(const IrSplit&) const = default;
};

struct IrLayer {
  std::vector<int16_t> inputs;  // indices of layers, or kIrExternal; at most four
  uint32_t operation = 0;
  std::array<IrDimensions, kIrInputsMax> input_dimensions;
  std::array<IrSplit, kIrInputsMax> input_splits;
  IrDimensions filter;  // space-to-batch and batch-to-space: only the height and width of a block
  IrDimensions output;
  uint8_t concat_axis = 0;
  uint8_t stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0;
  int8_t input_zero_point = 0;  // zero point of a constant second operand
  uint32_t output_multiplier = 0;
  uint8_t output_shift = 0;
  int8_t output_zero_point = 0;
  uint32_t activation = 0;
  uint8_t pad_left = 0, pad_right = 0, pad_top = 0, pad_bottom = 0;
  // Constants; an empty list is absent in the file.
  std::vector<int32_t> bias, multipliers;
  std::vector<int8_t> shifts;  // one, or one per channel
  Bytes weights;
  std::vector<int32_t> attributes;
  bool operator==(const IrLayer&) const = default;
};

/// Input: q = real * multiplier / 2^shift + zero_point. Output: the inverse.
struct IrQuantization {
  uint32_t multiplier = 0;
  uint8_t shift = 0;
  int8_t zero_point = 0;
  bool operator==(const IrQuantization&) const = default;
};

struct IrFile {
  std::string name;  // name of the network, part of the library's file names and symbols
  std::vector<std::string> labels;  // class names; may be empty
  std::vector<IrLayer> layers;
  IrQuantization input, output;
  uint32_t interlayer_limit_bytes = 0;  // the library warns above these two limits
  uint32_t psum_limit_bytes = 0;
  uint32_t test_vector_count = 0;
  uint32_t psum_placement = 0;  // 0: inside the interlayer buffer; 1: separate memory
  bool operator==(const IrFile&) const = default;
};

/// Returns the supported versions, newest first: 0x010301, for the tool chain 1.4.0.
[[nodiscard]] std::span<const uint32_t> ir_versions();
/// Returns "1.3.1".
[[nodiscard]] std::string ir_version_text(uint32_t version);
/// Returns an error that lists the supported versions, unless `version` is one of them.
[[nodiscard]] Status check_ir_version(uint32_t version);

[[nodiscard]] Result<Bytes> write_ir(const IrFile& file, uint32_t version);
/// Returns an error with the byte offset if the file is truncated or refers to bytes outside of it.
[[nodiscard]] Result<IrFile> read_ir(ByteView bytes);

}  // namespace thimble::formats::axon
