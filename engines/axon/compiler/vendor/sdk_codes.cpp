// SPDX-License-Identifier: Apache-2.0
// Meanings of the library's negative result codes. Numbers and names are those of the published
// header; the descriptions are Thimble's.

#include <string_view>

#include "engines/axon/compiler/vendor/sdk.h"

namespace thimble::engine::axon {
namespace {

struct Code {
  int number;
  std::string_view name, meaning;
};

constexpr Code kCodes[] = {
    {-243, "PERSISTENT_BUFFER_TOO_SMALL", "the persistent variables need more than it provides"},
    {-242, "INVALID_DILATION", "a dilation or number of batches that it does not support"},
    {-241, "INVALID_ROUNDING", "a shift out of range"},
    {-240, "INVALID_INPUT_SIZE", "height, width or channels of an input are too large"},
    {-239, "INVALID_FILTER_SIZE", "height, width or channels of a kernel are too large"},
    {-238, "INVALID_PADDING", "a padding that it does not support"},
    {-236, "INVALID_STRIDE", "a stride that it does not support"},
    {-235, "INVALID_INPUT", "too many or too few inputs of a layer"},
    {-234, "INVALID_FILTER_COUNT", "a number of output channels that it does not support"},
    {-232, "PSUM_BUFFER_TOO_SMALL", "partial sums need more than it provides"},
    {-228, "INVALID_ACTIVATION_FUNCTION", "an activation that it does not support"},
    {-227, "INFERENCE_FAILED", "its simulator failed"},
    {-226, "SIMULATOR_INIT_FAILED", "its simulator did not start"},
    {-225, "MODEL_INIT_FAILED", "its simulator refused the network"},
    {-224, "UNRESOLVED_ADDRESS", "an address without a symbol"},
    {-223, "CORRUPT_CMD_BUFFER", "an error inside the library"},
    {-222, "INTERLAYER_BUFFER_TOO_SMALL", "the network needs more interlayer memory than allowed"},
    {-221, "TOO_MANY_DECLARED_BUFFERS", "more buffers than the library can count"},
    {-220, "MALLOC_FAILED", "not enough memory on this machine"},
    {-219, "INVALID_BIN_FILE", "it refuses the IR file: another version, or damaged"},
    {-218, "FILE_IO_FAILED", "it cannot read or write its files"},
    {-217, "CANNOT_GROW_FC_WEIGHTS", "weights with room for unpacked rows get too large"},
    {-216, "UNHANDLED_RESHAPE", "a reshape between layers that would move data"},
    {-215, "INVALID_OUTPUT_SIZE",
     "height, width or channels of an output differ from the expected ones"},
    {-214, "INVALID_OPERATION", "an operation that it does not support"},
    {-212, "INVALID_BYTE_WIDTH", "an element width that the operation does not support"},
    {-208, "NULL_PTR", "an error inside the library"},
    {-207, "CMD_BUF_TOO_SMALL", "more commands than the library has room for"},
    {-1, "FAILURE", "no reason given"},
};

}  // namespace

std::string explain_sdk_code(int code) {
  for (const Code& row : kCodes) {
    if (row.number == code) return fmt::format("{} {}: {}", code, row.name, row.meaning);
  }
  return fmt::format("{}: unknown code (not in the published header)", code);
}

}  // namespace thimble::engine::axon
