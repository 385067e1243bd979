// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/delegate_vendor/extensions.h"

#include <string.h>

#include "engines/axon/container/functions.h"

namespace thimble::runtime::axon_vendor {
namespace {

namespace model = thimble::axon::model;

/// Operands of an extension, encoded in six words: input; output; multiplier; height and width;
/// channels, shift and zero point; bytes per output element, a flag for quantized output, and a
/// flag for contiguous input rows.
struct Operands {
  const uint8_t* input;
  uint8_t* output;
  uint32_t height, width, channels;
  uint32_t output_bytes;
  bool quantized, packed;
};

constexpr uint16_t kWords = 6;

bool read_operands(uint16_t count, const Word* words, Operands& operands) {
  if (words == nullptr || count < kWords) return false;
  operands.input = reinterpret_cast<const uint8_t*>(words[0]);
  operands.output = reinterpret_cast<uint8_t*>(words[1]);
  const auto low = [&](uint32_t i) { return static_cast<uint32_t>(words[i]); };
  operands.height = low(3) & 0xFFFF;
  operands.width = low(3) >> 16;
  operands.channels = low(4) & 0xFFFF;
  operands.output_bytes = low(5) & 0xFF;
  operands.quantized = (low(5) >> 8 & 0xFF) != 0;
  operands.packed = (low(5) >> 16 & 0xFF) != 0;
  return operands.input != nullptr && operands.output != nullptr && operands.output_bytes == 1;
}

/// Input elements are int16; input rows begin at multiples of 4 bytes unless they are packed.
/// Output rows are contiguous.
int run_curve(uint16_t count, const Word* words, bool tanh) {
  Operands operands;
  if (!read_operands(count, words, operands)) return -1;
  const uint32_t gap = !operands.packed && operands.width % 2 != 0 ? 2 : 0;
  const uint8_t* from = operands.input;
  uint8_t* to = operands.output;
  for (uint32_t row = 0; row < operands.channels * operands.height; ++row) {
    for (uint32_t i = 0; i < operands.width; ++i, from += 2) {
      int16_t value;
      memcpy(&value, from, sizeof value);
      *to++ = static_cast<uint8_t>(model::curve_at(value, tanh));
    }
    from += gap;
  }
  return 0;
}

}  // namespace
}  // namespace thimble::runtime::axon_vendor

using namespace thimble::runtime::axon_vendor;

extern "C" {

int thimble_axon_ext_sigmoid(uint16_t count, Word* words) {
  return run_curve(count, words, false);
}

int thimble_axon_ext_tanh(uint16_t count, Word* words) {
  return run_curve(count, words, true);
}

/// Computes the softmax over the channels for each position of the image.
int thimble_axon_ext_softmax(uint16_t count, Word* words) {
  Operands operands;
  if (!read_operands(count, words, operands)) return -1;
  const uint32_t area = operands.height * operands.width;
  for (uint32_t i = 0; i < area; ++i) {
    model::softmax_row(operands.input + 4 * i, 4 * area, operands.output + i, area,
                       operands.channels);
  }
  return 0;
}

}  // extern "C"
