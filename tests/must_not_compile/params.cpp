// SPDX-License-Identifier: Apache-2.0
// Parameter structs of operators, and kernels that read them, selected by CASE. Only case 0
// compiles. must_not_compile.py has the messages that the compiler must print for the others.

#include "kernels/args/params.h"
#include "abi/ops/arithmetic.h"
#include "engine/direct_fields.h"

namespace thimble::kernels {

#if CASE == 7  // the struct of another operator
using Read = abi::PreluParams;
#else
using Read = abi::Mul16Params;
#endif
const Read& of_mul16(const Tensor& constant) {
  return params<abi::op_info::thimble_mul16>(constant);
}

#if CASE == 8  // operators with different structs
#define OTHER thimble_div
#else
#define OTHER thimble_mul16
#endif
int32_t of_both(const Tensor& constant) {
  return params<abi::op_info::thimble_mul16, abi::op_info::OTHER>(constant).shift;
}

#if CASE == 9  // an operator without parameters
#define READ thimble_where
#else
#define READ thimble_mul16
#endif
int32_t shift(const Tensor& constant) {
  return params<abi::op_info::READ>(constant).shift;
}

}  // namespace thimble::kernels

namespace thimble::engine {

// The attributes of qmul16: mult shift min max.
struct Case {
#if CASE == 0 || CASE == 4
  int32_t mult, shift, min, max;
#elif CASE == 1  // an attribute is missing
  int32_t mult, shift, min;
#elif CASE == 2  // a member that is not an attribute
  int32_t mult, shift, min, max, unused;
#elif CASE == 3  // another name
  int32_t multiplier, shift, min, max;
#elif CASE == 5  // a list instead of a number
  IntList<2> mult;
  int32_t shift, min, max;
#elif CASE == 6  // another type
  int32_t mult, shift, min;
  int64_t max;
#endif
};

template <>
struct Fields<Case> {
  static constexpr ParamField list[] = {
    field_of<decltype(Case::mult)>(ir::AttrId::mult, offsetof(Case, mult)),
#if CASE != 4  // the order of memory
    field_of<decltype(Case::shift)>(ir::AttrId::shift, offsetof(Case, shift)),
    field_of<decltype(Case::min)>(ir::AttrId::min, offsetof(Case, min)),
#else
    field_of<decltype(Case::min)>(ir::AttrId::min, offsetof(Case, min)),
    field_of<decltype(Case::shift)>(ir::AttrId::shift, offsetof(Case, shift)),
#endif
#if CASE != 1
    field_of<decltype(Case::max)>(ir::AttrId::max, offsetof(Case, max)),
#endif
  };
};

static_assert(covers<Case>(), "a byte of the struct belongs to no field");
static_assert(has_all_attributes<Case>(ir::OpKind::qmul16), "not the attributes of the operator");

}  // namespace thimble::engine
