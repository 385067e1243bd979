// SPDX-License-Identifier: Apache-2.0
#pragma once
// The members of the parameter structs of direct operators, and the check at compile time that they
// are the attributes of the operator.

#include <cstddef>

#include "abi/params/arithmetic.h"
#include "abi/params/conv.h"
#include "abi/params/frame.h"
#include "abi/params/integers.h"
#include "abi/params/linear.h"
#include "abi/params/matmul.h"
#include "abi/params/movement.h"
#include "abi/params/norm.h"
#include "abi/params/pool.h"
#include "abi/params/recurrent.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "abi/params/spectrum.h"
#include "engine/direct.h"
#include "ir/op_rows.h"

namespace thimble::engine {

using namespace abi;  // NOLINT(google-build-using-namespace): the parameter structs

template <typename Member>
constexpr ParamField field_of(ir::AttrId attr, size_t offset) {
  if constexpr (std::is_same_v<Member, IntTail>) {
    return {attr, offset, ParamField::Kind::kTail, 0};
  } else if constexpr (std::is_same_v<Member, int32_t>) {
    return {attr, offset, ParamField::Kind::kInt, 1};
  } else {
    constexpr auto kItems = static_cast<int32_t>(sizeof(Member) / sizeof(int32_t)) - 1;
    static_assert(std::is_same_v<Member, IntList<kItems>>, "a member of another type");
    return {attr, offset, ParamField::Kind::kList, kItems};
  }
}

/// Bytes of a member.
constexpr size_t bytes_of(const ParamField& field) {
  const bool list = field.kind == ParamField::Kind::kList;
  return sizeof(int32_t) * (list ? static_cast<size_t>(field.items) + 1 : 1);
}

/// Fields<Params>::list: the members in order of memory.
template <typename Params>
struct Fields;

template <>
struct Fields<NoParams> {
  static constexpr std::span<const ParamField> list = {};
};

// THIMBLE_FIELDS(struct, members...) lists the members of a struct, which it names P. F(mult) is
// member `mult`. F_IN(window, stride) is member `stride` of member `window`.
#define THIMBLE_FIELDS(params, ...)                     \
  template <>                                           \
  struct Fields<params> {                               \
    using P = params;                                   \
    static constexpr ParamField list[] = {__VA_ARGS__}; \
  }
#define F(attr) field_of<decltype(P::attr)>(ir::AttrId::attr, offsetof(P, attr))
#define F_IN(outer, attr)                       \
  field_of<decltype(decltype(P::outer)::attr)>( \
      ir::AttrId::attr, offsetof(P, outer) + offsetof(decltype(P::outer), attr))

THIMBLE_FIELDS(AdaptiveAvgPool2dParams, F(size), F(min), F(max));
THIMBLE_FIELDS(AdaptiveMaxPool2dParams, F(size));
THIMBLE_FIELDS(Add16Params, F(a_mult), F(a_shift), F(b_mult), F(b_shift), F(y_mult), F(y_shift),
               F(min), F(max));
THIMBLE_FIELDS(ArgmaxParams, F(dim), F(keepdim), F(smallest));
THIMBLE_FIELDS(AvgPool2d16Params, F_IN(window, kernel), F_IN(window, stride), F_IN(window, padding),
               F(min), F(max));
THIMBLE_FIELDS(CompareParams, F(relation));
THIMBLE_FIELDS(Conv2d16Params, F(stride), F(padding), F(dilation), F(groups), F(min), F(max));
THIMBLE_FIELDS(ConvTranspose2d16Params, F_IN(window, stride), F_IN(window, padding),
               F_IN(window, output_padding), F_IN(window, dilation), F(groups), F(min), F(max));
THIMBLE_FIELDS(ConvTranspose2dParams, F_IN(window, stride), F_IN(window, padding),
               F_IN(window, output_padding), F_IN(window, dilation), F(groups), F(x_zp), F(y_zp),
               F(min), F(max), F(rounding));
THIMBLE_FIELDS(CumsumParams, F(dim), F(x_zp), F(y_zp), F(mult), F(shift), F(min), F(max),
               F(rounding));
THIMBLE_FIELDS(DivParams, F(a_zp), F(b_zp), F(y_zp), F(mult), F(shift), F(min), F(max),
               F(rounding));
THIMBLE_FIELDS(GatherParams, F(dim));
THIMBLE_FIELDS(GroupNorm16Params, F(groups), F(int_eps), F(eps_shift), F(mult), F(shift), F(min),
               F(max));
THIMBLE_FIELDS(GroupNormParams, F(groups), F(int_eps), F(eps_shift), F(y_zp), F(mult), F(shift),
               F(min), F(max));
THIMBLE_FIELDS(GruParams, F(reverse), F(x_zp), F(h_zp), F(h_mult), F(h_shift), F(h_bits),
               F(h0_mult), F(h0_shift));
THIMBLE_FIELDS(IntCastParams, F(type));
THIMBLE_FIELDS(IntCumsumParams, F(dim));
THIMBLE_FIELDS(IntPairParams, F(function));
THIMBLE_FIELDS(IntQuantizeParams, F(min), F(max), F(y_zp), F(mult), F(shift), F(wide));
THIMBLE_FIELDS(IntReduceParams, F(function), F(keepdim), F(dims));
THIMBLE_FIELDS(LastDimsNorm16Params, F(last_dims), F(int_eps), F(eps_shift), F(mult), F(shift),
               F(min), F(max));
THIMBLE_FIELDS(LayerNormParams, F(last_dims), F(int_eps), F(eps_shift), F(y_zp), F(mult), F(shift),
               F(min), F(max));
THIMBLE_FIELDS(Linear16Params, F(min), F(max));
THIMBLE_FIELDS(CameraImageParams, F(format), F(swap));
THIMBLE_FIELDS(LogMelParams, F(hop), F(int_floor), F(floor_shift), F(int_eps), F(eps_shift),
               F(offset), F(y_zp), F(mult), F(shift), F(min), F(max), F(wide));
THIMBLE_FIELDS(LstmParams, F(reverse), F(x_zp), F(h_zp), F(h_mult), F(h_shift), F(cell), F(c_bits),
               F(c0_zp), F(c0_mult), F(c0_shift), F(y_zp), F(y_mult), F(y_shift));
THIMBLE_FIELDS(Matmul16Params, F(transpose_b), F(mult), F(shift), F(min), F(max));
THIMBLE_FIELDS(MatmulParams, F(transpose_b), F(a_zp), F(b_zp), F(y_zp), F(mult), F(shift), F(min),
               F(max), F(rounding));
THIMBLE_FIELDS(MaxPool2d16Params, F_IN(window, kernel), F_IN(window, stride), F_IN(window, padding),
               F(dilation));
THIMBLE_FIELDS(Mean16Params, F(keepdim), F(mult), F(shift), F(min), F(max), F(dims));
THIMBLE_FIELDS(Mul16Params, F(mult), F(shift), F(min), F(max));
THIMBLE_FIELDS(PermuteParams, F(dims));
THIMBLE_FIELDS(Prelu16Params, F(mult), F(shift), F(w_mult), F(w_shift), F(min), F(max));
THIMBLE_FIELDS(PreluParams, F(x_zp), F(w_zp), F(y_zp), F(mult), F(shift), F(w_mult), F(w_shift),
               F(min), F(max), F(rounding));
THIMBLE_FIELDS(ReduceParams, F(keepdim), F(dims));
THIMBLE_FIELDS(RescaleParams, F(x_zp), F(y_zp), F(mult), F(shift), F(wide));
THIMBLE_FIELDS(RmsNormParams, F(last_dims), F(int_eps), F(eps_shift), F(x_zp), F(y_zp), F(mult),
               F(shift), F(min), F(max));
THIMBLE_FIELDS(RnnParams, F(reverse), F(x_zp), F(h_zp), F(h_mult), F(h_shift), F(relu));
THIMBLE_FIELDS(SoftmaxParams, F(dim), F(mult), F(shift), F(diff_min));
THIMBLE_FIELDS(VarianceParams, F(keepdim), F(y_zp), F(mult), F(shift), F(min), F(max), F(dims));

#undef F
#undef F_IN
#undef THIMBLE_FIELDS

/// Returns true if every byte of Params belongs to one field, in order.
template <typename Params>
consteval bool covers() {
  size_t end = 0;
  for (const ParamField& field : Fields<Params>::list) {
    if (field.offset != end) return false;
    end += bytes_of(field);
  }
  return end == (std::is_empty_v<Params> ? 0 : sizeof(Params));
}

/// Returns true if the fields of Params are the attributes of the row: each one once, and lists for
/// attributes that are lists. weight_bits and weight_group select the operator of the device.
template <typename Params>
consteval bool has_all_attributes(ir::OpKind kind) {
  size_t attributes = 0, found = 0;
  ir::for_each_word(ir::kOpRows[static_cast<size_t>(kind)].attributes, [&](std::string_view word) {
    const std::string_view id = word.substr(0, word.find('='));
    if (id == "weight_bits" || id == "weight_group") return;
    ++attributes;
    for (const ParamField& field : Fields<Params>::list) {
      const ir::AttrRow& row = ir::kAttrRows[static_cast<size_t>(field.attr)];
      const bool list = row.kind == ir::AttrInfo::Kind::kInts;
      const bool number =
          row.kind == ir::AttrInfo::Kind::kInt || row.kind == ir::AttrInfo::Kind::kBool;
      const bool fits = field.kind == ParamField::Kind::kInt ? number : list;
      if (row.id == id && fits) ++found;
    }
  });
  return attributes == found && found == std::size(Fields<Params>::list);
}

}  // namespace thimble::engine
