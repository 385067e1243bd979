// SPDX-License-Identifier: Apache-2.0
// Random networks of many operators for the Neutron.

#include <algorithm>

#include "neutron_cases.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;

class Maker {
 public:
  Maker(uint64_t seed, int steps, bool legalized) : net_(seed), steps_(steps), formed_(legalized) {}

  ir::Graph run() {
    Random& r = net_.random;
    at_ = net_.input({r.chance(80) ? 1 : 2, r.between(1, 9), r.between(1, 8), r.between(1, 8)});
    earlier_.push_back(at_);
    for (int i = 0; i < steps_; ++i) step();
    net_.graph.add_output(at_);
    for (const ValueId id : earlier_) {
      const bool known = std::ranges::find(net_.graph.outputs(), id) != net_.graph.outputs().end();
      if (r.chance(8) && !known && !net_.graph.is_input(id)) net_.graph.add_output(id);
    }
    if (r.chance(70)) set_channels_last(&net_.graph);
    return std::move(net_.graph);
  }

 private:
  size_t rank() const { return net_.shape(at_).size(); }
  int64_t size(size_t dim) const { return net_.shape(at_)[dim]; }
  bool is_image() const { return rank() == 4; }

  void step() {
    Random& r = net_.random;
    net_.relu = r.chance(30);
    const ValueId before = at_;
    const int64_t choice = r.between(0, 99);
    if (choice < 35 && is_image()) {
      window();
    } else if (choice < 50) {
      pair();
    } else if (choice < 65) {
      function();
    } else if (choice < 90) {
      move();
    } else {
      reduce();
    }
    net_.relu = false;
    if (net_.graph.type(at_).elements() > 6000) at_ = before;
    if (at_ != before) earlier_.push_back(at_);
  }

  void window() {
    Random& r = net_.random;
    const std::vector<int64_t> kernel = {r.between(1, std::min<int64_t>(3, size(2))),
                                         r.between(1, std::min<int64_t>(3, size(3)))};
    const std::vector<int64_t> stride = {r.between(1, 2), r.between(1, 2)};
    std::vector<int64_t> padding;
    for (int i = 0; i < 4; ++i) {
      padding.push_back(r.chance(50) ? 0 : r.between(0, kernel[static_cast<size_t>(i % 2)] - 1));
    }
    switch (r.between(0, 8)) {
      case 0:
        at_ = net_.depthwise(at_, kernel, stride, padding, r.chance(70) ? 1 : 2);
        break;
      case 1:
        at_ = net_.max_pool(at_, kernel, stride, small(padding, kernel));
        break;
      case 2:
        at_ = net_.average_pool(at_, kernel, stride, small(padding, kernel));
        break;
      case 3:
        at_ = net_.conv(at_, r.between(1, 9), {1, 1});
        break;
      case 4:
        if (kernel[0] >= stride[0] && kernel[1] >= stride[1]) {
          at_ = net_.conv_transpose(at_, r.between(1, 5), kernel, stride, {0, 0, 0, 0});
        }
        break;
      case 5:
        if (size(1) % 2 == 0) at_ = net_.grouped(at_, 2, 2 * r.between(1, 4), kernel);
        break;
      case 6:
        padded_conv(kernel);
        break;
      default:
        at_ = net_.conv(at_, r.between(1, 12), kernel, stride, padding, {1, 1}, r.chance(60));
    }
  }

  /// Limits the padding of a pooling to half of the window.
  static std::vector<int64_t> small(std::vector<int64_t> padding,
                                    const std::vector<int64_t>& kernel) {
    for (size_t i = 0; i < 4; ++i) padding[i] = std::min(padding[i], kernel[i % 2] / 2);
    return padding;
  }

  void padded_conv(const std::vector<int64_t>& kernel) {
    Random& r = net_.random;
    const auto value =
        static_cast<double>(r.chance(70) ? net_.zero_point(at_) : r.between(-128, 127));
    at_ =
        net_.pad(at_, {0, 0, r.between(0, 2), r.between(0, 1)}, {0, 0, r.between(0, 1), 1}, value);
    if (r.chance(20)) earlier_.push_back(at_);
    at_ = net_.conv(at_, r.between(1, 6), kernel);
  }

  /// Returns an earlier value that broadcasts with this one, or a constant.
  ValueId partner() {
    Random& r = net_.random;
    std::vector<ValueId> fitting;
    for (const ValueId id : earlier_) {
      if (net_.shape(id) == net_.shape(at_)) fitting.push_back(id);
    }
    if (!fitting.empty() && r.chance(70)) {
      return fitting[static_cast<size_t>(r.between(0, static_cast<int64_t>(fitting.size()) - 1))];
    }
    ir::Shape shape = net_.shape(at_);
    for (int64_t& size : shape) size = r.chance(50) ? 1 : size;
    return net_.constant(shape);
  }

  void pair() {
    Random& r = net_.random;
    const ValueId other = partner();
    switch (r.between(0, 4)) {
      case 0:
        at_ = r.chance(50) ? net_.sub(at_, other) : net_.sub(other, at_);
        break;
      case 1:
        at_ = net_.mul(at_, other);
        break;
      case 2: {
        const ValueId alike =
            is_image() ? net_.max_pool(at_, {1, 1}, {1, 1}) : operand_with_same_quantization();
        at_ = net_.choose(r.chance(50) ? OpKind::maximum : OpKind::minimum, at_, alike);
        break;
      }
      default:
        at_ = r.chance(80) ? net_.add(at_, other) : net_.add(other, at_);
    }
  }

