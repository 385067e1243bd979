// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/formats/ir_layout.h"

#include <array>

#include "engines/axon/formats/ir_file.h"

namespace thimble::formats::axon {
namespace {

constexpr IrLayout kLayouts[] = {
    {
        .version = 0x010301,
        .tool_chain = "1.4.0",
        .header = {.bytes = 48,
                   .title = 0,
                   .version = 8,
                   .meta = 16,
                   .layers = 24,
                   .constants = 32,
                   .options = 40},
        .meta = {.bytes = 36,
                 .name = 0,
                 .labels = 8,
                 .layer_count = 16,
                 .input = 20,
                 .output = 28,
                 .quantization = {.multiplier = 0, .shift = 4, .zero_point = 5}},
        .options = {.bytes = 24,
                    .interlayer_limit = 0,
                    .psum_limit = 4,
                    .test_vectors = 8,
                    .psum_placement = 20},
        .layer = {.bytes = 208,
                  .input_count = 0,
                  .inputs = 2,
                  .operation = 12,
                  .input_dimensions = 16,
                  .input_splits = 80,
                  .filter = 96,
                  .output = 112,
                  .concat_axis = 128,
                  .stride_x = 129,
                  .stride_y = 130,
                  .dilation_x = 131,
                  .dilation_y = 132,
                  .input_zero_point = 133,
                  .output_multiplier = 136,
                  .output_shift = 140,
                  .output_zero_point = 141,
                  .bias = 144,
                  .multipliers = 152,
                  .shifts = 160,
                  .shift_count = 168,
                  .activation = 172,
                  .pad_left = 176,
                  .pad_right = 177,
                  .pad_top = 178,
                  .pad_bottom = 179,
                  .weights = 184,
                  .attribute_count = 192,
                  .attributes = 200,
                  .dimensions = {.bytes = 16,
                                 .height = 0,
                                 .width = 2,
                                 .channels = 4,
                                 .byte_width = 8,
                                 .batches = 12},
                  .split_bytes = 4,
                  .split_axis = 0,
                  .split_offset = 2},
    },
};

constexpr auto kVersions = [] {
  std::array<uint32_t, std::size(kLayouts)> versions{};
  for (size_t i = 0; i < versions.size(); ++i) versions[i] = kLayouts[i].version;
  return versions;
}();

}  // namespace

const IrLayout* find_ir_layout(uint32_t version) {
  for (const IrLayout& layout : kLayouts) {
    if (layout.version == version) return &layout;
  }
  return nullptr;
}

std::span<const uint32_t> ir_versions() {
  return kVersions;
}

std::string ir_version_text(uint32_t version) {
  return fmt::format("{}.{}.{}", version >> 16, version >> 8 & 0xFF, version & 0xFF);
}

Status check_ir_version(uint32_t version) {
  if (find_ir_layout(version) != nullptr) return ok();
  std::string known;
  for (const IrLayout& layout : kLayouts) {
    known += fmt::format("{}{} (tool chain {})", known.empty() ? "" : ", ",
                         ir_version_text(layout.version), layout.tool_chain);
  }
  return bad_input("AXON IR version {} is not supported; supported: {}", ir_version_text(version),
                   known);
}

}  // namespace thimble::formats::axon
