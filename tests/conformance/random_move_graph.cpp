// SPDX-License-Identifier: Apache-2.0
#include "random_move_graph.h"

#include <algorithm>
#include <iterator>

#include "../unit/ir_random_graph.h"

namespace thimble::test {
namespace {

using ir::DType;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

constexpr OpKind kKinds[] = {
    OpKind::amax,    OpKind::amin,   OpKind::argmax,          OpKind::compare, OpKind::concat,
    OpKind::expand,  OpKind::gather, OpKind::gather_elements, OpKind::maximum, OpKind::minimum,
    OpKind::permute, OpKind::slice,  OpKind::where,
};

class Maker {
 public:
  Maker(uint64_t seed, DType dtype) : random_(seed), dtype_(dtype) {}

  Result<ir::Graph> make() {
    for (int64_t i = random_.between(2, 6); i > 0; --i) shape_.push_back(random_.between(1, 4));
    x_ = input("x", dtype_, shape_);
    const auto count = static_cast<int64_t>(std::size(kKinds));
    THIMBLE_TRY(const ValueId y, add(kKinds[random_.between(0, count - 1)]));
    graph_.add_output(y);
    return std::move(graph_);
  }

 private:
  ValueId input(const char* name, DType dtype, const Shape& shape) {
    return graph_.add_input(name, {dtype, shape, {}, {}});
  }
  Shape any_order() {
    Shape dims;
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t at = random_.between(0, static_cast<int64_t>(d));
      dims.insert(dims.begin() + at, static_cast<int64_t>(d));
    }
    return dims;
  }
  /// Positions around the ends and beyond them.
  ValueId positions(const Shape& shape) {
    ir::Tensor index = ir::zeros(DType::kI64, shape);
    for (int64_t& at : index.data<int64_t>()) at = random_.between(-7, 7);
    return graph_.add_constant("index", std::make_shared<const ir::Tensor>(std::move(index)));
  }

  Result<ValueId> add(OpKind kind) {
    const int64_t dim = random_.between(0, static_cast<int64_t>(shape_.size()) - 1);
    const int64_t size = shape_[static_cast<size_t>(dim)];
    switch (kind) {
      case OpKind::permute:
        return graph_.add(kind, {x_}, {{ir::attr::dims, any_order()}});
      case OpKind::slice:
        return graph_.add(kind, {x_},
                          {{ir::attr::dim, dim},
                           {ir::attr::start, random_.between(0, size - 1)},
                           {ir::attr::end, size}});
      case OpKind::concat:
        return graph_.add(kind, {x_, input("b", dtype_, shape_)}, {{ir::attr::dim, dim}});
      case OpKind::expand: {
        Shape wide = shape_;
        wide.insert(wide.begin(), random_.between(2, 3));
        return graph_.add(kind, {x_}, {{ir::attr::shape, wide}});
      }
      case OpKind::gather:
        return graph_.add(kind, {x_, positions({random_.between(1, 5)})}, {{ir::attr::dim, dim}});
      case OpKind::gather_elements:
        return graph_.add(kind, {x_, positions(shape_)}, {{ir::attr::dim, dim}});
      case OpKind::amax:
      case OpKind::amin:
        return graph_.add(kind, {x_}, {{ir::attr::dims, Shape{dim}}});
      case OpKind::argmax:
        return graph_.add(kind, {x_}, {{ir::attr::dim, dim}});
      case OpKind::where:
        return graph_.add(kind, {input("c", DType::kBool, shape_), x_, input("b", dtype_, shape_)},
                          {});
      case OpKind::compare:
        return graph_.add(kind, {x_, input("b", dtype_, shape_)},
                          {{ir::attr::relation, random_.between(0, 5)}});
      default:
        return graph_.add(kind, {x_, input("b", dtype_, shape_)}, {});
    }
  }

  Random random_;
  DType dtype_;
  ir::Graph graph_;
  Shape shape_;
  ValueId x_ = ir::kNoValue;
};

}  // namespace

Result<ir::Graph> random_move_graph(uint64_t seed, DType dtype) {
  return Maker(seed, dtype).make();
}

}  // namespace thimble::test
