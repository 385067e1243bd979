// SPDX-License-Identifier: Apache-2.0
#include "neutron_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace thimble::neutron_test {
namespace {

__extension__ using Wide = __int128;

int64_t wrapped(int64_t value) {
  const auto low = static_cast<uint64_t>(value) & 0xFFFFFFFF;
  return static_cast<int64_t>(low) - (low >= 0x80000000 ? int64_t{1} << 32 : 0);
}

Wide floor_of(Wide value, Wide divisor) {
  const Wide quotient = value / divisor;
  return quotient * divisor > value ? quotient - 1 : quotient;
}

/// Returns value / 2^bits to nearest, halves away from zero: llround of an exact quotient.
int64_t half_away(int64_t value, int bits) {
  return std::llround(std::ldexp(static_cast<long double>(value), -bits));
}

/// Returns a * b / 2^31, halves rounded up.
int64_t product31(int64_t a, int64_t b) {
  return static_cast<int64_t>(floor_of(Wide{a} * b + (Wide{1} << 30), Wide{1} << 31));
}

/// Returns a tensor of these dimensions filled with `value(index)`.
template <class Value>
Dense filled(const Dims& dims, Value value) {
  Dense result = {dims, {}};
  for_each_index(dims, [&](const Dims& index) { result.values.push_back(value(index)); });
  return result;
}

Factor factor_of(const WeightedParams& w, uint32_t channel) {
  return w.factors[w.factors.size() == 1 ? 0 : channel];
}

int8_t ended(int64_t sum, const WeightedParams& w, uint32_t channel,
             const OutputStage& output_stage) {
  return output_stage.of(requantized(wrapped(sum), factor_of(w, channel), output_stage.single));
}

int64_t bias_of(const WeightedParams& w, uint32_t channel) {
  return w.bias.empty() ? 0 : w.bias[channel];
}

/// Calls `each(h, w, ky, kx)` for the taps of output pixel [y, x] that are inside the image.
template <class Each>
void for_taps(const Window& window, const Dense& x, uint32_t row, uint32_t column, Each each) {
  for (uint32_t ky = 0; ky < window.kernel[0]; ++ky) {
    for (uint32_t kx = 0; kx < window.kernel[1]; ++kx) {
      const int64_t h = int64_t{row} * window.stride[0] + int64_t{ky} * window.dilation[0] -
                        int64_t{window.pad[0]};
      const int64_t w = int64_t{column} * window.stride[1] + int64_t{kx} * window.dilation[1] -
                        int64_t{window.pad[1]};
      if (h < 0 || w < 0 || h >= x.dims[1] || w >= x.dims[2]) continue;
      each(static_cast<uint32_t>(h), static_cast<uint32_t>(w), ky, kx);
    }
  }
}

}  // namespace

int64_t requantized(int64_t value, Factor factor, bool single) {
  const Wide product = Wide{value} * factor.multiplier;
  if (single) {
    const int t = 31 - factor.shift;
    return wrapped(static_cast<int64_t>(floor_of(product + (Wide{1} << (t - 1)), Wide{1} << t)));
  }
  const int left = std::max(factor.shift, 0);
  const int right = std::max(-factor.shift, 0);
  const int64_t shifted =
      wrapped(static_cast<int64_t>(static_cast<uint64_t>(value) << static_cast<unsigned>(left)));
  return half_away(product31(shifted, factor.multiplier), right);
}

int8_t OutputStage::of(int64_t value) const {
  return code(wrapped(value + zero_point));
}
int8_t OutputStage::code(int64_t value) const {
  const int64_t clamped = std::min<int64_t>(std::max<int64_t>(value, min), max);
  return table ? (*table)[static_cast<size_t>(clamped + 128)] : static_cast<int8_t>(clamped);
}

Dense reference_convolution(const Dense& x, const WeightedParams& w, const Window& window,
                            const Dims& out, const OutputStage& output_stage) {
  const uint32_t depth = x.dims[3];
  return filled(out, [&](const Dims& at) {
    int64_t sum = bias_of(w, at[3]);
    for_taps(window, x, at[1], at[2], [&](uint32_t h, uint32_t c, uint32_t ky, uint32_t kx) {
      for (uint32_t i = 0; i < depth; ++i) {
        const size_t filter = (size_t{at[3]} * window.kernel[0] + ky) * window.kernel[1] + kx;
        sum += (x.at({at[0], h, c, i}) - w.zero_point) * w.weights[filter * depth + i];
      }
    });
    return ended(sum, w, at[3], output_stage);
  });
}

