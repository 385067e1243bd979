#pragma once
// The file from which Nordic's AXON compiler library makes a program: little-endian records as a
// C compiler for x86-64 lays them out, in six sections. The library takes one version of it, so the
// places of the fields are a table per version (ir_layout.h). Source: docs/nordic-axon.md.

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

/// A view into what the producer makes, from `offset` on along the axis.
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
  IrDimensions filter;  // of space-to-batch and back: height and width of a block, nothing else
  IrDimensions output;
  uint8_t concat_axis = 0;
  uint8_t stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0;
  int8_t input_zero_point = 0;  // of a constant second operand
  uint32_t output_multiplier = 0;
  uint8_t output_shift = 0;
  int8_t output_zero_point = 0;
  uint32_t activation = 0;
  uint8_t pad_left = 0, pad_right = 0, pad_top = 0, pad_bottom = 0;
  // Constants; an empty one is absent.
  std::vector<int32_t> bias, multipliers;
  std::vector<int8_t> shifts;  // one, or one per channel
  Bytes weights;
  std::vector<int32_t> attributes;
  bool operator==(const IrLayer&) const = default;
};

/// q = real * multiplier / 2^shift + zero_point for the input; the inverse for the output.
struct IrQuantization {
  uint32_t multiplier = 0;
  uint8_t shift = 0;
  int8_t zero_point = 0;
  bool operator==(const IrQuantization&) const = default;
};

struct IrFile {
  std::string name;  // of the network: names of the library's files and symbols have it
  std::vector<std::string> labels;  // of classes; may be empty
  std::vector<IrLayer> layers;
  IrQuantization input, output;
  uint32_t interlayer_limit_bytes = 0;  // the library warns above these
  uint32_t psum_limit_bytes = 0;
  uint32_t test_vector_count = 0;
  uint32_t psum_placement = 0;  // 0: inside the interlayer buffer; 1: memory of its own
  bool operator==(const IrFile&) const = default;
};

/// 0x010301, for the tool chain 1.4.0; the newest first.
[[nodiscard]] std::span<const uint32_t> ir_versions();
/// "1.3.1".
[[nodiscard]] std::string ir_version_text(uint32_t version);
/// An error that says which versions are known, unless `version` is one.
[[nodiscard]] Status check_ir_version(uint32_t version);

[[nodiscard]] Result<Bytes> write_ir(const IrFile& file, uint32_t version);
/// Refuses what is cut short or points outside, with the byte at fault.
[[nodiscard]] Result<IrFile> read_ir(ByteView bytes);

}  // namespace thimble::formats::axon
