// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_depthwise_conv2d with the loops of depthwise_mve. The weights of as many
// channels as fit into the scratch are packed there (abi/depthwise_mve.h); this costs about 20
// instructions per channel and call. CMSIS-NN's scratch for Helium, which ExecuTorch plans, has
// room for at least 100 channels. The portable body runs calls with less scratch than for 16
// channels, with a depth multiplier, with a shift that is not to the right, with sizes that exceed
// the fields of the geometry, and with successive weights of -128.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "abi/depthwise_mve.h"
#include "kernels/args/conv.h"
#include "kernels/args/depthwise_mve.h"
#include "kernels/args/stock_window.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/depthwise_tile.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = abi::kDepthwiseLanes;
constexpr int32_t kTapsMax = 255;  // sums of so many weights fit 16 bits

bool set_geometry(const Conv& conv, abi::WindowGeometry* g) {
  g->x_zero_point = static_cast<int16_t>(-conv.x_offset);
  g->y_zero_point = static_cast<int16_t>(conv.requant.y_offset);
  g->min = static_cast<int16_t>(conv.requant.min);
  g->max = static_cast<int16_t>(conv.requant.max);
  return set_window(conv.axis, conv.in_c, conv.out_c, g) &&
         conv.axis[0].kernel * conv.axis[1].kernel <= kTapsMax &&
         conv.axis[0].pad < conv.axis[0].kernel && conv.axis[1].pad < conv.axis[1].kernel;
}

bool shifts_are_right(const Requant& requant, int32_t channels) {
  const int8_t* shift = requant.shift;
  for (int32_t o = channels; o != 0; --o, shift += requant.shift_step) {
    if (*shift >= 0) return false;
  }
  return true;
}

/// Packs the constants of 16 channels, or of fewer. If the number of channels divides 16, the only
/// block repeats them.
class Packer {
 public:
  Packer(const Conv& conv, const DepthwiseBlock& layout)
      : conv_(conv), layout_(layout), repeats_(conv.in_c < kLanes && kLanes % conv.in_c == 0) {}

  /// Returns false if two successive weights are -128 (abi/depthwise_mve.h).
  bool pack(int32_t first, uint8_t* block) const {
    const int32_t left = conv_.in_c - first;
    const int32_t lanes = repeats_ || left > kLanes ? kLanes : left;
    alignas(16) int16_t sums[2][kLanes / 2];  // of the even and of the odd lanes
    const bool fine = pack_weights(first, lanes, block + DepthwiseBlock::kWeights, sums);
    auto* const bias = reinterpret_cast<int32_t*>(block);
    auto* const shift = reinterpret_cast<int8_t*>(block + layout_.shifts);
    auto* const mult = reinterpret_cast<int32_t*>(block + layout_.mults());
    const Requant& requant = conv_.requant;
    for (int32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t at = abi::depthwise_lane_position(static_cast<uint32_t>(lane));
      const bool used = lane < lanes;
      const int32_t o = !used ? first : first + (repeats_ ? lane % conv_.in_c : lane);
      const auto sum = static_cast<uint32_t>(sums[lane & 1][lane / 2]);
      bias[at] = static_cast<int32_t>(static_cast<uint32_t>(requant.start(o)) +
                                      static_cast<uint32_t>(conv_.x_offset) * sum);
      shift[at] = requant.shift[o * requant.shift_step];
      mult[at] = requant.mult[o * requant.mult_step];
    }
    return fine;
  }

