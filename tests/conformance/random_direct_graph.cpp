// SPDX-License-Identifier: Apache-2.0
#include "random_direct_graph.h"

#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "../unit/ir_random_graph.h"
#include "ir/frame.h"
#include "ir/int_functions.h"

namespace thimble::test {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

class Builder {
 public:
  explicit Builder(uint64_t seed) : random_(seed) {}

  ir::Graph build(uint64_t kind) {
    const ir::Shape shape = {random_.between(1, 4), random_.between(1, 5), random_.between(1, 9)};
    switch (kind) {
      case 0: {
        const bool narrow = random_.chance(50);
        const DType from = narrow ? DType::kI64 : random_.chance(50) ? DType::kI32 : DType::kBool;
        const DType to = narrow || from == DType::kBool ? DType::kI32 : DType::kI64;
        return one(OpKind::int_cast, {input(from, shape)},
                   {{ir::attr::type, static_cast<int64_t>(to)}});
      }
      case 1:
        return one(OpKind::int_cumsum, {input(DType::kI32, shape)},
                   {{ir::attr::dim, random_.between(0, 2)}});
      case 2: {
        ir::Shape other = shape;
        if (random_.chance(50)) other[static_cast<size_t>(random_.between(0, 2))] = 1;
        const ValueId a = input(DType::kI32, shape), b = input(DType::kI32, other);
        return one(OpKind::int_pair, {a, b},
                   {{ir::attr::function, random_.between(0, ir::kIntFunctions - 1)}});
      }
      case 3: {
        const bool wide = random_.chance(50);
        const int64_t largest = random_.between(1, 1 << 20);
        return one(OpKind::int_quantize, {input(DType::kI32, shape)},
                   {{ir::attr::min, -largest},
                    {ir::attr::max, largest},
                    {ir::attr::y_zp, wide ? int64_t{0} : random_.between(-128, 127)},
                    {ir::attr::mult, random_.between(1 << 30, INT32_MAX)},
                    {ir::attr::shift, random_.between(-12, 4)},
                    {ir::attr::wide, int64_t{wide}}});
      }
      case 4: {
        const int64_t function = random_.between(0, ir::kIntReductions - 1);
        const bool bits = function == 1 || function == 2;
        return one(OpKind::int_reduce,
                   {input(bits && random_.chance(50) ? DType::kBool : DType::kI32, shape)},
                   {{ir::attr::function, function},
                    {ir::attr::dims, std::vector<int64_t>{random_.between(0, 2)}},
                    {ir::attr::keepdim, random_.between(0, 1)}});
      }
      case 5:
        return one(OpKind::flip_sign, {input(random_.chance(50) ? DType::kU8 : DType::kI8, shape)},
                   {});
      default:
        return frame();
    }
  }

 private:
  ValueId input(DType dtype, const ir::Shape& shape) {
    return graph_.add_input("x", {dtype, shape, {}, {}});
  }

  /// Adds the rows or columns of a resize and their weights.
  void add_tables(int64_t size, std::vector<ValueId>* operands) {
    const int64_t count = random_.between(1, 9);
    ir::Tensor low = ir::zeros(DType::kI32, {count}), weight = ir::zeros(DType::kI32, {count});
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const bool between = random_.chance(60);
      low.data<int32_t>()[i] = static_cast<int32_t>(random_.between(0, size - (between ? 2 : 1)));
      weight.data<int32_t>()[i] = static_cast<int32_t>(between ? random_.between(1, 2048) : 0);
    }
    for (ir::Tensor* table : {&low, &weight}) {
      operands->push_back(
          graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(*table))));
    }
  }

  ir::Graph frame() {
    constexpr auto kFormats = static_cast<int64_t>(ir::FrameFormat::kCount);
    const auto format = static_cast<ir::FrameFormat>(random_.between(0, kFormats - 1));
    const int64_t height = 2 * random_.between(1, 5), width = 2 * random_.between(1, 5);
    const int64_t rows = format == ir::FrameFormat::kNv12 ? height / 2 * 3 : height;
    std::vector<ValueId> operands = {
        input(DType::kU8, {1, rows, width, ir::bytes_per_pixel(format)})};
    add_tables(height, &operands);
    add_tables(width, &operands);
    return one(OpKind::qcamera_image, std::move(operands),
               {{ir::attr::format, static_cast<int64_t>(format)},
                {ir::attr::swap, random_.between(0, 1)}});
  }

  ir::Graph one(OpKind kind, std::vector<ValueId> operands, ir::Attrs attrs) {
    const auto y = graph_.add(kind, std::move(operands), std::move(attrs), {}, {});
    assert(y.ok() && "the operands and attributes are valid");
    graph_.add_output(*y);
    return std::move(graph_);
  }

  Random random_;
  ir::Graph graph_;
};

}  // namespace

ir::Graph random_direct_graph(uint64_t seed) {
  constexpr uint64_t kKinds = 7;
  return Builder(seed).build(seed % kKinds);
}

}  // namespace thimble::test
