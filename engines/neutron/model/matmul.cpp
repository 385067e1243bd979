// SPDX-License-Identifier: Apache-2.0
// Matrix products: fully connected (with weights), and of two operands.

#include "engines/neutron/model/dot.h"
#include "engines/neutron/model/kernel.h"

namespace thimble::neutron::model {

void fully_connected(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const View& y = record.output;
  const uint32_t depth = a.dims[1];
  const auto* const weights = reinterpret_cast<const int8_t*>(args.constants(record.weights));
  const Channels channels(args);
  for (uint32_t row = 0; row < y.dims[0]; ++row) {
    const int8_t* const x = args.a + static_cast<int32_t>(row) * a.strides[0];
    int8_t* const to = args.y + static_cast<int32_t>(row) * y.strides[0];
    for (uint32_t channel = 0; channel < y.dims[1]; channel += kChannelsTogether) {
      const uint32_t left = y.dims[1] - channel;
      const uint32_t lanes = left < kChannelsTogether ? left : kChannelsTogether;
      uint32_t sums[kChannelsTogether] = {};
      for (uint32_t i = 0; i < lanes; ++i) sums[i] = channels.begin(channel + i);
      dot(x, a.strides[1], weights + channel * depth, depth, depth, record.a_zero_point, lanes,
          sums);
      for (uint32_t i = 0; i < lanes; ++i) {
        to[static_cast<int32_t>(channel + i) * y.strides[1]] = channels.end(sums[i], channel + i);
      }
    }
  }
}

void batch_matmul(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const View& b = record.operands[1];
  const View& y = record.output;
  const OutputStage finish(args);
  const auto offset = [](const View& view, uint32_t batch, uint32_t k, uint32_t i) {
    return static_cast<int32_t>(batch) * view.strides[0] +
           static_cast<int32_t>(i) * view.strides[k];
  };
  for (uint32_t batch = 0; batch < y.dims[0]; ++batch) {
    for (uint32_t m = 0; m < y.dims[1]; ++m) {
      const int8_t* const row = args.a + offset(a, batch, 1, m);
      int8_t* const to = args.y + offset(y, batch, 1, m);
      for (uint32_t n = 0; n < y.dims[2]; ++n) {
        const int8_t* const column = args.b + offset(b, batch, 2, n);
        uint32_t sum = 0;
        for (uint32_t k = 0; k < a.dims[2]; ++k) {
          const int32_t left = row[static_cast<int32_t>(k) * a.strides[2]] - record.a_zero_point;
          const int32_t right =
              column[static_cast<int32_t>(k) * b.strides[1]] - record.b_zero_point;
          sum += static_cast<uint32_t>(left * right);
        }
        const int32_t value =
            scaled(static_cast<int32_t>(sum), args.multiplier(2), args.rounds_once());
        to[static_cast<int32_t>(n) * y.strides[2]] = finish(value);
      }
    }
  }
}

}  // namespace thimble::neutron::model
