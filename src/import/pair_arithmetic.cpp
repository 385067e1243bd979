// SPDX-License-Identifier: Apache-2.0
// Arithmetic of pairs, and conversions between pairs and real tensors.

#include <map>

#include "import/formula.h"
#include "import/pair_call.h"

namespace thimble::import_pt2 {
namespace pair_arithmetic {
namespace {

using ir::OpKind;
using ir::ValueId;

Status magnitude(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  Formula f(node.call());
  const Term re = f.value(z.real), im = f.value(z.imaginary);
  return f.result(f.apply(OpKind::sqrt, {re * re + im * im}));
}

Status real(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  return node.call().result(z.real);
}

Status imaginary(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  return node.call().result(z.imaginary);
}

Status conjugate(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const ValueId negative, node.call().scaled(z.imaginary, -1));
  return node.result(z.real, negative);
}

Status from_parts(PairCall& node) {
  THIMBLE_TRY(const ValueId re, node.call().tensor("real"));
  THIMBLE_TRY(const ValueId im, node.call().tensor("imag"));
  return node.result(re, im);
}

Status polar(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId size, call.tensor("abs"));
  THIMBLE_TRY(const ValueId phase, call.tensor("angle"));
  THIMBLE_TRY(const ValueId cosine, call.add(OpKind::cos, {phase}));
  THIMBLE_TRY(const ValueId sine, call.add(OpKind::sin, {phase}));
  THIMBLE_TRY(const ValueId re, node.binary(OpKind::mul, size, cosine));
  THIMBLE_TRY(const ValueId im, node.binary(OpKind::mul, size, sine));
  return node.result(re, im);
}

/// [..., 2] as a complex tensor.
Status from_columns(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  ir::Shape shape = call.shape(x);
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  if (last < 0 || shape.back() != 2) {
    return bad_input("self is {}, a last dimension of 2 expected", ir::list_text(shape));
  }
  shape.pop_back();
  THIMBLE_TRY(ValueId re, half(call, x, last, false));
  THIMBLE_TRY(ValueId im, half(call, x, last, true));
  THIMBLE_TRY(re, call.reshape(re, shape));
  THIMBLE_TRY(im, call.reshape(im, shape));
  return node.result(re, im);
}

/// A complex tensor as [..., 2].
Status to_columns(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(PairCall::Parts z, node.parts("self"));
  ir::Shape shape = call.shape(z.real);
  const auto last = static_cast<int64_t>(shape.size());
  shape.push_back(1);
  THIMBLE_TRY(z.real, call.reshape(z.real, shape));
  THIMBLE_TRY(z.imaginary, call.reshape(z.imaginary, shape));
  return call.result(joined(call, z, last));
}

template <OpKind kKind>
Status add_or_subtract(PairCall& node) {
  THIMBLE_TRY(const double alpha, node.call().number("alpha", 1));
  if (alpha != 1) return unsupported("alpha is {}: multiply other first", alpha);
  THIMBLE_TRY(PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(PairCall::Parts b, node.parts("other"));
  for (PairCall::Parts* each : {&a, &b}) {
    if (each->imaginary == ir::kNoValue) each->imaginary = node.call().scalar(0);
  }
  THIMBLE_TRY(const ValueId re, node.binary(kKind, a.real, b.real));
  THIMBLE_TRY(const ValueId im, node.binary(kKind, a.imaginary, b.imaginary));
  return node.result(re, im);
}

Status product(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(const PairCall::Parts b, node.parts("other"));
  if (a.imaginary == ir::kNoValue || b.imaginary == ir::kNoValue) {
    const PairCall::Parts& z = a.imaginary == ir::kNoValue ? b : a;
    const ValueId x = a.imaginary == ir::kNoValue ? a.real : b.real;
    THIMBLE_TRY(const ValueId re, node.binary(OpKind::mul, z.real, x));
    THIMBLE_TRY(const ValueId im, node.binary(OpKind::mul, z.imaginary, x));
    return node.result(re, im);
  }
  Formula f(node.call());
  const Term ar = f.value(a.real), ai = f.value(a.imaginary);
  const Term br = f.value(b.real), bi = f.value(b.imaginary);
  const Term re = ar * br - ai * bi, im = ar * bi + ai * br;
  THIMBLE_CHECK(f.status());
  return node.result(re.id, im.id);
}

Status quotient(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(const PairCall::Parts b, node.parts("other"));
  if (b.imaginary != ir::kNoValue) {
    return unsupported(
        "a complex divisor: multiply with its conjugate, and divide by the square "
        "of its magnitude");
  }
  THIMBLE_TRY(const ValueId re, node.binary(OpKind::div, a.real, b.real));
  THIMBLE_TRY(const ValueId im, node.binary(OpKind::div, a.imaginary, b.real));
  return node.result(re, im);
}

}  // namespace
}  // namespace pair_arithmetic

PairHandler find_pair_arithmetic(std::string_view target) {
  using namespace pair_arithmetic;
  static const std::map<std::string_view, PairHandler> rows = {
      {"aten._conj.default", conjugate},
      {"aten._conj_physical.default", conjugate},
      {"aten.abs.default", magnitude},
      {"aten.add.Tensor", add_or_subtract<ir::OpKind::add>},
      {"aten.complex.default", from_parts},
      {"aten.conj.default", conjugate},
      {"aten.conj_physical.default", conjugate},
      {"aten.div.Scalar", quotient},
      {"aten.div.Tensor", quotient},
      {"aten.imag.default", imaginary},
      {"aten.mul.Scalar", product},
      {"aten.mul.Tensor", product},
      {"aten.polar.default", polar},
      {"aten.real.default", real},
      {"aten.sub.Tensor", add_or_subtract<ir::OpKind::sub>},
      {"aten.view_as_complex.default", from_columns},
      {"aten.view_as_real.default", to_columns},
  };
  const auto row = rows.find(target);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace thimble::import_pt2
