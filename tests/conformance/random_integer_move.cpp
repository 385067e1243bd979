// SPDX-License-Identifier: Apache-2.0
#include "random_integer_generator.h"

#include <numeric>

namespace thimble::test {

using ir::OpKind;
using ir::Shape;
using ir::ValueId;

void IntegerGraphGenerator::movement(OpKind kind, ValueId x) {
  const Shape from = shape(x);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t dim = random_.between(0, rank - 1);
  const auto at = static_cast<size_t>(dim);
  if (kind == OpKind::reshape) return reshape(x);
  if (kind == OpKind::permute) {
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
    for (size_t i = dims.size(); i > 1; --i) {
      std::swap(dims[i - 1],
                dims[static_cast<size_t>(random_.between(0, static_cast<int64_t>(i) - 1))]);
    }
    keep(kind, {x}, {{ir::attr::dims, dims}}, false);
  } else if (kind == OpKind::slice) {
    const int64_t start = random_.between(0, from[at] - 1);
    keep(kind, {x},
         {{ir::attr::dim, dim},
          {ir::attr::start, start},
          {ir::attr::end, random_.between(start + 1, from[at])},
          {ir::attr::step, random_.between(1, 2)}},
         false);
  } else if (kind == OpKind::concat) {
    std::vector<ValueId> parts = {x};
    for (const ValueId value : values_) {
      Shape other = shape(value);
      if (other.size() != from.size() || parts.size() > 3) continue;
      other[at] = from[at];
      if (other == from && random_.chance(70)) parts.push_back(value);
    }
    if (random_.chance(20)) parts.push_back(codes(from));
    keep(kind, std::move(parts), {{ir::attr::dim, dim}}, true);
  } else if (kind == OpKind::pad) {
    std::vector<int64_t> before(from.size(), 0), after(from.size(), 0);
    before[at] = random_.between(0, 2);
    after[at] = random_.between(0, 2);
    if (rank >= 4 && random_.chance(50)) after.back() = 1;
    keep(kind, {x},
         {{ir::attr::before, before},
          {ir::attr::after, after},
          {ir::attr::value, static_cast<double>(code())}},
         false);
  } else if (kind == OpKind::expand) {
    Shape wide = from;
    for (int64_t& size : wide) {
      if (size == 1 && random_.chance(50)) size = random_.between(1, 4);
    }
    if (rank < 5 && random_.chance(10)) wide.insert(wide.begin(), 2);
    keep(kind, {x}, {{ir::attr::shape, wide}}, false);
  } else {
    keep(OpKind::copy, {x}, {}, false);
  }
}

void IntegerGraphGenerator::reshape(ValueId x) {
  const Shape from = shape(x);
  Shape to;
  if (from.size() == 4 && random_.chance(50)) {
    to = {from[0], from[1] * from[2] * from[3]};
  } else {
    int64_t rest = graph_.type(x).elements();
    for (int64_t i = random_.between(0, 3); i > 0; --i) {
      int64_t factor = random_.between(1, 4);
      if (rest % factor != 0) factor = 1;
      to.push_back(factor);
      rest /= factor;
    }
    to.push_back(rest);
  }
  keep(OpKind::reshape, {x}, {{ir::attr::shape, to}}, false);
}

}  // namespace thimble::test
