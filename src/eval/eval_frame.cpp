// SPDX-License-Identifier: Apache-2.0
// Samples and frames of sensors (docs/numerics.md, "Frames of cameras").

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "eval/call.h"
#include "ir/frame.h"

namespace thimble::eval {
namespace {

using ir::FrameFormat;
using Components = std::array<int64_t, 3>;

FrameFormat format_of(const Call& call) {
  return static_cast<FrameFormat>(call.get(ir::attr::format));
}

/// R, G, B or Y, U, V of a pixel of the frame, from 0 to 255; a gray value three times.
Components components(const Call& call, int64_t row, int64_t column) {
  const ir::Shape& x = call.shape(0);
  const auto byte = [&](int64_t r, int64_t c, int64_t b) -> int64_t {
    return call.input<uint8_t>(0)[static_cast<size_t>((r * x[2] + c) * x[3] + b)];
  };
  const int64_t even = column / 2 * 2;
  switch (format_of(call)) {
    case FrameFormat::kRgb888:
      return {byte(row, column, 0), byte(row, column, 1), byte(row, column, 2)};
    case FrameFormat::kRgb565:
    case FrameFormat::kRgb565Be: {
      const bool big = format_of(call) == FrameFormat::kRgb565Be;
      const int64_t word = byte(row, column, big ? 0 : 1) * 256 + byte(row, column, big ? 1 : 0);
      const int64_t r = word / 2048, g = word / 32 % 64, b = word % 32;
      return {r * 8 + r / 4, g * 4 + g / 16, b * 8 + b / 4};
    }
    case FrameFormat::kYuyv:
      return {byte(row, column, 0), byte(row, even, 1), byte(row, even + 1, 1)};
    case FrameFormat::kUyvy:
      return {byte(row, column, 1), byte(row, even, 0), byte(row, even + 1, 0)};
    case FrameFormat::kNv12: {
      const int64_t chroma = x[1] / 3 * 2 + row / 2;
      return {byte(row, column, 0), byte(chroma, even, 0), byte(chroma, even + 1, 0)};
    }
    default:
      return {byte(row, column, 0), byte(row, column, 0), byte(row, column, 0)};
  }
}

/// The two source positions of a resized position, inside the crop.
struct Neighbors {
  int64_t low, high;
  double weight;
};
Neighbors neighbors(int64_t position, int64_t first, int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double source = std::max((static_cast<double>(position) + 0.5) * scale - 0.5, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(std::floor(source)), in - 1);
  const int64_t high = std::min(low + 1, in - 1);
  return {first + low, first + high, std::min(source - static_cast<double>(low), 1.0)};
}

/// ITU-R BT.601, 8 bits, limited range.
std::array<double, 3> rgb_of(double y, double u, double v) {
  const double c = 255.0 / 219 * (y - 16), d = u - 128, e = v - 128;
  const double kr = 0.299, kb = 0.114, kg = 1 - kr - kb, chroma = 255.0 / 224;
  std::array<double, 3> rgb = {
      c + 2 * (1 - kr) * chroma * e,
      c - 2 * (1 - kb) * kb / kg * chroma * d - 2 * (1 - kr) * kr / kg * chroma * e,
      c + 2 * (1 - kb) * chroma * d};
  for (double& each : rgb) each = std::clamp(each, 0.0, 255.0);
  return rgb;
}

}  // namespace

void eval_unpack(const Call& call) {
  const double zero_point = static_cast<double>(call.get(ir::attr::zero_point));
  const double scale = call.op.get(ir::attr::scale);
  const auto each = [&](auto x) {
    for (size_t i = 0; i < x.size(); ++i) {
      call.result<float>()[i] =
          static_cast<float>((static_cast<double>(x[i]) - zero_point) * scale);
    }
  };
  is_wide(call) ? each(call.input<int16_t>(0)) : each(call.input<uint8_t>(0));
}

void eval_camera_image(const Call& call) {
  const auto& crop = call.get(ir::attr::crop);
  const ir::Shape& y = call.output.shape;
  const double zero_point = static_cast<double>(call.get(ir::attr::zero_point));
  const double scale = call.op.get(ir::attr::scale);
  size_t index = 0;
  for (int64_t row = 0; row < y[1]; ++row) {
    const Neighbors h = neighbors(row, crop[0], crop[2], y[1]);
    for (int64_t column = 0; column < y[2]; ++column) {
      const Neighbors w = neighbors(column, crop[1], crop[3], y[2]);
      const Components corners[] = {components(call, h.low, w.low), components(call, h.low, w.high),
                                    components(call, h.high, w.low),
                                    components(call, h.high, w.high)};
      std::array<double, 3> v{};
      for (size_t k = 0; k < 3; ++k) {
        const auto corner = [&](size_t i) { return static_cast<double>(corners[i][k]); };
        v[k] = (1 - h.weight) * ((1 - w.weight) * corner(0) + w.weight * corner(1)) +
               h.weight * ((1 - w.weight) * corner(2) + w.weight * corner(3));
      }
      if (is_yuv(format_of(call))) v = rgb_of(v[0], v[1], v[2]);
      if (call.get(ir::attr::swap) != 0) std::swap(v[0], v[2]);
      for (int64_t k = 0; k < y[3]; ++k) {
        call.result<float>()[index++] =
            static_cast<float>((v[static_cast<size_t>(k)] - zero_point) * scale);
      }
    }
  }
}

void eval_qcamera_image(const Call& call) {
  const ir::Shape& y = call.output.shape;
  const auto table = [&](size_t operand, int64_t i) {
    return int64_t{call.input<int32_t>(operand)[static_cast<size_t>(i)]};
  };
  size_t index = 0;
  for (int64_t row = 0; row < y[1]; ++row) {
    const int64_t top = table(1, row), a = table(2, row), bottom = top + (a > 0 ? 1 : 0);
    for (int64_t column = 0; column < y[2]; ++column) {
      const int64_t left = table(3, column), b = table(4, column), right = left + (b > 0 ? 1 : 0);
      const Components corners[] = {components(call, top, left), components(call, top, right),
                                    components(call, bottom, left),
                                    components(call, bottom, right)};
      Components v{};
      for (size_t k = 0; k < 3; ++k) {
        const int64_t sum = (2048 - a) * ((2048 - b) * corners[0][k] + b * corners[1][k]) +
                            a * ((2048 - b) * corners[2][k] + b * corners[3][k]);
        v[k] = floor_divide(sum + pow2(21), pow2(22));
      }
      if (is_yuv(format_of(call))) {
        const int64_t c = v[0] - 16, d = v[1] - 128, e = v[2] - 128;
        v = {floor_divide(298 * c + 409 * e + 128, 256),
             floor_divide(298 * c - 100 * d - 208 * e + 128, 256),
             floor_divide(298 * c + 516 * d + 128, 256)};
        for (int64_t& each : v) each = clamp(each, 0, 255);
      }
      if (call.get(ir::attr::swap) != 0) std::swap(v[0], v[2]);
      for (int64_t k = 0; k < y[3]; ++k) {
        call.result<int8_t>()[index++] = static_cast<int8_t>(v[static_cast<size_t>(k)] - 128);
      }
    }
  }
}

}  // namespace thimble::eval