 private:
  bool pack_weights(int32_t first, int32_t lanes, uint8_t* to,
                    int16_t (&sums)[2][kLanes / 2]) const {
    const int8_t* w = conv_.w + first;
    const mve_pred16_t read = vctp8q(static_cast<uint32_t>(repeats_ ? conv_.in_c : lanes));
    // Lane l of a block that repeats the channels is channel l modulo their number.
    const uint8x16_t repeat =
        vandq_u8(vidupq_n_u8(0, 1), vdupq_n_u8(static_cast<uint8_t>(conv_.in_c - 1)));
    const int32_t taps = layout_.taps;
    const int32_t paired = taps == 9 ? 8 : taps;
    int16x8_t even = vdupq_n_s16(0);
    int16x8_t odd = vdupq_n_s16(0);
    int8x16_t before = vdupq_n_s8(0);
    int32_t smallest = 127;
    for (int32_t tap = 0; tap < taps; ++tap) {
      const int8x16_t weights =
          repeats_ ? vldrbq_gather_offset_s8(w, repeat) : vldrbq_z_s8(w, read);
      vstrbq_s8(reinterpret_cast<int8_t*>(to), weights);
      even = vaddq_s16(even, vmovlbq_s8(weights));
      odd = vaddq_s16(odd, vmovltq_s8(weights));
      if (tap % 2 != 0 && tap < paired) {
        smallest = vminvq_s8(static_cast<int8_t>(smallest), vmaxq_s8(before, weights));
      }
      before = weights;
      w += conv_.in_c;
      to += kLanes;
    }
    if (taps != abi::depthwise_taps(taps)) {
      vstrbq_s8(reinterpret_cast<int8_t*>(to), vdupq_n_s8(0));
    }
    vstrhq_s16(sums[0], even);
    vstrhq_s16(sums[1], odd);
    return smallest > -128;
  }

  const Conv& conv_;
  const DepthwiseBlock& layout_;
  const bool repeats_;
};

/// Returns false if the loops do not support the call. Part of y may be written then.
bool run_packed(const Conv& conv) {
  abi::WindowGeometry geometry = {};
  const int32_t channels = conv.in_c;
  const bool whole = channels % 4 == 0 || channels >= kLanes;
  if (conv.out_c != channels || !whole || !set_geometry(conv, &geometry) ||
      !shifts_are_right(conv.requant, channels)) {
    return false;
  }
  const DepthwiseBlock layout(geometry);
  geometry.in_c = kLanes;
  const int32_t offsets = abi::depthwise_scratch_bytes(geometry) - kLanes;
  geometry.in_c = static_cast<uint16_t>(channels);
  const uintptr_t start = (reinterpret_cast<uintptr_t>(conv.scratch) + 15) & ~uintptr_t{15};
  auto* const scratch = reinterpret_cast<int8_t*>(start);
  const int32_t room = conv.scratch_bytes - static_cast<int32_t>(scratch - conv.scratch) - offsets;
  // Each block has constants and 16 bytes of padding.
  const int32_t blocks_max = room < 0 ? 0 : room / (layout.bytes() + kLanes);
  if (blocks_max == 0) return false;
  const Packer packer(conv, layout);
  const int32_t x_bytes = conv.axis[0].in * conv.axis[1].in * channels;
  const int32_t y_bytes = conv.axis[0].out * conv.axis[1].out * channels;
  for (int32_t first = 0; first < channels;) {
    int32_t lanes = channels - first;
    if (lanes > blocks_max * kLanes) lanes = blocks_max * kLanes;
    if (lanes % 4 != 0 && lanes > kLanes) lanes -= lanes % kLanes;
    if (lanes % 4 != 0) {  // the last channels together with channels before them
      first = channels - kLanes;
      lanes = kLanes;
    }
    const int32_t blocks = (lanes + kLanes - 1) / kLanes;
    auto* const constants = reinterpret_cast<uint8_t*>(scratch) + offsets + blocks * kLanes;
    for (int32_t i = 0; i < blocks; ++i) {
      if (!packer.pack(first + i * kLanes, constants + i * layout.bytes())) return false;
    }
    for (int32_t n = 0; n < conv.batch; ++n) {
      mve::run_depthwise({geometry, conv.x + n * x_bytes + first, constants, scratch,
                          conv.y + n * y_bytes + first, lanes});
    }
    first += lanes;
  }
  return true;
}

template <StockSignature kSignature>
void run_stock(const Call& call) {
  const Conv conv = bind_stock_depthwise<kSignature>(call);
  if (!run_packed(conv)) convolve_depthwise(conv);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_depthwise_conv2d,
                      check_stock_depthwise<StockSignature::kCurrent>,
                      run_stock<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_depthwise_conv2d_nhwc,
                      check_stock_depthwise<StockSignature::kNhwc>,
                      run_stock<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
