// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/conv_case.h"

#include <sstream>

#include "abi/params/conv.h"

namespace thimble::kernels::test {

void ConvCase::set_axis(int a, const ConvAxis& axis) {
  in[a] = axis.in;
  kernel[a] = axis.kernel;
  stride[a] = axis.stride;
  dilation[a] = axis.dilation;
  pad[a] = axis.pad;
  out[a] = axis.out;
}

void ConvCase::randomize(Random& random) {
  const size_t channels = static_cast<size_t>(out_c);
  weights.resize(channels * static_cast<size_t>(kernel[0] * kernel[1] * (in_c / groups)));
  for (int8_t& w : weights) w = static_cast<int8_t>(random());
  mult.resize(channels);
  shift.resize(channels);
  for (size_t o = 0; o < channels; ++o) {
    mult[o] = uniform(random, 1 << 30, INT32_MAX);
    shift[o] = uniform(random, -12, -3);
  }
  bias.clear();
  if (uniform(random, 0, 3) != 0) {
    for (size_t o = 0; o < channels; ++o) bias.push_back(uniform(random, -30000, 30000));
  }
  x_offset = uniform(random, -127, 128);
  y_offset = uniform(random, -128, 127);
  min = uniform(random, 0, 1) == 0 ? -128 : uniform(random, -128, 0);
  max = uniform(random, 0, 1) == 0 ? 127 : uniform(random, 0, 127);
}

int8_t ConvCase::weight(int32_t o, int32_t i, int32_t ky, int32_t kx) const {
  const int32_t at = ((o * kernel[0] + ky) * kernel[1] + kx) * (in_c / groups) + i;
  return weights[static_cast<size_t>(at)];
}

bool ConvCase::stock_output() const {
  for (int a = 0; a < 2; ++a) {
    const int32_t room = in[a] + 2 * pad[a] - (kernel[a] - 1) * dilation[a] - 1;
    if (room < 0 || room / stride[a] + 1 != out[a]) return false;
  }
  return true;
}

std::vector<int8_t> ConvCase::depthwise_weights() const {
  std::vector<int8_t> result;
  for (int32_t ky = 0; ky < kernel[0]; ++ky) {
    for (int32_t kx = 0; kx < kernel[1]; ++kx) {
      for (int32_t o = 0; o < out_c; ++o) result.push_back(weight(o, 0, ky, kx));
    }
  }
  return result;
}

Invocation ConvCase::stock(Random& random, abi::PteOp op) const {
  const bool depthwise = op == abi::PteOp::cortex_m_quantized_depthwise_conv2d;
  const std::vector<int8_t>& bytes = depthwise ? depthwise_weights() : weights;
  Value w = make(DType::kI8, depthwise ? Sizes{1, kernel[0], kernel[1], out_c}
                                       : Sizes{out_c, kernel[0], kernel[1], in_c / groups});
  std::copy(bytes.begin(), bytes.end(), w.as<int8_t>());
  w.constant = true;
  Invocation call(op);
  call.add(random_codes(random, {batch, in_c, in[0], in[1]}, kNhwc)).add(std::move(w));
  call.add(bias.empty() ? absent() : constant_words(bias));
  call.add({stride[0], stride[1]}).add({pad[0], pad[1]}).add({dilation[0], dilation[1]});
  if (depthwise) call.add(int64_t{out_c / in_c});
  call.add(int64_t{x_offset}).add(int64_t{y_offset});
  call.add(constant_words(mult)).add(constant_words(shift));
  call.add(int64_t{min}).add(int64_t{max});
  call.add(uniform(random, 0, 1) == 0 ? absent() : make(DType::kU8, {16}));
  call.add(make(DType::kI8, {batch, out_c, out[0], out[1]}, kNhwc));
  return call;
}

Invocation ConvCase::native(Random& random, abi::PteOp op) const {
  const abi::ConvParams header = {out_c,     groups,      kernel[0],   kernel[1], stride[0],
                                  stride[1], dilation[0], dilation[1], pad[0],    pad[1],
                                  x_offset,  y_offset,    min,         max};
  std::vector<uint8_t> bytes;
  append(bytes, &header, 1);
  append_packed(bytes, bias, mult, shift,
                op == abi::PteOp::thimble_conv2d ? weights : depthwise_weights());
  Invocation call(op);
  call.add(random_codes(random, {batch, in_c, in[0], in[1]}, kNhwc)).add(constant_bytes(bytes));
  call.add(make(DType::kI8, {batch, out_c, out[0], out[1]}, kNhwc));
  return call;
}

std::string ConvCase::text() const {
  std::ostringstream s;
  s << "batch " << batch << " channels " << in_c << "->" << out_c << " groups " << groups;
  for (int a = 0; a < 2; ++a) {
    s << (a == 0 ? " h" : " w") << "{in " << in[a] << " k " << kernel[a] << " s " << stride[a]
      << " d " << dilation[a] << " p " << pad[a] << " out " << out[a] << '}';
  }
  return s.str();
}

void append_bytes(std::vector<uint8_t>& bytes, const void* data, size_t count) {
  const auto* at = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < count; ++i) bytes.push_back(at[i]);
}

void append_packed(std::vector<uint8_t>& bytes, const std::vector<int32_t>& bias,
                   const std::vector<int32_t>& mult, const std::vector<int32_t>& shift,
                   const std::vector<int8_t>& weights) {
  append(bytes, bias.data(), bias.size());
  append(bytes, mult.data(), mult.size());
  for (const int32_t s : shift) bytes.push_back(static_cast<uint8_t>(s));
  while (bytes.size() % 4 != 0) bytes.push_back(0);
  append(bytes, weights.data(), weights.size());
}

}  // namespace thimble::kernels::test
