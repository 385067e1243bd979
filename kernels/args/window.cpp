// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/window.h"

namespace thimble::kernels {
namespace {
constexpr int32_t kMax = 32767;
bool in_range(int32_t value, int32_t low) {
  return static_cast<uint32_t>(value) - static_cast<uint32_t>(low) <=
         static_cast<uint32_t>(kMax - low);
}

/// Returns the padding after the last position that the output extent implies.
int64_t pad_after(const WindowAxis& axis) {
  return int64_t{axis.out - 1} * axis.stride + int64_t{axis.kernel - 1} * axis.dilation + 1 -
         axis.pad - axis.in;
}

Status check_axis(const WindowAxis& axis) {
  const bool fits = in_range(axis.kernel, 1) && in_range(axis.stride, 1) &&
                    in_range(axis.dilation, 1) && in_range(axis.pad, 0) &&
                    axis.kernel * axis.dilation <= (1 << 28);
  if (!fits) return Status::kBadParameter;
  if (axis.in > (1 << 28) || int64_t{axis.out} * axis.stride > (1 << 29)) return Status::kBadShape;
  return Status::kOk;
}
}  // namespace

Status check_axes(const WindowAxis (&axes)[2], int32_t channels) {
  for (const WindowAxis& axis : axes) THIMBLE_RETURN_IF_ERROR(check_axis(axis));
  // Distance in bytes between taps, computed even if a window has only one tap inside.
  const int64_t column = int64_t{channels} * axes[1].dilation;
  const int64_t row = int64_t{channels} * axes[1].in * axes[0].dilation;
  return column <= INT32_MAX && row <= INT32_MAX ? Status::kOk : Status::kBadShape;
}

int32_t window_output(const WindowAxis& axis, bool ceil_mode) {
  const int32_t room = axis.in + 2 * axis.pad - (axis.kernel - 1) * axis.dilation - 1;
  if (room < 0) return 0;
  int32_t count = room / axis.stride + 1;
  if (ceil_mode && room % axis.stride != 0) ++count;
  // A window must start inside the image or the padding before it.
  if (ceil_mode && (count - 1) * axis.stride >= axis.in + axis.pad) --count;
  return count;
}

bool output_follows(const WindowAxis& axis) {
  const int64_t after = pad_after(axis);
  return after > -axis.stride && after <= kMax;
}

bool windows_meet_image(const WindowAxis& axis) {
  for (int32_t o = 0; o < axis.out; ++o) {
    const Taps taps = axis.inside(axis.origin(o));
    if (taps.first == taps.last) return false;
  }
  return true;
}

}  // namespace thimble::kernels
