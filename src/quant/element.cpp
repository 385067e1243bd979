// SPDX-License-Identifier: Apache-2.0
#include "quant/element.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ir/relation.h"
#include "quant/fast/stable_math.h"

namespace thimble::quant {
namespace {

using ir::OpKind;

/// Evaluates a unary function.
double function_value(const ir::Op& op, double x) {
  switch (op.kind) {
    case OpKind::clamp:
      return std::clamp(x, op.get(ir::attr::float_min), op.get(ir::attr::float_max));
    case OpKind::logical_not:
      return x == 0 ? 1 : 0;
    case OpKind::pow:
      return stable_pow(x, op.get(ir::attr::exponent));
#define THIMBLE_FUNCTION(name, exact, stable) \
  case OpKind::name:                          \
    return stable;
#include "ir/functions.def"
#undef THIMBLE_FUNCTION
    default:
      assert(false && "not a function of one operand");
      return x;
  }
}

}  // namespace

double element_value(const ir::Op& op, double a, double b, double c) {
  switch (op.kind) {
    case OpKind::add:
      return a + b;
    case OpKind::compare:
      return ir::holds(static_cast<ir::Relation>(op.get(ir::attr::relation)), a, b) ? 1 : 0;
    case OpKind::div:
      return a / b;
    case OpKind::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case OpKind::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case OpKind::maximum:
      return a != a || a > b ? a : b;
    case OpKind::minimum:
      return a != a || a < b ? a : b;
    case OpKind::mul:
      return a * b;
    case OpKind::prelu:
      return a < 0 ? a * b : a;
    case OpKind::sub:
      return a - b;
    case OpKind::where:
      return a != 0 ? b : c;
    default:
      return function_value(op, a);
  }
}

}  // namespace thimble::quant
