#include "quant/element.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "quant/fast/stable_math.h"

namespace thimble::quant {
namespace {

using ir::OpKind;

bool holds(int64_t relation, double a, double b) {
  switch (relation) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    default:
      return a >= b;
  }
}

/// Evaluates a unary function.
double function_value(const ir::Op& op, double x) {
  switch (op.kind) {
    case OpKind::abs:
      return std::fabs(x);
    case OpKind::clamp:
      return std::clamp(x, op.get(ir::attr::float_min), op.get(ir::attr::float_max));
    case OpKind::cos:
      return stable_cos(x);
    case OpKind::erf:
      return stable_erf(x);
    case OpKind::exp:
      return stable_exp(x);
    case OpKind::floor:
      return std::floor(x);
    case OpKind::log:
      return stable_log(x);
    case OpKind::logical_not:
      return x == 0 ? 1 : 0;
    case OpKind::pow:
      return stable_pow(x, op.get(ir::attr::exponent));
    case OpKind::rsqrt:
      return 1 / std::sqrt(x);
    case OpKind::sigmoid:
      return stable_sigmoid(x);
    case OpKind::sin:
      return stable_sin(x);
    case OpKind::sqrt:
      return std::sqrt(x);
    default:
      assert(op.kind == OpKind::tanh);
      return stable_tanh(x);
  }
}

}  // namespace

double element_value(const ir::Op& op, double a, double b, double c) {
  switch (op.kind) {
    case OpKind::add:
      return a + b;
    case OpKind::compare:
      return holds(op.get(ir::attr::relation), a, b) ? 1 : 0;
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