Dense reference_depthwise(const Dense& x, const WeightedParams& w, const Window& window,
                          const Dims& out, const OutputStage& output_stage) {
  return filled(out, [&](const Dims& at) {
    int64_t sum = bias_of(w, at[3]);
    for_taps(window, x, at[1], at[2], [&](uint32_t h, uint32_t c, uint32_t ky, uint32_t kx) {
      sum += (x.at({at[0], h, c, at[3]}) - w.zero_point) *
             w.weights[(size_t{ky} * window.kernel[1] + kx) * out[3] + at[3]];
    });
    return ended(sum, w, at[3], output_stage);
  });
}

/// Computes by scatter: every input pixel is added to all outputs that depend on it.
Dense reference_transposed(const Dense& x, const WeightedParams& w, const Window& window,
                           const Dims& out, const OutputStage& output_stage) {
  const uint32_t depth = x.dims[3];
  std::vector<int64_t> sums(elements(out));
  const auto sum_at = [&](int64_t n, int64_t h, int64_t c, int64_t o) -> int64_t& {
    return sums[static_cast<size_t>(((n * out[1] + h) * out[2] + c) * out[3] + o)];
  };
  for_each_index(x.dims, [&](const Dims& in) {
    for_each_index({out[3], window.kernel[0], window.kernel[1]}, [&](const Dims& tap) {
      const int64_t h = int64_t{in[1]} * window.stride[0] + int64_t{tap[1]} * window.dilation[0] -
                        int64_t{window.pad[0]};
      const int64_t c = int64_t{in[2]} * window.stride[1] + int64_t{tap[2]} * window.dilation[1] -
                        int64_t{window.pad[1]};
      if (h < 0 || c < 0 || h >= out[1] || c >= out[2]) return;
      const size_t filter =
          (size_t{tap[0]} * window.kernel[0] + tap[1]) * window.kernel[1] + tap[2];
      sum_at(in[0], h, c, tap[0]) += (x.at(in) - w.zero_point) * w.weights[filter * depth + in[3]];
    });
  });
  return filled(out, [&](const Dims& at) {
    return ended(sum_at(at[0], at[1], at[2], at[3]) + bias_of(w, at[3]), w, at[3], output_stage);
  });
}

Dense reference_fully_connected(const Dense& x, const WeightedParams& w, uint32_t channels,
                                const OutputStage& output_stage) {
  const uint32_t depth = x.dims[1];
  return filled({x.dims[0], channels}, [&](const Dims& at) {
    int64_t sum = bias_of(w, at[1]);
    for (uint32_t i = 0; i < depth; ++i) {
      sum += (x.at({at[0], i}) - w.zero_point) * w.weights[size_t{at[1]} * depth + i];
    }
    return ended(sum, w, at[1], output_stage);
  });
}

Dense reference_matmul(const Dense& a, const Dense& b, int32_t a_zero_point, int32_t b_zero_point,
                       Factor factor, const OutputStage& output_stage) {
  return filled({a.dims[0], a.dims[1], b.dims[2]}, [&](const Dims& at) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < a.dims[2]; ++k) {
      sum += (a.at({at[0], at[1], k}) - a_zero_point) * (b.at({at[0], k, at[2]}) - b_zero_point);
    }
    return output_stage.of(requantized(wrapped(sum), factor, output_stage.single));
  });
}

Dense reference_pool(const Dense& x, const Window& window, const Dims& out, bool mean,
                     const OutputStage& output_stage) {
  return filled(out, [&](const Dims& at) {
    std::vector<int64_t> seen;
    for_taps(window, x, at[1], at[2], [&](uint32_t h, uint32_t w, uint32_t, uint32_t) {
      seen.push_back(x.at({at[0], h, w, at[3]}));
    });
    if (!mean) return output_stage.code(*std::max_element(seen.begin(), seen.end()));
    int64_t sum = 0;
    for (const int64_t code : seen) sum += code;
    const auto n = static_cast<long double>(seen.size());
    return output_stage.code(std::llround(static_cast<long double>(sum) / n));
  });
}

Dense reference_reduction(const Dense& x, uint32_t count, int how, int32_t zero_point,
                          Factor factor, const OutputStage& output_stage) {
  const Dims kept(x.dims.begin(), x.dims.end() - count);
  const Dims gone(x.dims.end() - count, x.dims.end());
  Dense result = filled(kept, [&](const Dims& at) {
    std::vector<int64_t> seen;
    for_each_index(gone, [&](const Dims& rest) {
      Dims index = at;
      index.insert(index.end(), rest.begin(), rest.end());
      seen.push_back(x.at(index));
    });
    if (how > 0) return output_stage.code(*std::max_element(seen.begin(), seen.end()));
    if (how < 0) return output_stage.code(*std::min_element(seen.begin(), seen.end()));
    int64_t sum = 0;
    for (const int64_t code : seen) sum += code - zero_point;
    return output_stage.of(requantized(wrapped(sum), factor, output_stage.single));
  });
  if (kept.empty()) result.dims = {1};
  return result;
}

