// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits and scales of output channels in the packed forms of Helium, the DSP extension and cores
// without either, for weights of 8 and 4 bits.

#include <vector>

#include "engines/cortex_m/compiler/packed.h"

namespace thimble::engine::cortex_m {

/// Returns true if the Helium kernels support the shifts of the channels. The kernels only shift
/// right. Unless a relu clamps negative sums, the shift must be at least 1, because of the rounding
/// of halves.
[[nodiscard]] bool fits_mve(const std::vector<Filter>& all, const ir::Op& op);
/// Writes the abi::MatmulQuads of the channels.
void put_matmul_quads(const std::vector<Filter>& all, PackedWriter* writer);

/// Returns true if the right shift is at least 2 and twice each sum fits 32 bits.
[[nodiscard]] bool fits_dsp(const Filter& filter);
/// Returns 2^(32-right), where `right` is the right shift; 2 for a multiplier of 0 (any shift).
[[nodiscard]] int32_t dsp_scale(const Filter& filter);
/// Writes the scales at the end of a channel pair.
void put_dsp_scales(const Filter& a, const Filter& b, PackedWriter* writer);

/// Returns true if the channel has the limits of abi::ScalarChannel.
[[nodiscard]] bool fits_scalar(const Filter& filter);
/// Writes the abi::ScalarChannels. `flags` are added to the shift of the first one.
void put_scalar_channels(const std::vector<Filter>& filters, int64_t y_zero_point,
                         PackedWriter* writer);
void put_scalar_channels(const std::vector<Filter>& filters, int64_t y_zero_point, int32_t flags,
                         PackedWriter* writer);

}  // namespace thimble::engine::cortex_m