  /// Returns a constant with the scale and zero point of the current value, else the current value.
  ValueId operand_with_same_quantization() {
    Random& r = net_.random;
    const ValueId c = net_.constant(net_.shape(at_));
    net_.graph.value(c).type.quant = net_.graph.type(r.chance(90) ? at_ : c).quant;
    return net_.graph.type(c).quant == net_.graph.type(at_).quant ? c : at_;
  }

  void function() {
    Random& r = net_.random;
    switch (r.between(0, 6)) {
      case 0:
        at_ = net_.sigmoid(at_);
        break;
      case 1:
        at_ = net_.tanh(at_);
        break;
      case 2:
        at_ = net_.leaky(at_, r.chance(50) ? 0 : 0.2);
        break;
      case 3:
        at_ = net_.softmax(at_, r.between(0, static_cast<int64_t>(rank()) - 1));
        break;
      case 4:
        if (rank() > 1) at_ = net_.prelu(at_);
        break;
      case 5:
        at_ = formed_ ? net_.leaky(at_, 0.1) : net_.quantized_table(at_);
        break;
      default:
        at_ = net_.rescale(at_);
    }
  }

  void move() {
    Random& r = net_.random;
    const auto dim = r.between(0, static_cast<int64_t>(rank()) - 1);
    const int64_t length = size(static_cast<size_t>(dim));
    switch (r.between(0, 9)) {
      case 0:
        reshape();
        break;
      case 1:
      case 2:
        permute();
        break;
      case 3:
        concat(dim);
        break;
      case 4:
        if (length > 1) at_ = net_.slice(at_, dim, r.between(0, length / 2), length, 1);
        break;
      case 5:
        if (length > 2) at_ = net_.slice(at_, dim, r.between(0, 1), length, formed_ ? 1 : 2);
        break;
      case 6: {
        std::vector<int64_t> before(rank(), 0), after(rank(), 0);
        before[static_cast<size_t>(dim)] = r.between(0, 2);
        after[static_cast<size_t>(dim)] = r.between(0, 2);
        at_ = net_.pad(at_, before, after, static_cast<double>(r.between(-128, 127)));
        break;
      }
      case 7:
        if (length > 2) at_ = net_.reflect(at_, dim, r.between(1, 2), r.between(0, 2));
        break;
      case 8:
        if (is_image()) at_ = r.chance(50) ? net_.nearest(at_, 2) : net_.bilinear(at_, 2, false);
        break;
      default:
        linear();
    }
  }

  void linear() {
    Random& r = net_.random;
    if (is_image() && r.chance(60)) at_ = net_.reshape(at_, {size(0), size(1) * size(2) * size(3)});
    at_ = net_.linear(at_, r.between(1, 24), r.chance(50));
    if (rank() == 2 && r.chance(40) && size(1) % 4 == 0) {
      at_ = net_.reshape(at_, {size(0), size(1) / 4, 2, 2});
    }
  }

  void reshape() {
    Random& r = net_.random;
    const int64_t count = net_.graph.type(at_).elements() / size(0);
    switch (r.between(0, 2)) {
      case 0:
        at_ = net_.reshape(at_, {size(0), count});
        break;
      case 1:
        if (is_image()) at_ = net_.reshape(at_, {size(0), size(1), size(2) * size(3)});
        break;
      default: {
        const int64_t channels = r.between(1, 4);
        if (count % (2 * channels) == 0) {
          at_ = net_.reshape(at_, {size(0), channels, 2, count / channels / 2});
        }
      }
    }
  }

  void permute() {
    Random& r = net_.random;
    std::vector<int64_t> dims;
    for (size_t i = 0; i < rank(); ++i) dims.push_back(static_cast<int64_t>(i));
    for (size_t i = rank(); i-- > 1;) {
      std::swap(dims[i], dims[static_cast<size_t>(r.between(0, static_cast<int64_t>(i)))]);
    }
    at_ = net_.permute(at_, dims);
  }

  void concat(int64_t dim) {
    Random& r = net_.random;
    std::vector<ValueId> pieces = {at_};
    for (const ValueId id : earlier_) {
      if (r.chance(40) && net_.shape(id) == net_.shape(at_)) pieces.push_back(id);
    }
    if (r.chance(30)) pieces.push_back(at_);
    at_ = net_.concat(pieces, dim);
  }

  void reduce() {
    Random& r = net_.random;
    std::vector<int64_t> dims;
    for (size_t i = 0; i < rank(); ++i) {
      if (r.chance(50)) dims.push_back(static_cast<int64_t>(i));
    }
    if (is_image() && r.chance(50)) dims = {2, 3};
    if (dims.empty() || dims.size() == rank()) return;
    const bool keep = r.chance(60);
    switch (r.between(0, 2)) {
      case 0:
        at_ = net_.extreme(r.chance(50) ? OpKind::amax : OpKind::amin, at_, dims, keep);
        break;
      case 1:
        if (rank() == 3) at_ = net_.matmul(at_, at_, true);
        break;
      default:
        at_ = net_.mean(at_, dims, keep);
    }
  }

  NeutronNet net_;
  int steps_;
  bool formed_;
  ValueId at_ = ir::kNoValue;
  std::vector<ValueId> earlier_;
};

}  // namespace

ir::Graph random_neutron_network(uint64_t seed, int steps, bool legalized) {
  return Maker(seed, steps, legalized).run();
}

}  // namespace thimble::test