namespace {

/// Returns e^a for a <= 0 in Q5.26.
int64_t exp_of(int64_t a) {
  static constexpr int64_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                         39332535,   720401,     242};
  if (a == 0) return 0x7FFFFFFF;
  int64_t quarters = 0;
  while (a < -(1 << 24)) {
    a += 1 << 24;
    ++quarters;
  }
  const int64_t x = a * 32 + (1 << 28);
  const int64_t x2 = product31(x, x);
  const int64_t x3 = product31(x2, x);
  const int64_t x4 = product31(x2, x2);
  const int64_t t = x + half_away(product31(half_away(x4, 2) + x3, 715827883) + x2, 1);
  int64_t result = 1895147668 + product31(1895147668, t);
  for (int bit = 0; bit < 7; ++bit) {
    if ((quarters & (1 << bit)) != 0) result = product31(result, kFactors[bit]);
  }
  return result;
}

int64_t reciprocal(int64_t v) {
  const auto sat = [](int64_t value) {
    return std::clamp<int64_t>(value, -(int64_t{1} << 31), (int64_t{1} << 31) - 1);
  };
  const int64_t h = half_away(v + 0x7FFFFFFF, 1);
  int64_t y = 1515870810 + product31(h, -1010580540);
  for (int i = 0; i < 3; ++i) {
    y += sat(4 * product31(y, (1 << 29) - product31(h, y)));
  }
  return sat(2 * y);
}

}  // namespace

namespace {

std::vector<int8_t> soft_row(const int8_t* row, size_t count, Factor factor, int32_t least) {
  const int64_t most = *std::max_element(row, row + count);
  std::vector<int64_t> e;
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t difference = row[i] - most;
    const bool counts = difference >= least;
    const int64_t wide = difference * (int64_t{1} << factor.shift);
    e.push_back(counts ? exp_of(product31(wide, factor.multiplier)) : -1);
    if (counts) sum += half_away(e.back(), 12);
  }
  sum = std::min(sum, int64_t{1} << 31);
  const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
  const int64_t scale = reciprocal((sum << headroom) - (int64_t{1} << 31));
  std::vector<int8_t> codes;
  for (const int64_t value : e) {
    const int64_t y = value < 0 ? 0 : half_away(product31(scale, value), 35 - headroom);
    codes.push_back(static_cast<int8_t>(std::min<int64_t>(y - 128, 127)));
  }
  return codes;
}

}  // namespace

Dense reference_softmax(const Dense& x, Factor factor, int32_t least) {
  Dense result = {x.dims, {}};
  const size_t count = x.dims.back();
  for (size_t i = 0; i < x.values.size(); i += count) {
    const std::vector<int8_t> row = soft_row(x.values.data() + i, count, factor, least);
    result.values.insert(result.values.end(), row.begin(), row.end());
  }
  return result;
}

Dense reference_resize(const Dense& x, const Dims& out, const std::vector<int32_t>& tables,
                       bool bilinear) {
  const auto at = [&](const Dims& o, uint32_t h, uint32_t w) {
    return int64_t{x.at({o[0], std::min(h, x.dims[1] - 1), std::min(w, x.dims[2] - 1), o[3]})};
  };
  const size_t columns = (bilinear ? 2 : 1) * size_t{out[1]};
  return filled(out, [&](const Dims& o) {
    const auto h = static_cast<uint32_t>(tables[o[1]]);
    const auto w = static_cast<uint32_t>(tables[columns + o[2]]);
    if (!bilinear) return static_cast<int8_t>(at(o, h, w));
    const int64_t a = tables[out[1] + o[1]];
    const int64_t b = tables[columns + out[2] + o[2]];
    const int64_t s = (2048 - a) * ((2048 - b) * at(o, h, w) + b * at(o, h, w + 1)) +
                      a * ((2048 - b) * at(o, h + 1, w) + b * at(o, h + 1, w + 1));
    return static_cast<int8_t>(static_cast<int64_t>(floor_of(s + (1 << 21), 1 << 22)));
  });
}

}  // namespace thimble::neutron_test
